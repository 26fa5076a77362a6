import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Challenge } from '@ostiary/contract'
import { CaptureFailure } from './capture-types.ts'
import { MODELS, runTestCapture, type TestCaptureOptions } from './testing/fixture.ts'
import { createPerson, seeded } from './testing/person.ts'

const CHALLENGE: Challenge = {
  nonce: 'n',
  attempt: 2,
  expiresAt: '',
  steps: [
    { movement: 'turn_left', atMs: 1150 },
    { movement: 'blink', atMs: 3300 },
    { movement: 'closer', atMs: 5450 },
  ],
  sampleAtMs: [300, 900, 1495, 1825, 2155, 2485, 3630, 3917, 4205, 4492, 5795, 6125, 6455, 6785],
}

const failing = (options: Partial<TestCaptureOptions>, code: number, reason?: string) =>
  assert.rejects(runTestCapture({ challenge: CHALLENGE, ...options }), (error) => {
    assert.ok(error instanceof CaptureFailure, String(error))
    assert.deepEqual([error.code, error.reason], [code, reason])
    return true
  })

test('a person who follows the challenge gives one frame per sample, close to its time', async () => {
  const { capture, openPictures } = await runTestCapture({ challenge: CHALLENGE })
  const lateMs = capture.frames.map(({ t }, index) => t - (CHALLENGE.sampleAtMs[index] ?? 0))
  assert.equal(capture.frames.length, CHALLENGE.sampleAtMs.length)
  assert.ok(
    lateMs.every((ms) => ms >= 0 && ms <= 60),
    `${lateMs}`,
  )
  assert.deepEqual(capture.model, { id: MODELS.id, hash: MODELS.hash })
  assert.equal(openPictures, 0)
})

test('who needs to hear what comes next gets a pause for it, before the challenge is drawn', async () => {
  const plain = await runTestCapture({ challenge: CHALLENGE })
  const { views, log, tookMs, capture } = await runTestCapture({ challenge: CHALLENGE, readyMs: 2_500 })
  const first = views.find(({ phase }) => phase === 'challenge')
  assert.deepEqual([first?.movement, first?.movementsSeen], [null, 0])
  assert.ok(tookMs - plain.tookMs >= 2_000, `${tookMs - plain.tookMs} ms longer`)
  assert.equal(log.filter(({ type }) => type === 'movement_seen').length, 3)
  assert.equal(capture.frames.length, CHALLENGE.sampleAtMs.length)
})

test('the log has the challenge, each movement in order, and the end', async () => {
  const { log, capture } = await runTestCapture({ challenge: CHALLENGE })
  assert.deepEqual(
    log.map(({ type, n }) => [type, n]),
    [
      ['challenge_received', 2],
      ...[1, 2, 3].flatMap((n) => [
        ['movement_shown', n],
        ['movement_seen', n],
      ]),
      ['capture_done', undefined],
    ],
  )
  const start = log[0]?.t ?? 0
  const shown = log.filter(({ type }) => type === 'movement_shown').map(({ t }) => t - start)
  assert.ok(
    shown.every((t, index) => t >= (CHALLENGE.steps[index]?.atMs ?? 0) && t < (CHALLENGE.steps[index]?.atMs ?? 0) + 20),
    `${shown}`,
  )
  assert.ok((log.at(-1)?.t ?? 0) - start >= (capture.frames.at(-1)?.t ?? 0))
})

test('the phases are find, challenge, measure, and never go back', async () => {
  const { views } = await runTestCapture({ challenge: CHALLENGE })
  const phases = views.map(({ phase }) => phase).filter((phase, index, all) => phase !== all[index - 1])
  assert.deepEqual(phases, ['find', 'challenge', 'measure'])
  assert.ok(views.every(({ progress }, index) => progress >= (views[index - 1]?.progress ?? 0)))
  assert.equal(views.at(-1)?.progress, 1)
  assert.equal(views.at(-1)?.movementsSeen, 3)
  const asked = views.map(({ movement }) => movement).filter((movement, index, all) => movement !== all[index - 1])
  assert.deepEqual(asked, [null, 'turn_left', null, 'blink', null, 'closer', null])
})

test('a slow engine delays neither the samples nor the movements', async () => {
  const { capture, log } = await runTestCapture({ challenge: CHALLENGE, lookMs: 350, measureMs: 1500 })
  const lateMs = capture.frames.map(({ t }, index) => t - (CHALLENGE.sampleAtMs[index] ?? 0))
  assert.equal(capture.frames.length, CHALLENGE.sampleAtMs.length)
  assert.ok(Math.max(...lateMs) <= 60, `${lateMs}`)
  assert.equal(log.filter(({ type }) => type === 'movement_shown').length, 3)
  assert.equal(log.at(-1)?.type, 'capture_done')
})

test('samples are measured between the movements, so that few are left at the end', async () => {
  const { views, tookMs } = await runTestCapture({ challenge: CHALLENGE, lookMs: 90, measureMs: 400 })
  const left = views.find(({ phase }) => phase === 'measure')?.progress ?? 0
  assert.ok(left > 0.85, `${left}`)
  assert.ok(tookMs < 12_500, `${tookMs}`)
})

