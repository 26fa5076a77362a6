import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { DocumentPayload } from '@ostiary/contract'
import type { DocumentFacts } from '@ostiary/device'
import { DOCUMENT_STEP } from '../flow/testing/service.ts'
import type { DocumentMessages } from '../texts/document-keys.ts'
import { addDocumentTexts } from '../texts/documents-texts.ts'
import { createTranslate, type Messages } from '../texts/translate.ts'
import { sentValues } from './sent-values.ts'

const read = (path: string) => JSON.parse(readFileSync(new URL(`../texts/${path}`, import.meta.url), 'utf8'))
const language = { tag: 'en', direction: 'ltr' } as const
const texts = addDocumentTexts(
  { ...language, name: 'English', t: createTranslate(read('en.json') as Messages, language) },
  read('documents/en.json') as DocumentMessages,
  { alone: false },
)

const FACTS: DocumentFacts = {
  reader: { id: 'mrz-1', hash: 'A'.repeat(43) },
  type: 'residence_permit',
  format: 'TD1',
  age: { result: 'at', years: 18 },
  expiry: 'grace',
  checks: { number: true, birth: true, expiry: true, composite: true },
  frames: 2,
  confidence: 987,
  sides: 2,
  match: { score: 713, capture: 'n' },
  hints: ['copy', 'screen'],
  reuse: 'A'.repeat(11),
  consent: { version: '1', locale: 'en' },
  indicators: '0'.repeat(21),
  browser: { kind: 'ordinary' },
  metadata: { camera: { width: 1, height: 1 } },
}
const shown = (facts: Partial<DocumentFacts> = {}) =>
  Object.fromEntries(
    sentValues({ ...FACTS, ...facts }, DOCUMENT_STEP, texts).map(({ name, label, value }) => [
      name,
      `${label}: ${value}`,
    ]),
  )

test('every value that is sent stands on the screen, in words', () => {
  assert.deepEqual(shown(), {
    type: 'Document: residence permit',
    format: 'Read from: machine-readable lines (TD1)',
    age: '18 or older: yes, 18 years',
    years: 'Age in years: 18',
    expiry: 'Valid: expired, still accepted',
    checks: 'Check digits: all fit',
    match: 'Your face and the portrait: alike (0.713)',
    frames: 'Read alike in: 2 pictures',
    confidence: 'Certainty of reading: 98.7%',
    sides: 'Sides shown: 2',
    hints: 'Noticed: looks like a copy, looks like a screen',
    reuse: 'Mark of the number: kept for 24 hours',
    consent: 'Your agreement: these texts, in English',
    browser:
      'This browser: 21 signs of a rewritten browser, its kind, whether the camera is a phone’s, size of the camera’s picture',
  })
})

test('every member of the sealed facts is named on the screen or belongs to every call', () => {
  const inEveryCall = ['v', 'kind', 'sessionId', 'nonce', 'attempt', 'log', 'reader']
  const withBrowser = ['indicators', 'browser', 'metadata']
  const named = Object.keys(shown())
  for (const member of Object.keys(DocumentPayload.properties))
    assert.ok(named.includes(member) || inEveryCall.includes(member) || withBrowser.includes(member), member)
})

test('what is not sent is not on the screen, and a face that does not match is named', () => {
  const { age: _age, reuse: _reuse, ...less } = FACTS
  const values = Object.fromEntries(
    sentValues({ ...less, match: { score: 100, capture: 'n' }, hints: [] }, DOCUMENT_STEP, texts).map((line) => [
      line.name,
      line.value,
    ]),
  )
  assert.deepEqual(
    [values.age, values.years, values.reuse, values.match, values.hints],
    [undefined, undefined, undefined, 'not alike (0.10)', 'nothing'],
  )
  assert.equal(shown({ checks: { birth: false } }).checks, 'Check digits: not all fit')
  assert.equal(shown({ format: 'AAMVA', checks: {} }).checks, 'Check digits: it has none')
})
