import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { test } from 'node:test'
import { chooseLocale, type LocaleTag, resolveLocale } from './locale-tags.ts'
import { LOCALES } from './locales.ts'

const REFERENCE =
  'en bg hr cs da nl et fi fr de el hu ga it lv lt mt pl pt ro sk sl es sv nb uk ru tr ar he fa ur hi bn id ms vi th ja ko ' +
  'zh-Hans zh-Hant pt-BR fil'

test('there are the 44 languages of the reference, four of them from right to left', () => {
  assert.equal(LOCALES.length, 44)
  assert.deepEqual(
    LOCALES.map(({ tag }) => tag),
    REFERENCE.split(' '),
  )
  assert.deepEqual(
    LOCALES.filter(({ direction }) => direction === 'rtl').map(({ tag }) => tag),
    ['ar', 'he', 'fa', 'ur'],
  )
  assert.equal(new Set(LOCALES.map(({ name }) => name)).size, 44)
})

test('every tag is a canonical one, and its name is what Unicode calls the language in itself', () => {
  for (const { tag, name } of LOCALES) {
    assert.deepEqual(Intl.getCanonicalLocales(tag), [tag])
    const language = tag.startsWith('zh') ? tag : (tag.split('-')[0] ?? '')
    const own = new Intl.DisplayNames(tag, { type: 'language' }).of(language)
    assert.ok(name.toLocaleLowerCase(tag).includes(own?.toLocaleLowerCase(tag) ?? '?'), `${tag}: ${name}, ${own}`)
  }
})

test('every language resolves to itself, in any case and with either separator', () => {
  for (const { tag } of LOCALES) {
    for (const text of [tag, tag.toUpperCase(), tag.toLowerCase(), tag.replaceAll('-', '_')]) {
      assert.deepEqual(resolveLocale(text), { state: 'found', tag })
    }
  }
})

const FOUND: Record<string, LocaleTag> = {
  'en-US': 'en',
  en_gb: 'en',
  'en-GB-oed': 'en',
  zh: 'zh-Hans',
  'zh-CN': 'zh-Hans',
  'zh-SG': 'zh-Hans',
  'zh-Hans-HK': 'zh-Hans',
  zh_TW: 'zh-Hant',
  'zh-HK': 'zh-Hant',
  'zh-MO': 'zh-Hant',
  'zh-Hant-CN': 'zh-Hant',
  'zh-TW-u-co-stroke': 'zh-Hant',
  no: 'nb',
  'no-NO': 'nb',
  nn: 'nb',
  'nn-NO': 'nb',
  tl: 'fil',
  'tl-PH': 'fil',
  iw: 'he',
  'iw-IL': 'he',
  in: 'id',
  'in-ID': 'id',
  'es-419': 'es',
  'es-MX': 'es',
  'fr-CA': 'fr',
  'ar-EG': 'ar',
  'de-CH-1996': 'de',
  'de-Latn-DE-1996-x-own-tag': 'de',
  'pt-PT': 'pt',
  'pt-AO': 'pt',
  PT_br: 'pt-BR',
  'pt-BR-x-a': 'pt-BR',
  'de-x-a-b': 'de',
}
test('a longer or older tag finds its language', () => {
  for (const [text, tag] of Object.entries(FOUND)) assert.deepEqual(resolveLocale(text), { state: 'found', tag }, text)
})

test('a well-formed tag of another language is unknown', () => {
  for (const text of ['ca', 'sr-Latn', 'yue', 'und', 'x-own', 'i-klingon', 'sgn-BE-FR', 'auto', 'tlh-Latn', 'enx']) {
    assert.deepEqual(resolveLocale(text), { state: 'unknown' }, text)
  }
})

test('a text that is not a tag is malformed', () => {
  const texts = [
    '',
    ' ',
    'e',
    'en ',
    ' en',
    '*',
    'en-',
    '-en',
    'en--US',
    'en.UTF-8',
    'en_US.UTF-8',
    'en-US;q=1',
    'englishlanguage',
    'en-U',
    'en-u',
    'en-x',
    'en-USAUSAUSA',
    '12',
    'i-other',
    'en-x-123456789',
    'en-a-1',
    'en-Latin1-US',
    'x',
    'dé',
    'en\n',
    'en\u0000',
    'constructor-',
    `en-${'x-'.repeat(40)}a`,
    'ı',
  ]
  for (const text of texts) assert.deepEqual(resolveLocale(text), { state: 'malformed' }, JSON.stringify(text))
})

test('names of inherited properties are no languages', () => {
  for (const text of ['constructor', 'toString', '__proto__', 'valueOf']) {
    assert.notEqual(resolveLocale(text).state, 'found', text)
  }
})

test('a hostile text is judged at once', () => {
  const started = performance.now()
  for (const text of ['a-'.repeat(1e6), `en${'-abcde'.repeat(1e5)}`, `${'aaa-'.repeat(15)}!`]) {
    assert.deepEqual(resolveLocale(text), { state: 'malformed' })
  }
  const value = performance.now() - started
  // A figure that depends on the load: in the gate it is recorded (docs/benchmarks.md). This package imports no test kit.
  const figure = { name: 'test.locale.hostile-text-ms', value, floor: 1000, is: 'most', load: true }
  if (process.env.OSTIARY_FIGURES) appendFileSync(process.env.OSTIARY_FIGURES, `${JSON.stringify(figure)}\n`)
  else assert.ok(value < 1000, `${value} ms`)
})

test('the host’s locale comes first, then the browser, then the tenant, then English', () => {
  const preferences = { locale: 'fr-CA', acceptLanguage: 'de', tenantDefault: 'it' }
  assert.equal(chooseLocale(preferences), 'fr')
  assert.equal(chooseLocale({ ...preferences, locale: 'ca' }), 'de')
  assert.equal(chooseLocale({ ...preferences, locale: undefined, acceptLanguage: 'ca, sr' }), 'it')
  assert.equal(chooseLocale({ tenantDefault: 'not a tag' }), 'en')
  assert.equal(chooseLocale({}), 'en')
})

test('the browser’s languages are ordered by their quality', () => {
  const accept = (acceptLanguage: string) => chooseLocale({ acceptLanguage })
  assert.equal(accept('ca,sv;q=0.5,da;q=0.8,*;q=0.1'), 'da')
  assert.equal(accept('de;q=0, pl;q=0.001'), 'pl')
  assert.equal(accept('de;q=0'), 'en')
  assert.equal(accept('fi, et'), 'fi')
  assert.equal(accept('fi;q=0.3, et;Q=0.4'), 'et')
  assert.equal(accept('fi;q=2, et;q=0.4'), 'et', 'a language with an invalid quality is ignored')
  assert.equal(accept(';;;,,,q=1'), 'en')
  assert.equal(accept(`${'ca,'.repeat(20)}fi`), 'en', 'only the first twenty are read')
})
