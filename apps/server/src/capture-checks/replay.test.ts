import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { KIND_OF, LAUNCH_LIMITS, MOVEMENT_KINDS_MIN } from '@ostiary/contract'
import { createChallenge } from './challenge.ts'
import { judgeCapture } from './judge.ts'
import { bytesOf, captureOf, honestCapture, seeded } from './testing/person.ts'
import { acceptedOf, EVERY_NEED, EXCLUSIONS, nameOf, passesOf } from './testing/replay.ts'
import { movementsLeft, type Needs } from './timing.ts'

/** The times of `timing.ts` were chosen with seed 21. */
const SEED = 1848

test('1,000 draws for each exclusion: at least two kinds are left and asked for, and none that was excluded', () => {
  assert.equal(EXCLUSIONS.length, 10)
  const random = bytesOf(seeded(3))
  for (const cannot of EXCLUSIONS) {
    assert.ok(new Set(movementsLeft(cannot).map((movement) => KIND_OF[movement])).size >= MOVEMENT_KINDS_MIN)
    const sequences = new Set<string>()
    for (let draw = 0; draw < 1000; draw++) {
      const { steps } = createChallenge(random, undefined, { cannot })
      const kinds = new Set(steps.map(({ movement }) => KIND_OF[movement]))
      assert.ok(kinds.size >= MOVEMENT_KINDS_MIN)
      assert.ok(!cannot.some((kind) => kinds.has(kind)))
      sequences.add(steps.map(({ movement }) => movement).join())
    }
    assert.ok(sequences.size >= 14, `${nameOf({ cannot })}: ${sequences.size} sequences`)
  }
})

test('samples of every kind of challenge fit into the payload, are 120 ms apart, and lie within its validity', () => {
  const random = bytesOf(seeded(4))
  for (const needs of [{}, ...EVERY_NEED]) {
    for (let draw = 0; draw < 200; draw++) {
      const { sampleAtMs } = createChallenge(random, undefined, needs)
      // A process of the last release takes 24.
      assert.ok(
        sampleAtMs.length <= (needs.pace ? LAUNCH_LIMITS.framesMax : 24),
        `${nameOf(needs)}: ${sampleAtMs.length}`,
      )
      sampleAtMs.slice(1).forEach((time, index) => {
        assert.ok(time - (sampleAtMs[index] ?? 0) >= 120, `${nameOf(needs)}: ${sampleAtMs.join()}`)
      })
      // The challenge is valid for 90 seconds, of which a slow phone computes for 20.
      assert.ok((sampleAtMs.at(-1) ?? 0) < (needs.pace ? 60_000 : 24_000), nameOf(needs))
    }
  }
})

describe('an honest person is accepted', () => {
  for (const needs of EVERY_NEED) {
    test(nameOf(needs), () => {
      for (let seed = 0; seed < 100; seed++) {
        const { flags, failure } = judgeCapture(honestCapture(seed, 1, needs))
        assert.deepEqual([seed, flags, failure], [seed, [], null])
      }
    })
  }

  test('who needs six seconds for each movement, at the slow pace and only there', () => {
    const late = (needs: Needs) => {
      const random = seeded(9)
      const challenge = createChallenge(bytesOf(random), undefined, needs)
      const act = { reactionMs: challenge.steps.map((_, at) => (needs.pace ? 5200 : 3200) + 90 * at) }
      return judgeCapture(captureOf(challenge, random, act)).failure
    }
    assert.equal(late({ pace: 'slow' }), null)
    assert.equal(late({ cannot: ['turn', 'up'], pace: 'slow' }), null)
    assert.notEqual(late({}), null)
  })
})

test('who begins each movement as late as they may is accepted as often as with all movements', (context) => {
  const count = 200
  const full = acceptedOf({}, { seed: SEED, count })
  assert.ok(full >= 0.97 * count, String(full))
  for (const needs of EVERY_NEED) {
    const accepted = acceptedOf(needs, { seed: SEED, count })
    context.diagnostic(`${nameOf(needs)}: ${accepted} of ${count}, beside ${full}`)
    assert.ok(accepted >= full - 0.02 * count, `${nameOf(needs)}: ${accepted}`)
  }
})

describe('a recording of one challenge, played to 2,000 fresh ones', () => {
  const replays = { seed: SEED, played: 2000 }
  const full = passesOf({}, replays)
  test('passes about once in a hundred with all movements', (context) => {
    context.diagnostic(`${nameOf({})}: ${full} of ${replays.played}`)
    assert.ok(full > 0 && full <= 40)
  })
  for (const needs of EVERY_NEED) {
    test(`passes less often ${nameOf(needs)}`, (context) => {
      const passes = passesOf(needs, replays)
      context.diagnostic(`${nameOf(needs)}: ${passes} of ${replays.played}`)
      assert.ok(passes <= 0.8 * full, `${passes} beside ${full}`)
    })
  }
})
