import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import type { LaunchEvent } from '@ostiary/contract'
import { DOCUMENT_SCAN_ERROR, DOCUMENT_UNREADABLE } from '@ostiary/contract/codes'
import { EVENTS_PER_CALL } from '@ostiary/contract/limits'
import { LAUNCH_PATHS } from '@ostiary/contract/paths'
import { bodyHash, createSealKeyPair, openPayload, verifyProof } from '@ostiary/crypto'
import { createDevice, type DeviceOptions } from './device.ts'
import { DeviceError } from './signed-calls.ts'

const SESSION = '0d4f1c52-7a43-4c1e-9a55-9e0f6a8f8b11'
const NOW = 1_794_700_800_123
const state = {
  sessionId: SESSION,
  state: 'OPENED',
  role: 'holder',
  attempt: 1,
  attemptsLeft: 2,
  expiresAt: '2026-11-15T00:00:00.000Z',
  flowStatus: null,
  errors: [],
  redirectUrl: null,
  livemode: false,
}
const seal = await createSealKeyPair()
const opened = { ...state, requirements: ['face'], locale: 'nb', consentVersion: 'c1', sealKey: seal.publicJwk }
const challenge = { nonce: 'n-1', attempt: 2, steps: [], sampleAtMs: [], expiresAt: state.expiresAt }

interface Sent {
  method: string
  url: string
  proof: string
  body: Record<string, unknown> | undefined
  bytes: Uint8Array
}

/** Records what the device sends. The API tests use the real service. */
async function device(answers: Partial<Record<string, () => Response>> = {}, more: Partial<DeviceOptions> = {}) {
  const sent: Sent[] = []
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const bytes = init?.body instanceof Uint8Array ? init.body : new Uint8Array()
    const body = bytes.length === 0 ? undefined : JSON.parse(new TextDecoder().decode(bytes))
    const proof = new Headers(init?.headers).get('x-device-proof') ?? ''
    const { pathname } = new URL(String(url))
    sent.push({ method: init?.method ?? '', url: String(url), proof, body, bytes })
    const known: Record<string, unknown> = { [LAUNCH_PATHS.open]: opened, [LAUNCH_PATHS.challenge]: challenge }
    // Without the lock, a later call would overtake this one.
    await new Promise((resolve) => setTimeout(resolve, 10 - 2 * sent.length))
    return answers[pathname]?.() ?? Response.json(known[pathname] ?? state)
  }
  let monotonic = 1000.4
  const clock = { nowMs: () => NOW, monotonicMs: () => (monotonic += 10) }
  const options = {
    baseUrl: 'http://127.0.0.1:1/',
    sessionId: SESSION,
    platform: 'mobile',
    clock,
    fetch,
    ...more,
  } as const
  return { it: await createDevice(options), sent, options }
}

const eventsOf = (call: Sent | undefined) => (call?.body?.events ?? []) as LaunchEvent[]
const paths = (sent: readonly Sent[]) => sent.map(({ url }) => new URL(url).pathname.replace('/launch/api/', ''))

async function counters(sent: readonly Sent[], key: Parameters<typeof verifyProof>[0]): Promise<number[]> {
  const proofs = sent.map(async ({ method, url, proof, bytes }) => {
    const expected = { sessionId: SESSION, method, path: new URL(url).pathname, bodyHash: await bodyHash(bytes) }
    return verifyProof(key, proof, { ...expected, window: { nowSeconds: Math.floor(NOW / 1000), seconds: 0 } })
  })
  return (await Promise.all(proofs)).map(({ counter }) => counter)
}

test('concurrent calls are sent one at a time, each signed over its own bytes with the next counter', async () => {
  const { it, sent } = await device()
  await Promise.all([it.open('h-1'), it.challenge(), it.handoff(), it.takeBack(), it.cancel()])
  assert.deepEqual(paths(sent), ['open', 'challenge', 'handoff', 'take-back', 'cancel'])
  assert.deepEqual(await counters(sent, it.publicKey), [1, 2, 3, 4, 5])
  assert.deepEqual(sent[0]?.body, {
    sessionId: SESSION,
    deviceKey: it.publicKey,
    platform: 'mobile',
    clientTime: NOW,
    handoffCode: 'h-1',
  })
  assert.deepEqual(sent[4]?.body, { sessionId: SESSION })
})

