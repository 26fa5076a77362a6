import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LAUNCH_LIMITS, SIMULATED_MODEL } from '@ostiary/contract'
import { sealPayload } from '@ostiary/crypto'
import { SPOOFS, type Spoof, type SpoofName, seededRandom, simulateCapture } from '@ostiary/device/simulated'
import { createChallenge } from './challenge.ts'
import { type CaptureJudgement, judgeCapture } from './judge.ts'
import { bytesOf, logOf, type Moment, seeded } from './testing/person.ts'
import { EVERY_NEED, nameOf } from './testing/replay.ts'
import type { Needs } from './timing.ts'

/** Judges a simulated person's capture, with the log that the simulated flow writes. */
function judgeSimulated(seed: number, spoof: Spoof = { meaning: 'none' }, needs: Needs = {}): CaptureJudgement {
  const challenge = createChallenge(bytesOf(seeded(seed)), undefined, needs)
  const asked = { ...challenge, nonce: 'n', attempt: 1, expiresAt: '' }
  const plan = spoof.plan?.(asked) ?? asked
  const honest = simulateCapture({ challenge: plan, ageYears: 15 + (seed % 60), random: seededRandom(seed) })
  const { capture, moments } = spoof.change?.(honest, asked) ?? honest
  const start = 9000
  const log = logOf([
    { type: 'page_open', t: 0 },
    { type: 'consent_shown', t: 400 },
    { type: 'consent_given', t: 3000 },
    { type: 'camera_requested', t: 3001 },
    { type: 'camera_ready', t: 4000 },
    { type: 'challenge_received', t: start, n: 1 },
    ...moments.map(({ type, n, atMs }): Moment => ({ type, t: start + Math.round(atMs), ...(n ? { n } : {}) })),
    { type: 'submit', t: 90_000 },
  ])
  const { seq, hash } = log
  const payload = { ...capture, v: 1 as const, sessionId: 's', nonce: 'n', attempt: 1, log: { seq, hash } }
  return judgeCapture({
    payload,
    challenge,
    log,
    attempt: 1,
    mismatches: 0,
    wantsAge: true,
    acceptModel: ({ id }) => id === SIMULATED_MODEL.id,
  })
}

/** The failure of each dishonest device. The caller refuses the other two of `SPOOFS`, by time and by nonce. */
const FOUND: Record<Exclude<SpoofName, 'late' | 'replay'>, Pick<CaptureJudgement, 'flags' | 'failure'>> = {
  still: { flags: ['BH_FRAMES_STATIC'], failure: 'SPOOF' },
  loop: { flags: ['BH_FRAMES_REPEAT'], failure: 'VIDEO_SPOOF' },
  early: { flags: ['BH_CHALLENGE_LATENCY'], failure: 'VIDEO_SPOOF' },
  recording: { flags: [], failure: 'LIVENESS_INCONCLUSIVE' },
  robot: { flags: ['BH_CHALLENGE_LATENCY'], failure: 'VIDEO_SPOOF' },
  forged: { flags: ['BH_NUMERIC_IMPLAUSIBLE'], failure: 'VIDEO_SPOOF' },
  nocapture: { flags: ['BH_RESULT_NO_CAPTURE'], failure: 'VIDEO_SPOOF' },
  mask: { flags: [], failure: 'SPOOF' },
  model: { flags: ['BH_MODEL_MISMATCH'], failure: 'MODEL_LOAD_FAILED' },
}

test('the simulated person is accepted', () => {
  for (let seed = 0; seed < 300; seed++) {
    const { flags, failure } = judgeSimulated(seed)
    assert.deepEqual([seed, flags, failure], [seed, [], null])
  }
})

describe('a simulated fraud is detected:', () => {
  for (const [name, found] of Object.entries(FOUND)) {
    const spoof = Object.entries(SPOOFS).find(([known]) => known === name)?.[1]
    test(`${name}, ${spoof?.meaning}`, () => {
      assert.ok(spoof)
      for (let seed = 0; seed < 40; seed++) {
        const { flags, failure } = judgeSimulated(seed, spoof)
        assert.deepEqual({ seed, flags, failure }, { seed, ...found })
      }
    })
  }
})

describe('with fewer movements, or more time', () => {
  for (const needs of EVERY_NEED) {
    test(`${nameOf(needs)}: the person is accepted; a photograph, a loop and a recording never are`, () => {
      for (let seed = 0; seed < 20; seed++) {
        assert.equal(judgeSimulated(seed, undefined, needs).failure, null)
        for (const name of ['still', 'loop', 'recording'] as const)
          assert.notEqual(judgeSimulated(seed, SPOOFS[name], needs).failure, null, `${name} ${seed}`)
      }
    })
  }

  test('the largest capture of an enrolment fits into the sealed payload: vector, local key and its proof', async () => {
    const { privateKey, publicKey } = await crypto.subtle.generateKey(ES256, true, ['sign', 'verify'])
    const key = await crypto.subtle.exportKey('jwk', publicKey)
    const signature = await crypto.subtle.sign({ ...ES256, hash: 'SHA-256' }, privateKey, new Uint8Array(32))
    const { kty, crv, x = '', y = '' } = key
    const sizes: number[] = []
    for (let seed = 0; seed < 60; seed++) {
      const random = seededRandom(seed)
      const challenge = createChallenge(bytesOf(seeded(seed)), undefined, { cannot: ['turn', 'up'], pace: 'slow' })
      const vector = Array.from({ length: 512 }, () => random() - 0.5)
      const { capture } = simulateCapture({ challenge, ageYears: 42.5, random, vector, indicators: '01-'.repeat(7) })
      const payload = {
        ...capture,
        ...{ v: 1, sessionId: crypto.randomUUID(), nonce: base64(32), attempt: 1, browser: { kind: 'ordinary' } },
        model: { id: 'm'.repeat(24), hash: base64(32) },
        log: { seq: 40, hash: base64(32) },
        local: { key: { kty, crv, x, y } },
        metadata: {
          camera: { width: 1920, height: 1080 },
          captureConditions: {
            light: { brightness: 135, lux: 12_345 },
            motion: 12,
            camera: { width: 1920, height: 1080 },
          },
          localProof: Buffer.from(signature).toString('base64url'),
        },
      }
      const seal = { kty: 'EC', crv: 'P-256', x, y } as const
      sizes.push((await sealPayload(seal, payload.sessionId, payload)).length)
    }
    assert.ok(Math.max(...sizes) <= LAUNCH_LIMITS.sealedBytes, `${Math.max(...sizes)} bytes`)
  })
})

const ES256 = { name: 'ECDSA', namedCurve: 'P-256' } as const
const base64 = (bytes: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('base64url')
