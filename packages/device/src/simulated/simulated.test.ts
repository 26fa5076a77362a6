import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { CapturePayload, type Challenge, type Movement } from '@ostiary/contract'
import { createSealKeyPair, encodeVector, sealPayload } from '@ostiary/crypto'
import Value from 'typebox/value'
import { createSimulatedClock, SPOOFS, type Spoof, seededRandom, simulateCapture } from './index.ts'

const SESSION = '0d4f1c52-7a43-4c1e-9a55-9e0f6a8f8b11'

/** Nineteen samples, the most a challenge has; five of them in each movement. */
function challengeOf(movements: readonly Movement[]): Challenge {
  const steps = movements.map((movement, index) => ({ movement, atMs: 1200 + index * 2700 }))
  const sampleAtMs = [
    200,
    800,
    ...steps.flatMap(({ atMs }) => [350, 770, 1190, 1610, 2030].map((ms) => atMs + ms)),
    3750,
    6450,
  ]
  return {
    nonce: 'bm9uY2Utb2YtMjQtYnl0ZXMtMTIz',
    attempt: 1,
    steps,
    sampleAtMs: sampleAtMs.sort((a, b) => a - b),
    expiresAt: '',
  }
}
const CHALLENGES = [
  challengeOf(['turn_left', 'look_up', 'turn_right']),
  challengeOf(['blink', 'closer', 'blink']),
  challengeOf(['closer', 'turn_right', 'blink']),
]
const SEEDS = Array.from({ length: 40 }, (_, index) => index + 1)

function* captures(ageYears = 34) {
  for (const challenge of CHALLENGES) {
    for (const seed of SEEDS) {
      yield { challenge, seed, ...simulateCapture({ challenge, ageYears, random: seededRandom(seed) }) }
    }
  }
}
const payloadOf = (capture: ReturnType<typeof simulateCapture>['capture'], nonce: string) => ({
  v: 1,
  sessionId: SESSION,
  nonce,
  attempt: 1,
  ...capture,
  log: { seq: 17, hash: createHash('sha256').update(nonce).digest('base64url') },
})

test('one seed gives one person, another seed another person', () => {
  const [challenge] = CHALLENGES
  assert.ok(challenge)
  const make = (seed: number) => simulateCapture({ challenge, ageYears: 34, random: seededRandom(seed) })
  assert.deepEqual(make(5), make(5))
  assert.notDeepEqual(make(5).capture.frames, make(6).capture.frames)
})

test('a capture fits the schema, with one frame soon after each sample time and no picture twice', () => {
  for (const { challenge, seed, capture } of captures()) {
    const payload = payloadOf(
      { ...capture, indicators: '0'.repeat(21), browser: { kind: 'ordinary' } },
      challenge.nonce,
    )
    assert.deepEqual([...Value.Errors(CapturePayload, payload)], [], `seed ${seed}`)
    const late = capture.frames.map(({ t }, index) => t - (challenge.sampleAtMs[index] ?? 0))
    assert.ok(late.length === challenge.sampleAtMs.length && late.every((ms) => ms >= 3 && ms <= 40), `${late}`)
    assert.equal(new Set(capture.frames.map(({ digest }) => digest)).size, capture.frames.length)
  }
})

test('a capture without ages has an empty estimate, and a face is sent as text', () => {
  const [challenge] = CHALLENGES
  assert.ok(challenge)
  const vector = Array.from({ length: 512 }, (_, at) => Math.cos(at))
  const { capture } = simulateCapture({ challenge, ageYears: null, vector, random: seededRandom(5) })
  assert.deepEqual(capture.estimate, { age: 0, spread: 0, frames: 0 })
  assert.ok(capture.frames.every(({ age }) => age === undefined))
  assert.deepEqual(capture.face, { version: 'FACE3_3', vector: encodeVector(vector) })
  assert.deepEqual([...Value.Errors(CapturePayload, payloadOf(capture, challenge.nonce))], [])
})

test('each movement is visible after its request, ends before the next, and has the right direction', () => {
  for (const { challenge, seed, capture } of captures()) {
    const [first, second] = capture.frames
    assert.ok(first && second)
    for (const { movement, atMs } of challenge.steps) {
      const frames = capture.frames.filter(({ t }) => t >= atMs && t < atMs + 2200)
      const seen = frames.filter((frame) => shows(movement, frame, first)).map(({ t }) => t - atMs)
      assert.ok(seen.length > 0 && Math.min(...seen) >= 250, `seed ${seed}: ${movement} seen at ${seen}`)
    }
    for (const { movement, atMs } of challenge.steps) {
      const rest = capture.frames.filter(({ t }) => t >= atMs + 2200 && t < atMs + 2700)
      assert.ok(!rest.some((frame) => shows(movement, frame, first)), `seed ${seed}: ${movement} is not over`)
    }
  }
})