describe('the time zone', () => {
  const zonesOf = (sent: readonly Sent[]) => sent.map(({ body }) => body?.utcOffsetMinutes)

  test('goes with every open, unless no time zone has such an offset', async () => {
    for (const [utcOffsetMinutes, expected] of [
      [-210, -210],
      [0, 0],
      [840, 840],
      [841, undefined],
      [0.5, undefined],
      [undefined, undefined],
    ] as const) {
      const { it, sent } = await device({}, { utcOffsetMinutes })
      await it.open()
      assert.deepEqual(zonesOf(sent), [expected])
    }
  })

  test('is left out when a process of the last release refuses it, and the call counts on', async () => {
    const refusal = { statusCode: 400, code: 'VALIDATION_FAILED', message: '/body/utcOffsetMinutes is not known' }
    const answers = [Response.json(refusal, { status: 400 }), Response.json(opened)]
    const old = { [LAUNCH_PATHS.open]: () => answers.shift() ?? Response.error() }
    const { it, sent } = await device(old, { utcOffsetMinutes: 60 })
    assert.equal((await it.open('h-1')).state, 'OPENED')
    assert.deepEqual(zonesOf(sent), [60, undefined])
    assert.equal(sent[1]?.body?.handoffCode, 'h-1')
    assert.deepEqual(await counters(sent, it.publicKey), [1, 2])
  })

  test('is not left out for another refusal', async () => {
    const refusal = { statusCode: 409, code: 'HANDOFF_REFUSED', message: 'This handoff code has expired' }
    const answers = { [LAUNCH_PATHS.open]: () => Response.json(refusal, { status: 409 }) }
    const { it, sent } = await device(answers, { utcOffsetMinutes: 60 })
    await assert.rejects(it.open('h-1'), (error) => error instanceof DeviceError && error.code === 'HANDOFF_REFUSED')
    assert.deepEqual(zonesOf(sent), [60])
  })
})

test('a refused call does not block the next one, and its error has the service’s answer', async () => {
  const refusal = { statusCode: 429, code: 'RATE_LIMITED', message: 'Slower', retryAfter: 7 }
  const { it, sent } = await device({ [LAUNCH_PATHS.open]: () => Response.json(refusal, { status: 429 }) })
  const [refused, later] = await Promise.allSettled([it.open(), it.cancel()])
  assert.equal(later.status, 'fulfilled')
  assert.ok(refused.status === 'rejected' && refused.reason instanceof DeviceError)
  const { status, code, message, retryAfterSeconds } = refused.reason
  assert.deepEqual([status, code, message, retryAfterSeconds], [429, 'RATE_LIMITED', 'Slower', 7])
  assert.deepEqual(await counters(sent, it.publicKey), [1, 2])
})

test('a lost connection and an invalid answer are distinct from refusals', async () => {
  const lost = await device({
    [LAUNCH_PATHS.cancel]: () => {
      throw new TypeError('fetch failed')
    },
  })
  await assert.rejects(lost.it.cancel(), { name: 'DeviceError', status: 0, code: 'NETWORK_LOST' })
  const odd = await device({ [LAUNCH_PATHS.cancel]: () => new Response('<html>', { status: 502 }) })
  await assert.rejects(odd.it.cancel(), { name: 'DeviceError', status: 502, code: 'UNKNOWN' })
})

test('the last state is the latest answer of any call', async () => {
  const ended = { ...state, flowStatus: 'CANCELLED', redirectUrl: 'https://shop.example/' }
  const { it } = await device({ [LAUNCH_PATHS.cancel]: () => Response.json(ended) })
  assert.equal(it.lastState, undefined)
  await it.open()
  assert.deepEqual(it.lastState, opened)
  await it.challenge()
  assert.deepEqual(it.lastState, opened, 'a challenge is no state')
  await it.cancel()
  assert.deepEqual(it.lastState, ended)
})

