import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MOVEMENTS } from '@ostiary/contract'
import { CAPTURE_RULES } from '@ostiary/server/capture-checks'
import { stanceAt, USUAL } from './script.ts'
import { challengeScript, isScriptName, pinnedSteps, SCRIPTS } from './scripts.ts'

const STEPS = pinnedSteps(['turn_left', 'blink', 'closer'])

/** The page may start the capture so much earlier or later than the clip expects. */
const START_OFF_MS = [-350, -200, 0, 300, 650]

for (const offMs of START_OFF_MS) {
  test(`a page that starts ${offMs} ms off gets its answers in time, and long enough that a sample must hit them`, () => {
    const script = challengeScript({ steps: STEPS, emptyMs: 5000, settleMs: 1600, rounds: 2 })
    const { firstMs, gapMs, count } = CAPTURE_RULES.stepSamples
    const lastSampleMs = firstMs.min + (count - 1) * gapMs.min
    for (const [index, { movement, atMs }] of STEPS.entries()) {
      const move = script.moves[index]
      assert.equal(move?.movement, movement)
      const beginsMs = (move?.atMs ?? 0) - (5000 + 1600 + offMs + atMs)
      assert.ok(beginsMs >= CAPTURE_RULES.earlyUntilMs, `${movement} begins ${beginsMs} ms after its asking`)
      const { riseMs, holdMs } = USUAL[movement]
      const seenMs = Math.min(beginsMs + riseMs + holdMs, lastSampleMs) - (beginsMs + riseMs / 2)
      assert.ok(seenMs >= gapMs.max, `${movement} can be sampled for ${seenMs} ms`)
    }
  })
}

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
  const script = challengeScript({ steps: STEPS, emptyMs: 0, settleMs: 1600 })
  for (const { atMs } of STEPS) {
    const { yaw, eyes, zoom } = stanceAt(script, 1600 + atMs)
    assert.deepEqual({ yaw, eyes, zoom }, { yaw: 0, eyes: 1, zoom: 1 })
  }
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

test('inherited property names are not names of scripts', () => {
  assert.ok(isScriptName('two-faces'))
  assert.ok(!isScriptName('toString'))
})
