import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { CONSENT_VERSION, LOCALES, type OpenedSession, type VerificationFacts } from '@ostiary/contract'
import { PASSKEY_PROBLEMS } from '../flow/states.ts'
import type { Texts } from './languages.ts'
import { createTranslate, type Messages, valuesOf } from './translate.ts'
import { adaptTexts, conditionsOf, ownText, type Purpose, type VerificationMessages } from './verification-texts.ts'

type Table = Record<string, string>
const read = (path: string): Table => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
const english = read('./verification/en.json')
const plainEnglish = read('./en.json')

const FACTS: VerificationFacts = {
  realm: 'r',
  version: 'FACE3_3',
  sendImages: false,
  estimateAge: false,
  matching: 'server',
}
const purpose = (type: OpenedSession['type'], facts: Partial<VerificationFacts> = {}): Purpose => ({
  type,
  verification: { ...FACTS, ...facts },
})

function textsIn(tag: 'en' | 'ar', about: Purpose): Texts {
  const direction = tag === 'ar' ? 'rtl' : 'ltr'
  const plain = {
    tag,
    name: tag,
    direction,
    t: createTranslate(read(`./${tag}.json`) as unknown as Messages, { tag, direction }),
  } as const
  return adaptTexts(plain, read(`./verification/${tag}.json`) as unknown as VerificationMessages, about)
}

test('a replacement names an existing text and an existing condition, and has no more placeholders', () => {
  const types = ['ENROLL', 'SIGN-IN', 'VERIFY'] as const
  const known = new Set(
    types.flatMap((type) => [
      ...conditionsOf(purpose(type, { sendImages: true, estimateAge: true, matching: 'local_first' })),
    ]),
  )
  for (const key of Object.keys(english).filter((name) => name.includes(':'))) {
    const [condition = '', replaced = ''] = key.split(':')
    assert.ok(known.has(condition), key)
    assert.ok(replaced in plainEnglish, key)
    assert.deepEqual(valuesOf(english[key] ?? ''), valuesOf(plainEnglish[replaced] ?? ''), key)
  }
})

test('every code that the passkey screen can show has its text', () => {
  for (const status of ['create', 'get', 'asking', 'checking', ...PASSKEY_PROBLEMS])
    for (const part of ['title', 'text']) assert.ok(`passkey.${status}.${part}` in english, status)
})

test('a session shows its own texts, and the default texts otherwise', () => {
  const { t } = textsIn('en', purpose('SIGN-IN'))
  assert.equal(t('welcome.title'), english['SIGN-IN:welcome.title'])
  assert.equal(t('welcome.asks', { name: 'Larkfield' }), 'Larkfield would like to see that it is you.')
  assert.equal(t('menu.cancel'), plainEnglish['menu.cancel'])
})

test('[D-021] if the selfie is shared, no text says that pictures stay on the device, before the consent or after', () => {
  const { t } = textsIn('en', purpose('ENROLL', { sendImages: true }))
  for (const key of [
    'welcome.stayText',
    'camera.primeText',
    'sending.text',
    'ledger.text',
    'ledger.submitText',
  ] as const) {
    assert.match(t(key), /selfie|one picture/, key)
    assert.doesNotMatch(t(key), /[Nn]o photo|No picture|never/, key)
  }
})

test('without a selfie, the texts name the feature vector, and the age only if it is estimated', () => {
  const submit = (facts: Partial<VerificationFacts>) => textsIn('en', purpose('ENROLL', facts)).t('ledger.submitText')
  assert.match(submit({}), /feature vector/)
  assert.doesNotMatch(submit({}), /age|selfie/)
  assert.match(submit({ estimateAge: true }), /estimated age/)
  assert.match(submit({ estimateAge: true, sendImages: true }), /selfie.*estimated age/)
})

test('if this browser may recognise the person itself, the text says that the vector then stays', () => {
  const leave = (about: Purpose) => textsIn('en', about).t('welcome.leaveText')
  assert.match(
    leave(purpose('SIGN-IN', { matching: 'local_first' })),
    /only if recognition in this browser is not enough/,
  )
  assert.doesNotMatch(leave(purpose('SIGN-IN')), /only if/)
})

test('ownText works for adapted texts only, in the direction of the language', () => {
  const texts = textsIn('ar', purpose('ENROLL'))
  assert.match(ownText(texts)('selfieText', { name: 'Shop' }), /\u2068Shop\u2069/)
  assert.throws(() => ownText({ ...texts }), /age check/)
})

/**
 * A consent is worth something only if its version names one text. When this fails because a text of the consent screen was changed, give it a
 * new version (CONSENT_VERSIONS of the contract) and write its digest down here; those of older versions stay as they are.
 */
test('[D-053] the consent text of a version never changes: what the screen says is bound to its version', () => {
  const isShown = (key: string) => /(^|:)(welcome\.|selfieT|ageT|keptT|passkeyT|passkey(Create|Get)Text)/.test(key)
  const digestOf = (tables: Table[]) => {
    const shown = tables.map((table) => Object.entries(table).filter(([key]) => isShown(key)))
    return createHash('sha256').update(JSON.stringify(shown)).digest('hex').slice(0, 16)
  }
  const inAll = (path: (tag: string) => string) => LOCALES.map(({ tag }) => read(path(tag)))
  const plain = inAll((tag) => `./${tag}.json`)
  const own = inAll((tag) => `./verification/${tag}.json`)
  assert.deepEqual(
    { [CONSENT_VERSION.age]: digestOf(plain), [CONSENT_VERSION.verification]: digestOf([...plain, ...own]) },
    { 2: 'b858e18e797e174d', 4: '7af999b311c2abb5' },
  )
  for (const table of ['en', 'de', 'ar'].map((tag) => read(`./verification/${tag}.json`)))
    for (const key of ['ENROLL', 'SIGN-IN', 'VERIFY', 'local'])
      assert.match(table[`${key}:welcome.leaveText`] ?? '', NAMES_CONDITIONS)
})
const NAMES_CONDITIONS = /light, camera and how still|Licht, Kamera und wie ruhig|الإضاءة والكاميرا وثبات/
