import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { OpenedSession, VerificationFacts } from '@ostiary/contract'
import { PASSKEY_PROBLEMS } from '../flow/states.ts'
import type { Texts } from './languages.ts'
import { createTranslate, type Messages, placeholdersOf } from './translate.ts'
import { adaptTexts, conditionsOf, ownText, type Purpose, type VerificationMessages } from './verification-texts.ts'

type Table = Record<string, string>
const read = (path: string): Table => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
const tags = readdirSync(new URL('./', import.meta.url)).flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? [])
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

for (const tag of tags) {
  const table = read(`./verification/${tag}.json`)

  test(`${tag}: has exactly the keys of English, in the same order, with the same placeholders`, () => {
    assert.deepEqual(Object.keys(table), Object.keys(english))
    for (const [key, text] of Object.entries(table))
      assert.deepEqual(placeholdersOf(text), placeholdersOf(english[key] ?? ''), key)
  })

  test(`${tag}: no text is empty, in capitals, or left in English by mistake`, () => {
    const alike = Object.entries(table).filter(([key, text]) => tag !== 'en' && text === english[key])
    assert.deepEqual(alike, [])
    for (const [key, text] of Object.entries(table)) assert.match(text, /^[^!]*\S[^!]*$/, key)
  })
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
    assert.deepEqual(placeholdersOf(english[key] ?? ''), placeholdersOf(plainEnglish[replaced] ?? ''), key)
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
