import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { documentOf, withDocument } from './document-progress.ts'
import { fromStored, newProgress, type OpenChallenge, type StoredProgress, toStored } from './progress.ts'

/** As the previous release wrote it: the parts of both areas beside the shared part. */
const { own: _own, ...SHARED } = { ...newProgress('en'), attempt: 2 }
const FACE = { estimateYears: 31, doubtful: false }
const OF_AGE: StoredProgress = { ...SHARED, face: FACE }
const OF_AGE_BEFORE_THE_FACE: StoredProgress = { ...SHARED, face: null }
const OF_VERIFICATION: StoredProgress = { ...SHARED, face: null, verification: { workId: 'w', vector: null } }
const OF_VERIFICATION_BEFORE_CONSENT: StoredProgress = { ...SHARED, face: null }

describe('progress that the last release stored', () => {
  test('is read as the part of its area', () => {
    assert.deepEqual(fromStored('age', OF_AGE), { ...SHARED, own: FACE })
    assert.deepEqual(fromStored('age', OF_AGE_BEFORE_THE_FACE), { ...SHARED, own: null })
    assert.deepEqual(fromStored('verification', OF_VERIFICATION), { ...SHARED, own: { workId: 'w', vector: null } })
    assert.deepEqual(fromStored('verification', OF_VERIFICATION_BEFORE_CONSENT), { ...SHARED, own: null })
  })

  test('has no document, and gets one without losing anything', () => {
    const none = { tries: 0, begins: 0, looks: 0, step: null, capture: null, read: null }
    const progress = fromStored('age', OF_AGE)
    assert.deepEqual(documentOf(progress), none)
    assert.deepEqual(toStored('age', withDocument(progress, { tries: 1 })), {
      ...OF_AGE,
      document: { ...none, tries: 1 },
    })
  })

  test('is written exactly as it was, so that the last release can read it too', () => {
    for (const [area, stored] of [
      ['age', OF_AGE],
      ['age', OF_AGE_BEFORE_THE_FACE],
      ['verification', OF_VERIFICATION],
      ['verification', OF_VERIFICATION_BEFORE_CONSENT],
    ] as const) {
      assert.deepEqual(toStored(area, fromStored(area, stored)), stored)
    }
  })
})

describe('a challenge', () => {
  const usual = { nonce: 'n', steps: [], sampleAtMs: [], expiresAtMs: 1_800_000_000_000, submits: 0 }
  const stored = (challenge: OpenChallenge) => toStored('age', { ...newProgress('en'), challenge })

  test('of all movements is stored as it is, for both releases', () => {
    assert.deepEqual(stored(usual).challenge, usual)
  })

  test('of few movements or the slow pace is over for the last release, which would neither judge nor name it rightly', () => {
    for (const needs of [{ cannot: ['turn'] as const }, { pace: 'slow' as const }]) {
      const kept = stored({ ...usual, ...needs })
      assert.equal(kept.challenge?.expiresAtMs, 0)
      // What the last release does not know stays as it is when it stores the session.
      assert.deepEqual(fromStored('age', JSON.parse(JSON.stringify(kept))).challenge, { ...usual, ...needs })
    }
  })
})
