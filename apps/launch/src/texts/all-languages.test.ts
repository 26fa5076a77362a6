import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { LOCALES } from '@ostiary/contract'
import { leftInEnglish } from './testing/same-as-english.ts'
import { placeholdersOf, type Text } from './translate.ts'

const PARTS = ['', 'documents/', 'verification/', 'token/'] as const
const GZIP_BYTES_MAX = 12 * 1024
/** What sessions load. One with a token and a document too loads all four parts, up to 13.2 KB in scripts with long encodings. */
const SESSIONS = [
  ['', 'documents/', 'verification/'],
  ['', 'verification/', 'token/'],
] as const
const read = (part: string, tag: string): Record<string, Text> =>
  JSON.parse(readFileSync(new URL(`${part}${tag}.json`, import.meta.url), 'utf8'))
const formsOf = (text: Text): string[] => (typeof text === 'string' ? [text] : Object.values(text).map(String))
const textsOf = (tag: string) =>
  PARTS.flatMap((part) => Object.entries(read(part, tag)).map(([key, text]) => ({ key: `${part}${key}`, text })))

/** Names that no language translates, and words that some languages have taken over. */
const NAMES =
  /\b(Android|Chrome|Firefox|iOS|Safari|Wi-Fi|https|QR|PIN|SMS|ID|URL|MRZ|passkeys?|selfies?|token|browser|link|PDF|Web|Website Settings|Settings for This Website|Settings)\b/gi
/** No language with Latin letters but English has these words. */
const ENGLISH = /\b(the|your|you|with|please|this|from|which|whether|have|they|their)\b/i

test('there is a file for each language of the contract, and for no other', () => {
  const tags = readdirSync(new URL('./', import.meta.url)).flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? [])
  assert.deepEqual(tags.sort(), LOCALES.map(({ tag }) => tag).sort())
})

for (const { tag } of LOCALES) {
  const all = textsOf(tag)
  const isLatin = /\p{Script=Latin}/u.test(new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? '')

  test(`${tag}: every file has the keys of English in their order, with their placeholders and the language’s plural forms`, () => {
    const categories = new Intl.PluralRules(tag).resolvedOptions().pluralCategories.toSorted()
    for (const part of PARTS) {
      const [texts, english] = [read(part, tag), read(part, 'en')]
      assert.deepEqual(Object.keys(texts), Object.keys(english), part)
      for (const [key, text] of Object.entries(texts)) {
        const wanted = english[key] ?? ''
        assert.equal(typeof text, typeof wanted, `${part}${key}`)
        // A form of the plural may leave out the number: "one more try".
        const used = (value: Text) => {
          const names = formsOf(value).flatMap(placeholdersOf)
          return typeof value === 'string' ? names : [...new Set(names)].sort()
        }
        assert.deepEqual(used(text), used(wanted), `${part}${key}`)
        if (typeof text !== 'string') assert.deepEqual(Object.keys(text).toSorted(), categories, `${part}${key}`)
      }
    }
  })

  test(`${tag}: no text is empty or shouts`, () => {
    for (const { key, text } of all) for (const form of formsOf(text)) assert.match(form, /^[^!]*\S[^!]*$/, key)
  })

  if (tag === 'en') continue

  test(`${tag}: no text is the English one`, () => {
    for (const part of PARTS) assert.deepEqual(leftInEnglish(read(part, tag), read(part, 'en'), part), [])
  })

  test(`${tag}: no English is left in it`, () => {
    const left = all.flatMap(({ key, text }) =>
      formsOf(text).flatMap((form) => {
        const own = form.replaceAll(/\{[^}]*\}/g, '').replaceAll(NAMES, '')
        const found = isLatin ? ENGLISH.exec(own) : /\p{Script=Latin}{2,}/u.exec(own)
        return found ? [`${key}: ${found[0]}`] : []
      }),
    )
    assert.deepEqual(left, [])
  })

  test(`${tag}: numbers and units are placeholders, so that they are written as the language writes them`, () => {
    const digits = all.filter(({ text }) =>
      formsOf(text).some((form) => /\p{Nd}/u.test(form.replaceAll(/\{[^}]*\}/g, ''))),
    )
    assert.deepEqual(
      digits.map(({ key }) => key),
      [],
    )
  })

  test(`${tag}: no session loads more than 12 KB of it`, () => {
    for (const parts of SESSIONS) {
      const sizes = parts.map((part) => gzipSync(JSON.stringify(Object.values(read(part, tag))), { level: 9 }).length)
      const sum = sizes.reduce((total, size) => total + size, 0)
      assert.ok(sum <= GZIP_BYTES_MAX, `${sum}: ${parts.join(' + ')}: ${sizes.join(' + ')}`)
    }
  })
}

test('every constant of the texts has a unit that is known', () => {
  const constants = textsOf('en').flatMap(({ text }) => formsOf(text).flatMap(placeholdersOf))
  const units = new Set(constants.flatMap((name) => /^(\w+):\d+$/.exec(name)?.[1] ?? []))
  assert.deepEqual([...units].sort(), ['cm', 'h', 'kb', 'n', 's'])
})
