import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { DOCUMENT_CONSENT_VERSION, DOCUMENT_EXPIRIES, DOCUMENT_HINTS, READ_DOCUMENT_TYPES } from '@ostiary/contract'
import { DOCUMENT_CHOICES, DOCUMENT_GUIDANCE, DOCUMENT_PROBLEMS, DOCUMENT_SIDES } from '../documents/document-types.ts'
import type { DocumentMessages } from './document-keys.ts'
import { addDocumentTexts, documentText, isAlone } from './documents-texts.ts'
import type { Texts } from './languages.ts'
import { createTranslate, type Messages, type Text, valuesOf } from './translate.ts'

type Table = Record<string, Text>
const read = (path: string): Table => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
const tags = readdirSync(new URL('./', import.meta.url)).flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? [])
const english = read('./documents/en.json')
const plainEnglish = read('./en.json')

test('every code that a screen can show has its text', () => {
  const needed = [
    ...DOCUMENT_GUIDANCE.map((code) => `guidance.${code}`),
    ...DOCUMENT_PROBLEMS.flatMap((problem) => [`problem.${problem}.title`, `problem.${problem}.text`]),
    ...DOCUMENT_CHOICES.map((choice) => `choose.${choice}`),
    ...DOCUMENT_SIDES.map((side) => `side.${side}`),
    ...DOCUMENT_HINTS.map((hint) => `value.hint.${hint}`),
    ...DOCUMENT_EXPIRIES.map((expiry) => `value.expiry.${expiry}`),
    ...READ_DOCUMENT_TYPES.map((type) => `value.type.${type}`),
  ]
  assert.deepEqual(
    needed.filter((key) => !(key in english)),
    [],
  )
})

test('a replacement names an existing text and has its placeholders', () => {
  const replaced = Object.keys(english).filter((key) => key.includes(':'))
  assert.ok(replaced.length > 0)
  for (const key of replaced) {
    const name = key.replace('alone:', '')
    assert.ok(name in plainEnglish, key)
    assert.deepEqual(valuesOf(String(english[key])), valuesOf(String(plainEnglish[name])), key)
  }
})

function plain(tag: 'en' | 'ar'): Texts {
  const direction = tag === 'ar' ? 'rtl' : 'ltr'
  const t = createTranslate(read(`./${tag}.json`) as unknown as Messages, { tag, direction })
  return { tag, name: tag, direction, t }
}
const messages = english as unknown as DocumentMessages

test('a session that asks for nothing but the document speaks of no face, and any other keeps its words', () => {
  const alone = addDocumentTexts(plain('en'), messages, { alone: true })
  const both = addDocumentTexts(plain('en'), messages, { alone: false })
  assert.equal(alone.t('welcome.lookTitle'), english['alone:welcome.lookTitle'])
  assert.equal(both.t('welcome.lookTitle'), plainEnglish['welcome.lookTitle'])
  assert.equal(alone.t('menu.cancel'), plainEnglish['menu.cancel'])
  assert.ok(isAlone({ requirements: ['identity_document'] }))
  assert.ok(!isAlone({ requirements: ['identity_document', 'face'] }) && !isAlone({ requirements: ['face'] }))
})

test('the texts of the document step are there only where they were added', () => {
  assert.throws(() => documentText(plain('en')), /never asks/)
  const said = documentText(addDocumentTexts(plain('en'), messages, { alone: false }))
  assert.equal(said('problem.left', { count: 2 }), 'You have 2 more tries with a document.')
})

test('the texts that a user agrees to when they send have the version that is sent with them', () => {
  const agreed = tags.map((tag) => {
    const table = read(`./documents/${tag}.json`)
    return Object.entries(table).filter(([key]) => /^(review|value|point)\./.test(key) || key.startsWith('alone:'))
  })
  const digest = createHash('sha256').update(JSON.stringify(agreed)).digest('hex').slice(0, 16)
  // A change in meaning needs a new version; a change in wording alone needs only the new digest here.
  assert.deepEqual({ version: DOCUMENT_CONSENT_VERSION, digest }, { version: '1', digest: 'a955dc112599c646' })
})