test('consent names the version of this release’s text, not one that the service sent, and the language that was shown', async () => {
  const { it, sent } = await device()
  assert.throws(() => it.consent(true), /open\(\) first/)
  await it.open()
  await it.consent(true)
  assert.deepEqual(sent[1]?.body, { sessionId: SESSION, accepted: true, version: '2', locale: 'nb' })
  assert.equal(it.consentVersionBefore(), '1')
  await it.consent(true, 'de', '7')
  assert.deepEqual(sent[2]?.body, { sessionId: SESSION, accepted: true, version: '7', locale: 'de' })
})

const LIMITS = { sessionId: SESSION, maxBytes: 4096, maxInflatedBytes: 16_384 }
const capture = { model: { id: 'm', hash: 'h' }, estimate: { age: 300, spread: 9, frames: 6 }, live: 950, frames: [] }

test('submit ends the log, sends it first, and seals the capture with the last entry', async () => {
  const { it, sent } = await device()
  await it.open()
  await it.challenge()
  await it.logEvent('page_open')
  await it.submit(capture)
  assert.deepEqual(paths(sent), ['open', 'challenge', 'events', 'submit'])
  const events = eventsOf(sent[2])
  assert.deepEqual(
    events.map(({ seq, type }) => [seq, type]),
    [
      [1, 'page_open'],
      [2, 'submit'],
    ],
  )
  assert.deepEqual(await openPayload(seal.privateJwk, String(sent[3]?.body?.sealed), LIMITS), {
    v: 1,
    sessionId: SESSION,
    nonce: 'n-1',
    attempt: 2,
    ...capture,
    log: { seq: 2, hash: events[1]?.hash },
  })
  assert.equal(await it.flushEvents(), undefined, 'nothing is left to send')
  assert.equal(sent.length, 4)
})

test('a selfie is sealed separately from the capture', async () => {
  const jpeg = new Uint8Array(20_000).map((_byte, at) => at % 251)
  const expected = { jpeg: Buffer.from(jpeg).toString('base64') }
  const limits = { sessionId: SESSION, maxBytes: 200_000, maxInflatedBytes: 200_000 }
  const { it, sent } = await device()
  await it.open()
  await it.challenge()
  await it.submit(capture, jpeg)
  const { sealed, selfie } = sent.at(-1)?.body ?? {}
  assert.ok(typeof sealed === 'string' && sealed !== selfie)
  assert.deepEqual(await openPayload(seal.privateJwk, String(selfie), limits), expected)
  await it.submitSealed('sealed', await it.sealSelfie(jpeg))
  assert.deepEqual(await openPayload(seal.privateJwk, String(sent.at(-1)?.body?.selfie), limits), expected)
  await it.submitSealed('sealed')
  assert.deepEqual(sent.at(-1)?.body, { sessionId: SESSION, sealed: 'sealed' })
})

test('the passkey step fetches options and sends the authenticator’s answer', async () => {
  const asked = { mode: 'get', options: { challenge: 'c' } }
  const { it, sent } = await device({ [LAUNCH_PATHS.passkeyOptions]: () => Response.json(asked) })
  assert.deepEqual(await it.passkeyOptions(), asked)
  assert.deepEqual(await it.passkeyVerify({ id: 'x' }), state)
  assert.deepEqual(paths(sent), ['passkey/options', 'passkey/verify'])
  assert.deepEqual(sent[1]?.body, { sessionId: SESSION, response: { id: 'x' } })
  assert.deepEqual(it.lastState, state)
})

test('if something is logged during a submit, the payload names the last entry that was sent before it', async () => {
  for (let ticks = 0; ticks < 16; ticks++) {
    const { it, sent } = await device()
    await it.open()
    await it.challenge()
    const submitted = it.submit(capture)
    for (let i = 0; i < ticks; i++) await (ticks % 2 === 0 ? Promise.resolve() : new Promise(setImmediate))
    await Promise.all([it.logEvent('tab_hidden'), submitted])
    const { seq, hash } = eventsOf(sent[2]).at(-1) ?? {}
    const payload = await openPayload(seal.privateJwk, String(sent[3]?.body?.sealed), LIMITS)
    assert.deepEqual(payload, { ...(await it.payloadOf(capture)), log: { seq, hash } }, `after ${ticks} ticks`)
    await it.flushEvents()
    assert.equal(eventsOf(sent.at(-1)).at(-1)?.seq ?? seq, 2, 'nothing is lost')
  }
})