test('a slow camera misses samples rather than sending one picture twice or late', async () => {
  const { capture } = await runTestCapture({ challenge: CHALLENGE, frameMs: 300 })
  const times = capture.frames.map(({ t }) => t)
  assert.ok(times.length >= 5)
  for (const t of times) assert.ok(CHALLENGE.sampleAtMs.some((due) => t - due >= 0 && t - due <= 240))
  assert.equal(new Set(times).size, times.length)
})

describe('a try that cannot be finished ends with its code:', () => {
  test('no face, -12', () => failing({ sight: () => ({ faces: 0, face: null }) }, -12))
  test('two people while the face is looked for, -11', () =>
    failing({ sight: (sighting) => ({ ...sighting, faces: 2 }) }, -11))
  test('darkness, -10', () =>
    failing(
      {
        sight: ({ faces, face }) => ({
          faces,
          face: face && { ...face, quality: { ...face.quality, signal: 0.05 } },
        }),
      },
      -10,
    ))
  test('a face that stays too far away, -39', () =>
    failing(
      { sight: ({ faces, face }) => ({ faces, face: face && { ...face, box: { ...face.box, width: 60 } } }) },
      -39,
      'too_far',
    ))
  test('a mask, -31', () =>
    failing({ sight: ({ faces, face }) => ({ faces, face: face && { ...face, covered: 'mouth' } }) }, -31, 'mask'))
  test('a person who leaves during the movements, -12', () =>
    failing({ sight: (sighting, atMs) => (atMs > 14_000 ? { faces: 0, face: null } : sighting) }, -12))
  test('a second person during the movements, -11', () =>
    failing({ sight: (sighting, atMs) => (atMs > 14_000 ? { ...sighting, faces: 2 } : sighting) }, -11))
  test('a camera that stops while the face is looked for, -7', () =>
    failing({ onStart: ({ time, endCamera }) => void time.sleep(400).then(endCamera) }, -7, 'track_ended'))
  test('a camera that stops during the movements, -7', () =>
    failing({ onStart: ({ time, endCamera }) => void time.sleep(4000).then(endCamera) }, -7, 'track_ended'))
  test('a camera without pictures during the movements, -32', () =>
    failing({ hasPicture: (atMs) => atMs < 11_200 }, -32))
  test('an engine that throws, -22', () =>
    failing({ engine: { measure: () => Promise.reject(new Error('out of memory')) } }, -22))
})

test('a second face that appears for a moment does not end the try', async () => {
  const { log } = await runTestCapture({
    challenge: CHALLENGE,
    sight: (sighting, atMs) => (atMs > 14_000 && atMs < 14_700 ? { ...sighting, faces: 2 } : sighting),
  })
  assert.equal(log.at(-1)?.type, 'capture_done')
})

test('a camera that stops after the last sample does not fail the capture', async () => {
  const { capture } = await runTestCapture({
    challenge: CHALLENGE,
    measureMs: 900,
    onStart: ({ time, endCamera }) => void time.sleep(9500).then(endCamera),
  })
  assert.equal(capture.frames.length, CHALLENGE.sampleAtMs.length)
})

test('a user who cannot follow the guidance may start anyway', async () => {
  const { log } = await runTestCapture({
    challenge: CHALLENGE,
    sight: ({ faces, face }) => ({ faces, face: face && { ...face, box: { ...face.box, width: 60 } } }),
    onStart: ({ time, startAnyway }) => void time.sleep(3000).then(startAnyway),
  })
  assert.equal(log.at(-1)?.type, 'capture_done')
})

test('guidance follows the current picture when the phone is rotated', async () => {
  const { views } = await runTestCapture({ challenge: CHALLENGE, turnedAtMs: 11_000 })
  const found = views.findIndex(({ phase }) => phase === 'challenge')
  const said = new Set(views.slice(0, found).map(({ guidance }) => guidance))
  assert.deepEqual([...said], [null, 'move_right', 'in_oval'])
})

test('an aborted capture rejects at once with the reason', async () => {
  const reason = new Error('cancelled')
  for (const afterMs of [200, 4000, 9500]) {
    const leaving = runTestCapture({
      challenge: CHALLENGE,
      measureMs: 900,
      onStart: ({ time, abort }) => void time.sleep(afterMs).then(() => abort(reason)),
    })
    await assert.rejects(leaving, reason)
  }
})

test('a person who does something else is measured, and no movement counts as seen', async () => {
  const person = createPerson({
    random: seeded(3),
    answer: (asked) => (asked === 'turn_left' ? 'turn_right' : asked),
  })
  const { log, capture } = await runTestCapture({ challenge: CHALLENGE, person })
  assert.deepEqual(
    log.filter(({ type }) => type === 'movement_seen').map(({ n }) => n),
    [2, 3],
  )
  assert.equal(capture.frames.length, CHALLENGE.sampleAtMs.length)
})

test('the engine gets the outputs that the session wants', async () => {
  const begun: unknown[] = []
  const engine = { begin: async (outputs: unknown) => void begun.push(outputs) }
  const outputs = { ages: false, selfie: true }
  const { capture } = await runTestCapture({ challenge: CHALLENGE, outputs, engine })
  assert.deepEqual(begun, [outputs])
  assert.deepEqual(capture.estimate, { age: 0, spread: 0, frames: 0 })
})