test('the estimate is the mean of the frames’ ages and close to the person’s, and closed eyes give none', () => {
  for (const { capture } of captures(34)) {
    const ages = capture.frames.flatMap(({ age }) => age ?? [])
    const mean = ages.reduce((sum, age) => sum + age, 0) / ages.length
    const spread = Math.sqrt(ages.reduce((sum, age) => sum + (age - mean) ** 2, 0) / ages.length)
    assert.deepEqual(capture.estimate, { age: Math.round(mean), spread: Math.round(spread), frames: ages.length })
    assert.ok(
      ages.length >= 5 && Math.abs(capture.estimate.age - 340) < 20 && spread < 35,
      JSON.stringify(capture.estimate),
    )
    assert.ok(capture.frames.every(({ age, eyes, quality }) => (age === undefined) === eyes <= 400 && quality >= 350))
  }
})

test('the log of a capture shows and sees every movement in order and ends after the last frame', () => {
  for (const { challenge, capture, moments } of captures()) {
    const logged = moments.map(({ type, n }) => `${type} ${n ?? ''}`.trim())
    const steps = challenge.steps.flatMap((_, index) => [`movement_shown ${index + 1}`, `movement_seen ${index + 1}`])
    assert.deepEqual(logged, [...steps, 'capture_done'])
    const latencies = challenge.steps.map((_, index) => {
      const [shown, seen] = moments.filter(({ n }) => n === index + 1)
      return (seen?.atMs ?? 0) - (shown?.atMs ?? 0)
    })
    assert.ok(
      latencies.every((ms) => ms >= 250 && ms <= 1400),
      `${latencies}`,
    )
    assert.ok(Math.max(...latencies) - Math.min(...latencies) >= 50, `${latencies}`)
    assert.ok((moments.at(-1)?.atMs ?? 0) > (capture.frames.at(-1)?.t ?? Number.POSITIVE_INFINITY))
  }
})

test('a whole submit of nineteen frames has at most 2,048 bytes', async () => {
  const { publicJwk } = await createSealKeyPair()
  const sizes: number[] = []
  for (const { challenge, capture } of captures()) {
    const payload = payloadOf(
      { ...capture, indicators: '0'.repeat(21), browser: { kind: 'ordinary' } },
      challenge.nonce,
    )
    const sealed = await sealPayload(publicJwk, SESSION, payload)
    sizes.push(new TextEncoder().encode(JSON.stringify({ sessionId: SESSION, sealed })).length)
  }
  assert.ok(Math.max(...sizes) <= 2048, `${Math.max(...sizes)} bytes`)
  assert.ok(Math.max(...sizes) > 1300, 'a smaller size means that something is missing')
})

test('each spoof changes the capture or the flow, and the capture still fits the schema', () => {
  const [challenge] = CHALLENGES
  assert.ok(challenge)
  const make = (plan: typeof challenge | ReturnType<NonNullable<Spoof['plan']>>) =>
    simulateCapture({ challenge: plan, ageYears: 34, random: seededRandom(3) })
  const honest = make(challenge)
  for (const [name, spoof] of Object.entries<Spoof>(SPOOFS)) {
    const planned = make(spoof.plan?.(challenge) ?? challenge)
    const made: ReturnType<typeof make> = spoof.change?.(planned, challenge) ?? planned
    assert.deepEqual([...Value.Errors(CapturePayload, payloadOf(made.capture, challenge.nonce))], [], name)
    const isFlow = spoof.waitMs !== undefined || spoof.repeats === true
    assert.equal(JSON.stringify(made) === JSON.stringify(honest), isFlow, name)
  }
})

test('time passes only in claims, or in real time if a wait function is given', async () => {
  let base = 100
  const clocks = { nowMs: () => 7_000 + base, monotonicMs: () => base }
  const claimed = createSimulatedClock(clocks)
  await claimed.pass(500)
  assert.deepEqual([claimed.monotonicMs(), claimed.nowMs()], [500, 7_100])
  const real = createSimulatedClock(clocks, {
    wait: async (ms) => {
      base += ms
    },
  })
  await real.pass(500)
  assert.deepEqual([real.monotonicMs(), real.nowMs()], [600, 7_600])
})

type Frame = ReturnType<typeof simulateCapture>['capture']['frames'][number]

function shows(movement: Movement, frame: Frame, rest: Frame): boolean {
  if (movement === 'turn_left') return frame.yaw - rest.yaw > 120
  if (movement === 'turn_right') return frame.yaw - rest.yaw < -120
  if (movement === 'look_up') return frame.pitch - rest.pitch > 80
  return movement === 'blink' ? frame.eyes < 0.35 * rest.eyes : frame.size > 1.15 * rest.size
}
