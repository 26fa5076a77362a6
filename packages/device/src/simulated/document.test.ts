import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentStep } from '@ostiary/contract'
import { type DocumentFault, simulateDocument } from './document.ts'
import { seededRandom } from './randomness.ts'

const STEP: DocumentStep = {
  nonce: 'bm9uY2U',
  attempt: 1,
  attemptsLeft: 3,
  today: '2026-11-17',
  acceptedTypes: ['passport'],
  expiryGraceDays: 0,
  age: { threshold: 18, format: 'threshold' },
  match: null,
  expiresAt: '2026-11-17T09:15:00.000Z',
}

function show(fault: DocumentFault | undefined, age: DocumentStep['age'] = STEP.age) {
  const reading = { step: { ...STEP, age }, ageYears: 34, random: seededRandom(1), locale: 'en', capture: undefined }
  return simulateDocument({ ...(fault && { fault }) }, reading)
}

test('a document without a date of birth fails only where an age is asked', () => {
  assert.deepEqual(show('no-birth-date'), { failure: -30 })
  assert.deepEqual(show('no-birth-date', null), show(undefined, null))
})
