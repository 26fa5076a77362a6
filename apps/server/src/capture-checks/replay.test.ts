import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { KIND_OF, LAUNCH_LIMITS, MOVEMENT_KINDS_MIN } from '@ostiary/contract'
import { createChallenge } from './challenge.ts'
import { judgeCapture } from './judge.ts'
import { bytesOf, captureOf, honestCapture, seeded } from './testing/person.ts'
import {
  acceptedOf,
  EVERY_NEED,
  EXCLUSIONS,
  nameOf,
  type Prepared,
  passesOf,
  preparedPassesOf,
} from './testing/replay.ts'
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

/** Found by a search for the recordings that pass most often. The best one for all movements passes in 8.7 % of plays. */
const PREPARED: readonly [Needs, Prepared][] = [
  [
    { cannot: ['turn', 'up'] },
    {
      movement: 'closer',
      acts: [
        [2221, 4312],
        [6408, 7309],
        [9083, 9550],
        [11_667, 13_912],
      ],
      shut: { everyMs: 998, forMs: 325 },
    },
  ],
  [
    { cannot: ['turn', 'closer'] },
    {
      movement: 'look_up',
      acts: [
        [1649, 2291],
        [7356, 7688],
        [10_183, 11_464],
        [13_486, 14_876],
        [16_610, 18_996],
      ],
      shut: { everyMs: 2049, forMs: 482 },
    },
  ],
  [
    { cannot: ['turn', 'closer'], pace: 'slow' },
    {
      movement: 'look_up',
      acts: [
        [4698, 5345],
        [13_835, 15_134],
        [21_306, 22_047],
        [27_434, 27_897],
        [33_947, 34_562],
        [42_176, 43_162],
        [49_650, 51_336],
      ],
      shut: { everyMs: 1642, forMs: 224 },
    },
  ],
]

describe('a recording that was made to fit as many challenges as it can, with eyes that open and shut all the time', () => {
  for (const [needs, recording] of PREPARED) {
    test(`passes no more often ${nameOf(needs)} than the best one with all movements`, (context) => {
      const played = 1000
      const passes = preparedPassesOf(needs, recording, { seed: SEED, played })
      context.diagnostic(`${nameOf(needs)}: ${passes} of ${played}`)
      assert.ok(passes <= 0.08 * played, String(passes))
    })
  }
})
