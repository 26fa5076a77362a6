import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { LOCALES } from '@ostiary/contract'
import { choose, createLanguages, firstOf, missingLanguage, type TextFiles } from './languages.ts'

const read = (tag: string) => JSON.parse(readFileSync(new URL(`${tag}.json`, import.meta.url), 'utf8'))
const files: TextFiles = Object.fromEntries(LOCALES.map(({ tag }) => [`./${tag}.json`, async () => read(tag)]))

/** What a host writes as `locale`, and what is shown to a browser that prefers Portuguese of Brazil. */
const SPELLINGS: Readonly<Record<string, string>> = {
  en: 'en',
  EN: 'en',
  'en-US': 'en',
  en_GB: 'en',
  'en-GB-oed': 'en',
  de: 'de',
  de_AT: 'de',
  'DE-ch': 'de',
  'de-CH-1996': 'de',
  'de-Latn-DE': 'de',
  'es-419': 'es',
  'es-MX': 'es',
  es_es: 'es',
  fr: 'fr',
  'fr-CA': 'fr',
  'fr-BE': 'fr',
  pt: 'pt',
  'pt-PT': 'pt',
  'pt-AO': 'pt',
  PT_BR: 'pt-BR',
  'pt-br': 'pt-BR',
  zh: 'zh-Hans',
  'zh-CN': 'zh-Hans',
  zh_SG: 'zh-Hans',
  'zh-Hans': 'zh-Hans',
  'ZH-HANS-CN': 'zh-Hans',
  'zh-TW': 'zh-Hant',
  zh_HK: 'zh-Hant',
  'zh-MO': 'zh-Hant',
  'zh-hant': 'zh-Hant',
  'zh-Hant-HK': 'zh-Hant',
  no: 'nb',
  'no-NO': 'nb',
  nn: 'nb',
  'nb-NO': 'nb',
  tl: 'fil',
  'fil-PH': 'fil',
  iw: 'he',
  'he-IL': 'he',
  in: 'id',
  'id-ID': 'id',
  'ar-EG': 'ar',
  ar_001: 'ar',
  'fa-IR': 'fa',
  'ur-PK': 'ur',
  'hi-IN': 'hi',
  bn_BD: 'bn',
  'ja-JP-u-ca-japanese': 'ja',
  ko_KR: 'ko',
  'th-TH-u-nu-thai': 'th',
  'vi-VN': 'vi',
  'sl-rozaj': 'sl',
  'ga-IE': 'ga',
  'mt-MT': 'mt',
  'uk-UA': 'uk',
  'el-GR': 'el',
  ms_MY: 'ms',
  // Not ours, or no tag at all: the browser decides.
  ca: 'pt-BR',
  'sr-Latn': 'pt-BR',
  yue: 'pt-BR',
  'not a tag': 'pt-BR',
  '': 'pt-BR',
}

test('a language in any of 60 spellings is shown, and without it the browser’s', () => {
  assert.ok(Object.keys(SPELLINGS).length >= 60)
  for (const [wanted, shown] of Object.entries(SPELLINGS)) assert.equal(choose([wanted, 'pt-BR', 'en']), shown, wanted)
})

/** What the host asks for, the browser's languages, what is shown, and whether the page says that the user's own is missing. */
const LISTS: readonly [string | null, readonly string[], string, boolean][] = [
  ['ja', ['de-DE'], 'ja', false],
  [null, ['ja', 'de'], 'ja', false],
  [null, ['ca-ES', 'es-ES', 'en'], 'es', true],
  [null, ['sw', 'fr-CD'], 'fr', true],
  ['sw', ['de-CH', 'fr'], 'de', false],
  ['de', ['sw'], 'de', true],
  [null, ['sw', 'yue'], 'en', true],
  [null, [], 'en', false],
  ['tlh', [], 'en', false],
  [null, ['no', 'en'], 'nb', false],
  ['zh-HK', ['zh-CN'], 'zh-Hant', false],
]

test('the user’s own second language comes before English, and never silently', () => {
  for (const [host, browser, expected, isNamed] of LISTS) {
    const shown = choose([host, ...browser])
    assert.equal(shown, expected, `${host}, ${browser}`)
    assert.equal(missingLanguage(browser, shown) !== null, isNamed, `${host}, ${browser}`)
  }
})

test('the missing language is named in the language that is shown', () => {
  assert.equal(missingLanguage(['sw-KE'], 'de'), 'Suaheli (Kenia)')
  assert.equal(missingLanguage(['ca'], 'es'), 'catalán')
  assert.equal(missingLanguage(['not a tag'], 'en'), null)
})

test('the service learns the first of the browser’s languages that we have', () => {
  assert.equal(firstOf(['ca', 'es-ES', 'en']), 'es')
  assert.equal(firstOf(['ca', null, undefined, '']), undefined)
})

test('a language is loaded with its own name and direction', async () => {
  const languages = createLanguages(files)
  for (const { tag, name, direction } of LOCALES) {
    const texts = await languages.load(tag)
    assert.deepEqual([texts.tag, texts.name, texts.direction], [tag, name, direction])
  }
  await assert.rejects(createLanguages({}).load('de'), /no texts for de/)
})
