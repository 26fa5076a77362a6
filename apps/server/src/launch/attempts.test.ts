import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { LAUNCH_LIMITS } from '@ostiary/contract'
import { newProgress, type Progress } from '../sessions/index.ts'
import { issueChallenge, type WantedChallenge } from './attempts.ts'
import { NOW, sessionAt } from './testing/session.ts'

const ids = {
  next: () => 'unused',
  nextUnbound: () => 'unused',
  randomBytes: (count: number) => randomBytes(count),
  randomBucket: () => 0,
}

const ask = (progress: Progress, wanted: WantedChallenge, atSeconds: number) => {
  const session = { ...sessionAt('FACE_ACTIVE'), progress }
  const now = new Date(NOW.getTime() + 1000 * atSeconds)
  const step = issueChallenge(session, wanted, { ask: null, ids, now })
  return { progress: step.progress, issued: step.refuse ? undefined : step.reply }
}

const begun = (wanted: WantedChallenge = {}) => ask({ ...newProgress('en'), attempt: 0 }, { attempt: 1, ...wanted }, 0)

test('a device that lost the reply gets the same challenge, while there is time to answer it', () => {
  const { progress, issued } = begun()
  assert.deepEqual(ask(progress, { attempt: 1 }, 5).issued, issued)
  const late = ask(progress, { attempt: 1 }, 85)
  assert.deepEqual([late.issued?.attempt, late.progress.attempt], [2, 2])
})

test('who says late in a slow challenge that they cannot make a movement loses no try either', () => {
  const slow = begun({ pace: 'slow' })
  const lastMs = slow.issued?.sampleAtMs.at(-1) ?? 0
  for (const atSeconds of [5, lastMs / 1000, LAUNCH_LIMITS.challengeSeconds + 1]) {
    const { progress, issued } = ask(slow.progress, { attempt: 1, cannot: ['turn'] }, atSeconds)
    assert.notEqual(issued?.nonce, slow.issued?.nonce)
    assert.deepEqual([issued?.attempt, progress.attempt, progress.replaced], [1, 1, 1], `after ${atSeconds} s`)
  }
})

test('a challenge that was answered is not replaced', () => {
  const { progress } = begun()
  assert.ok(progress.challenge)
  const answered = { ...progress, challenge: { ...progress.challenge, submits: 1 } }
  assert.equal(ask(answered, { attempt: 1, cannot: ['turn'] }, 5).issued?.attempt, 2)
})
