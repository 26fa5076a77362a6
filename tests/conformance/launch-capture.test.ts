/** Feeds captures of the launch page to the server's checks: the two are separate code and must agree. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { CapturePayload, type LaunchEvent, type LaunchEventType } from '@ostiary/contract'
import { CHAIN_START, createSealKeyPair, eventText, sealPayload } from '@ostiary/crypto'
import {
  createPerson,
  MODELS,
  runTestCapture,
  seeded,
  type TestCaptureOptions,
} from '@ostiary/launch/browser-conformance'
import { appendEvents, createChallenge, emptyLog, judgeCapture } from '@ostiary/server/capture-checks'
import Value from 'typebox/value'

const SESSION = '0d4f1c52-7a43-4c1e-9a55-9e0f6a8f8b11'
const SEEDS = Array.from({ length: 40 }, (_, index) => index + 1)

interface Moment {
  type: LaunchEventType
  t: number
  n?: number
}

/** Before the capture begins; the test capture’s clock starts at ten seconds. */
const BEFORE: readonly Moment[] = [
  { type: 'page_open', t: 100 },
  { type: 'consent_shown', t: 900 },
  { type: 'consent_given', t: 4000 },
  { type: 'camera_requested', t: 4010 },
  { type: 'camera_ready', t: 6000 },
]

/** One capture of the page with a challenge of the server, and what the server finds about it. */
async function judged(seed: number, options: Partial<TestCaptureOptions> = {}) {
  const random = seeded(seed)
  const plan = createChallenge((count) => Uint8Array.from({ length: count }, () => Math.floor(random() * 256)))
  const challenge = { ...plan, nonce: 'bm9uY2Utb2YtMjQtYnl0ZXMtMTIz', attempt: 1, expiresAt: '' }
  const { capture, log: moments, views, tookMs } = await runTestCapture({ challenge, seed, ...options })
  const submitAt = (moments.at(-1)?.t ?? 0) + 3000
  const events = chain([...BEFORE, ...moments, { type: 'submit', t: submitAt }])
  const { log } = appendEvents(emptyLog(), events, { maxEvents: 300 })
  const payload: CapturePayload = {
    v: 1,
    sessionId: SESSION,
    nonce: challenge.nonce,
    attempt: 1,
    ...capture,
    log: { seq: log.seq, hash: log.hash },
  }
  const judgement = judgeCapture({
    payload,
    challenge: plan,
    log,
    attempt: 1,
    mismatches: 0,
    wantsAge: true,
    acceptModel: ({ id }) => id === MODELS.id,
  })
  return { seed, plan, payload, log, judgement, views, tookMs }
}

function chain(moments: readonly Moment[]): LaunchEvent[] {
  let hash: string = CHAIN_START
  return moments.map((moment, index) => {
    const event = { seq: index + 1, ...moment }
    hash = createHash('sha256').update(eventText(hash, event)).digest('base64url')
    return { ...event, hash }
  })
}

test('the judge accepts a person who does what the page asks, whatever the challenge', async () => {
  for (const seed of SEEDS) {
    const { judgement, log } = await judged(seed)
    assert.deepEqual([seed, judgement.failure, judgement.flags, log.flags], [seed, null, [], []])
    assert.ok(Math.abs(judgement.estimateYears - 34) < 2, `${judgement.estimateYears}`)
  }
})

describe('the judge accepts it on a slow device too:', () => {
  const devices = {
    'a camera with 15 pictures a second': { frameMs: 66 },
    'an engine that takes 250 ms to look and 1,200 to measure': { lookMs: 250, measureMs: 1200 },
    'a quick one': { frameMs: 16, lookMs: 15, measureMs: 60 },
  }
  for (const [name, device] of Object.entries(devices)) {
    test(name, async () => {
      for (const seed of SEEDS.slice(0, 8)) {
        const { judgement, log } = await judged(seed, device)
        assert.deepEqual([seed, judgement.failure, judgement.flags, log.flags], [seed, null, [], []])
      }
    })
  }
})

test('the page’s capture fits the schema of the contract, and the submit has at most 2,048 bytes', async () => {
  const { publicJwk } = await createSealKeyPair()
  for (const seed of SEEDS.slice(0, 20)) {
    const { payload } = await judged(seed)
    const whole = { ...payload, indicators: '0'.repeat(21), browser: { kind: 'ordinary' } }
    assert.deepEqual([...Value.Errors(CapturePayload, whole)], [])
    const sealed = await sealPayload(publicJwk, SESSION, whole)
    const bytes = new TextEncoder().encode(JSON.stringify({ sessionId: SESSION, sealed })).length
    assert.ok(bytes <= 2048, `${bytes} bytes with ${payload.frames.length} frames`)
  }
})

test('the judge recognises every movement that the page recognised', async () => {
  for (const seed of SEEDS.slice(0, 30)) {
    const { views, judgement } = await judged(seed)
    if (views.at(-1)?.movementsSeen === 3) assert.equal(judgement.mismatch, false, `seed ${seed}`)
  }
})

test('a person who does not move has not followed the challenge', async () => {
  for (const seed of SEEDS.slice(0, 10)) {
    const person = createPerson({ random: seeded(seed), answer: () => undefined })
    const { judgement, views } = await judged(seed, { person })
    assert.deepEqual([judgement.failure, judgement.mismatch], ['LIVENESS_INCONCLUSIVE', true])
    assert.equal(views.at(-1)?.movementsSeen, 0)
  }
})

test('a photograph is recognised as one', async () => {
  for (const seed of SEEDS.slice(0, 10)) {
    const person = createPerson({ random: seeded(seed), answer: () => undefined })
    const still = person.measuredAt(0)
    const { judgement } = await judged(seed, {
      sight: ({ faces }) => ({ faces, face: still.face }),
      person: { ...person, measuredAt: (atMs) => ({ ...person.measuredAt(atMs), face: still.face }) },
    })
    assert.equal(judgement.failure, 'SPOOF')
    assert.ok(judgement.flags.includes('BH_FRAMES_STATIC'))
  }
})