test('a long log is sent in parts, and a part that was not accepted is sent again', async () => {
  let refuses = true
  const { it, sent } = await device({
    [LAUNCH_PATHS.events]: () =>
      refuses && sent.length === 2 ? Response.json({ code: 'DEPENDENCY_DOWN' }, { status: 503 }) : Response.json(state),
  })
  for (let i = 0; i < 2 * EVENTS_PER_CALL - 10; i++) await it.logEvent('tab_hidden')
  await assert.rejects(it.flushEvents(), { status: 503 })
  refuses = false
  await it.flushEvents()
  const numbers = sent.map((call) => eventsOf(call).map(({ seq }) => seq))
  assert.deepEqual(
    numbers.map((part) => [part[0], part.at(-1)]),
    [
      [1, 50],
      [51, 90],
      [51, 90],
    ],
  )
})

test('taking a session back starts a new log, later than the old one', async () => {
  const { it, sent } = await device()
  await it.logEvent('page_open')
  await it.flushEvents()
  await it.logEvent('tab_hidden')
  await it.takeBack()
  await it.logEvent('page_open')
  await it.flushEvents()
  const [event] = eventsOf(sent[2])
  const hash = createHash('sha256')
    .update(`v1\n${'A'.repeat(43)}\n1\n30\npage_open\n`)
    .digest('base64url')
  assert.deepEqual(eventsOf(sent[2]).length, 1)
  assert.deepEqual(event, { seq: 1, t: 30, type: 'page_open', hash })
})

test('the new log exists before the call to take back, so a saved device is right even if the answer is lost', async () => {
  const kept: unknown[] = []
  const { it } = await device({
    [LAUNCH_PATHS.takeBack]: () => {
      kept.push(it.save())
      throw new TypeError('fetch failed')
    },
  })
  await it.logEvent('page_open')
  await it.flushEvents()
  await assert.rejects(it.takeBack(), DeviceError)
  const [saved] = (await Promise.all(kept)) as Awaited<ReturnType<typeof it.save>>[]
  assert.deepEqual([saved?.log.seq, saved?.log.pending], [0, []])
})

test('a call names its try, so that it counts once even if its answer is lost', async () => {
  const at = (where: string, attempt: number) => ({ ...state, state: where, attempt })
  let server = at('READY', 1)
  let lose = false
  const answer = (body: object) => {
    if (lose) throw new TypeError('fetch failed')
    return Response.json(body)
  }
  const { it, sent } = await device({
    [LAUNCH_PATHS.consent]: () => Response.json(server),
    [LAUNCH_PATHS.events]: () => Response.json(server),
    [LAUNCH_PATHS.challenge]: () => {
      server = at('FACE_ACTIVE', 2)
      return answer(challenge)
    },
    [LAUNCH_PATHS.failure]: () => {
      server = at('READY', 2)
      return answer(server)
    },
  })
  const attempts = (name: string) => sent.filter(({ url }) => url.endsWith(name)).map(({ body }) => body?.attempt)
  const losing = async (call: () => Promise<unknown>) => {
    lose = true
    for (let times = 0; times < 2; times++) {
      await assert.rejects(call(), DeviceError)
      await it.logEvent('tab_hidden')
      await it.flushEvents()
    }
    lose = false
    await call()
  }
  await it.open()
  await it.consent(true)
  await losing(() => it.challenge())
  assert.deepEqual(attempts('/challenge'), [2, 2, 2])
  await losing(() => it.failure(-10))
  assert.deepEqual(attempts('/failure'), [2, 2, 2], 'the one under way')
  await it.failure(-7)
  assert.deepEqual(attempts('/failure').at(-1), 3, 'the next one')
})

