import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MOVEMENTS } from '@ostiary/contract'
import { stanceAt, USUAL } from './script.ts'
import { challengeScript, isScriptName, pinnedSteps, SCRIPTS } from './scripts.ts'

const STEPS = [
  { movement: 'turn_left', atMs: 1150 },
  { movement: 'blink', atMs: 3300 },
  { movement: 'closer', atMs: 5450 },
] as const

/** apps/server/src/capture/rules.ts: when an answer counts, after its asking. */
const SEEN = { fromMs: 150, untilMs: 2500 }
/** The page may start the capture so much earlier or later than the clip expects. */
const JITTER_MS = 600

test('a challenge clip answers each step in time, however much the start of the capture is off', () => {
  const script = challengeScript({ steps: STEPS, emptyMs: 5000, settleMs: 1500, rounds: 2 })
  assert.equal(script.moves.length, 6)
  for (const [index, { movement, atMs }] of STEPS.entries()) {
    const move = script.moves[index]
    assert.equal(move?.movement, movement)
    for (const offMs of [-JITTER_MS + SEEN.fromMs, 0, JITTER_MS]) {
      const askedMs = 5000 + 1500 + offMs + atMs
      const startsAfterMs = (move?.atMs ?? 0) - askedMs
      const heldUntilMs = startsAfterMs + USUAL[movement].riseMs + USUAL[movement].holdMs
      assert.ok(startsAfterMs >= 0 || offMs > 0, `${movement} begins ${startsAfterMs} ms after its asking`)
      assert.ok(
        heldUntilMs >= SEEN.fromMs + 300 && heldUntilMs <= SEEN.untilMs,
        `${movement} is held until ${heldUntilMs} ms`,
      )
    }
  }
})

test('nobody is there before the first round and between two', () => {
  const script = challengeScript({ steps: STEPS, emptyMs: 5000, rounds: 2, gapMs: 4000 })
  const [first, second] = script.present ?? []
  assert.equal(first?.fromMs, 5000)
  assert.equal((second?.fromMs ?? 0) - (first?.untilMs ?? 0), 4000)
  assert.equal(stanceAt(script, 4999).presence, 0)
  assert.equal(stanceAt(script, (second?.fromMs ?? 0) - 100).presence, 0)
  assert.equal(script.durationMs, (second?.untilMs ?? 0) + 4000)
})

test('the answers do not come after exactly the same time each', () => {
  const script = challengeScript({ steps: STEPS })
  const delays = STEPS.map(({ atMs }, index) => (script.moves[index]?.atMs ?? 0) - atMs)
  assert.equal(new Set(delays).size, 3)
})

test('between two answers the face is at rest', () => {
  const script = challengeScript({ steps: STEPS, emptyMs: 0, settleMs: 1500 })
  const stance = stanceAt(script, 1500 + 3300)
  assert.deepEqual({ yaw: stance.yaw, eyes: stance.eyes, zoom: stance.zoom }, { yaw: 0, eyes: 1, zoom: 1 })
})

test('the steps of a pinned challenge are those of the server', () => {
  const steps = pinnedSteps(['blink', 'look_up', 'turn_right'])
  assert.deepEqual(
    steps.map(({ movement }) => movement),
    ['blink', 'look_up', 'turn_right'],
  )
  assert.deepEqual(pinnedSteps(['blink', 'look_up', 'turn_right']), steps)
})

test('the show makes every movement', () => {
  assert.deepEqual(
    SCRIPTS.show.moves.map(({ movement }) => movement),
    MOVEMENTS,
  )
})

test('only our own names are names of scripts', () => {
  assert.ok(isScriptName('two-faces'))
  assert.ok(!isScriptName('toString'))
})
