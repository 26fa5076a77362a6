import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { KIND_OF, LAUNCH_LIMITS, MOVEMENT_KINDS, MOVEMENT_KINDS_MIN, type MovementKind } from '@ostiary/contract'
import { createChallenge } from './challenge.ts'
import { judgeCapture } from './judge.ts'
import { bytesOf, captureOf, framesOf, honestCapture, type Random, reactions, seeded } from './testing/person.ts'
import { movementsLeft, type Needs, timingOf } from './timing.ts'

/** Every set of kinds that a user may exclude. */
const EXCLUSIONS: MovementKind[][] = MOVEMENT_KINDS.flatMap((kind, at) => [
  [kind],
  ...MOVEMENT_KINDS.slice(at + 1).map((other) => [kind, other]),
])
const nameOf = ({ cannot = [], pace }: Needs) => `${pace ? `${pace}, ` : ''}without ${cannot.join(' and ') || 'any'}`

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
  for (const needs of [...EXCLUSIONS, []].flatMap((cannot): Needs[] => [{ cannot }, { cannot, pace: 'slow' }])) {
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
      assert.ok((sampleAtMs.at(-1) ?? 0) < 50_000)
    }
  }
})

describe('an honest person is accepted', () => {
  for (const needs of EXCLUSIONS.flatMap((cannot): Needs[] => [{ cannot }, { cannot, pace: 'slow' }]).concat([
    { pace: 'slow' },
  ])) {
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

/** A recording of one challenge, played to a page that asks for another one. Says whether it passes. */
function recordingOf(needs: Needs, random: Random): () => boolean {
  const recorded = createChallenge(bytesOf(random), undefined, needs)
  const act = { reactionMs: reactions(recorded, random) }
  return () => {
    const asked = createChallenge(bytesOf(random), undefined, needs)
    // The page logs what it sees of the movements that it asks for.
    const reactionMs = asked.steps.map(({ movement, atMs }) =>
      recorded.steps
        .flatMap((step, at) => (step.movement === movement ? step.atMs + (act.reactionMs[at] ?? 0) - atMs : []))
        .find((sinceMs) => sinceMs >= 200 && sinceMs <= timingOf(needs).seenUntilMs),
    )
    const played = () => framesOf({ ...recorded, sampleAtMs: asked.sampleAtMs }, random, act)
    return judgeCapture(captureOf(asked, random, { reactionMs }, played)).failure === null
  }
}

const PLAYED = 2000
const RECORDINGS = 100

/** How many of 2,000 fresh challenges a recording meets: 100 recordings, 20 challenges each. */
function passesOf(needs: Needs): number {
  const random = seeded(21)
  let passes = 0
  for (let recording = 0; recording < RECORDINGS; recording++) {
    const play = recordingOf(needs, random)
    for (let time = 0; time < PLAYED / RECORDINGS; time++) if (play()) passes++
  }
  return passes
}

describe('a recording of one challenge, played to 2,000 fresh ones', () => {
  const full = passesOf({})
  test('passes about once in a hundred with all movements', (context) => {
    context.diagnostic(`${nameOf({})}: ${full} of ${PLAYED}`)
    assert.ok(full > 0 && full <= 40)
  })
  for (const cannot of EXCLUSIONS) {
    test(`passes no more often ${nameOf({ cannot })}`, (context) => {
      const passes = passesOf({ cannot })
      context.diagnostic(`${nameOf({ cannot })}: ${passes} of ${PLAYED}`)
      assert.ok(passes <= full, `${passes} beside ${full}`)
    })
  }
  // Three times the time is as much more for a recording. docs/api/age.md says so, and `assurance` names it.
  for (const needs of [{ pace: 'slow' }, { cannot: ['turn', 'up'], pace: 'slow' }] as const) {
    test(`passes seldom ${nameOf(needs)}`, (context) => {
      const passes = passesOf(needs)
      context.diagnostic(`${nameOf(needs)}: ${passes} of ${PLAYED}`)
      assert.ok(passes < PLAYED / 8)
    })
  }
})