test('a report without an answer does not give its try to another report', async () => {
  let lose = true
  const { it, sent } = await device({
    [LAUNCH_PATHS.consent]: () => Response.json({ ...state, state: 'DOC_ACTIVE', attempt: 1 }),
    [LAUNCH_PATHS.events]: () => Response.json(state),
    [LAUNCH_PATHS.document]: () => Response.json({ nonce: 'd1', attempt: 1 }),
    [LAUNCH_PATHS.failure]: () => {
      if (lose) throw new TypeError('fetch failed')
      return Response.json(state)
    },
  })
  await it.open()
  await it.consent(true)
  await it.documentStep()
  await assert.rejects(it.failure(DOCUMENT_SCAN_ERROR), DeviceError)
  lose = false
  await it.failure(DOCUMENT_UNREADABLE)
  const reports = sent.filter(({ url }) => url.endsWith('/failure')).map(({ body }) => [body?.code, body?.attempt])
  assert.deepEqual(reports, [
    [DOCUMENT_SCAN_ERROR, 2],
    [DOCUMENT_UNREADABLE, 1],
  ])
})

test('a failure is logged with its code before it is reported', async () => {
  const { it, sent } = await device()
  await it.failure(-3, 'camera_denied')
  assert.deepEqual(paths(sent), ['events', 'failure'])
  assert.deepEqual(
    eventsOf(sent[0]).map(({ type, n }) => [type, n]),
    [['failure', -3]],
  )
  assert.deepEqual(sent[1]?.body, { sessionId: SESSION, code: -3, reason: 'camera_denied', attempt: 1 })
})

test('a saved device continues with its key, counter and log, and its time never goes back', async () => {
  const first = await device()
  await first.it.open()
  await first.it.logEvent('page_open')
  await first.it.logEvent('consent_shown')
  const saved = structuredClone(await first.it.save())
  assert.equal(saved.keys.privateKey.extractable, false)
  const second = await device({}, { saved })
  await second.it.logEvent('consent_given')
  await second.it.flushEvents()
  assert.deepEqual(second.it.publicKey, first.it.publicKey)
  assert.deepEqual(await counters([...first.sent, ...second.sent], first.it.publicKey), [1, 2])
  const events = eventsOf(second.sent[0])
  assert.deepEqual(
    events.map(({ seq, t, type }) => [seq, t, type]),
    [
      [1, 10, 'page_open'],
      [2, 20, 'consent_shown'],
      [3, 30, 'consent_given'],
    ],
  )
  let before = 'A'.repeat(43)
  for (const { seq, t, type, hash } of events) {
    assert.equal(createHash('sha256').update(`v1\n${before}\n${seq}\n${t}\n${type}\n`).digest('base64url'), hash)
    before = hash
  }
})

test('watching reports each state until the flow ends, and reconnects when the stream breaks', async () => {
  const event = (value: object) => `event: state\ndata: ${JSON.stringify(value)}\n\n`
  const ended = { ...state, state: 'COMPLETED', flowStatus: 'COMPLETED' }
  const streams = [event(state), `${event({ ...state, state: 'READY' })}${event(ended)}${event(state)}`]
  const { it, sent } = await device({ [LAUNCH_PATHS.status]: () => new Response(streams.shift()) })
  const seen: string[] = []
  await it.watch((one) => seen.push(one.state), AbortSignal.timeout(10_000))
  assert.deepEqual(seen, ['OPENED', 'READY', 'COMPLETED'])
  assert.deepEqual(it.lastState, ended)
  assert.deepEqual(await counters(sent, it.publicKey), [1, 2])
  assert.equal(sent[0]?.url, `http://127.0.0.1:1/launch/api/status?sessionId=${SESSION}`)
})

test('watching ends with the signal, and rejects when the service refuses', async () => {
  const { it } = await device({ [LAUNCH_PATHS.status]: () => Response.json({ code: 'GONE' }, { status: 410 }) })
  await assert.rejects(
    it.watch(() => {}, AbortSignal.timeout(5_000)),
    { status: 410, code: 'GONE' },
  )
  await it.watch(() => assert.fail(), AbortSignal.abort())
})
