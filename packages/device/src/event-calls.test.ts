import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LaunchEvent, SealedLog } from '@ostiary/contract'
import { EVENTS_PER_CALL } from '@ostiary/contract/limits'
import { LAUNCH_PATHS } from '@ostiary/contract/paths'
import { CHAIN_START, chainEvent, createSealKeyPair, openPayload } from '@ostiary/crypto'
import { createDevice } from './device.ts'

const SESSION = '0d4f1c52-7a43-4c1e-9a55-9e0f6a8f8b11'
const LIMITS = { sessionId: SESSION, maxBytes: 4096, maxInflatedBytes: 16_384 }
const state = { sessionId: SESSION, state: 'READY', role: 'holder', attempt: 0, flowStatus: null, errors: [] }
const seal = await createSealKeyPair()
const opened = { ...state, locale: 'nb', verification: null, sealKey: seal.publicJwk, eventsTravel: true }
const { eventsTravel: _new, ...openedBefore } = opened
const capture = { model: { id: 'm', hash: 'h' }, estimate: { age: 300, spread: 9, frames: 6 }, live: 950, frames: [] }
const facts = {} as Parameters<Awaited<ReturnType<typeof createDevice>>['submitDocument']>[0]

const ANSWERS: Readonly<Record<string, object>> = {
  [LAUNCH_PATHS.open]: opened,
  [LAUNCH_PATHS.challenge]: { nonce: 'n-1', attempt: 1, steps: [], sampleAtMs: [], expiresAt: '' },
  [LAUNCH_PATHS.document]: { nonce: 'd-1', attempt: 1 },
}

interface Sent {
  path: string
  body: Record<string, unknown> & { events?: LaunchEvent[] }
  /** What is sealed in the body. */
  payload?: { log: SealedLog }
}

type Answer = (sent: Sent) => Response | undefined

const unknownField = () =>
  Response.json({ code: 'VALIDATION_FAILED', message: '/body/events is not known' }, { status: 400 })

const unreadable = () => Response.json({ code: 'INVALID_PAYLOAD' }, { status: 400 })

/** A process of the last release: it says nothing about entries that travel, and refuses them. */
const lastRelease: Answer = ({ path, body, payload }) => {
  if (path === LAUNCH_PATHS.open) return Response.json(openedBefore)
  if (payload?.log.events) return unreadable()
  return body.events && path !== LAUNCH_PATHS.events ? unknownField() : undefined
}

/** Records what the device sends. The API tests use the real service. */
async function device(answer: Answer = () => undefined) {
  const sent: Sent[] = []
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const body = JSON.parse(new TextDecoder().decode(init?.body as Uint8Array))
    const payload = body.sealed && ((await openPayload(seal.privateJwk, body.sealed, LIMITS)) as Sent['payload'])
    const call: Sent = { path: new URL(String(url)).pathname, body, payload }
    sent.push(call)
    return answer(call) ?? Response.json(ANSWERS[call.path] ?? state)
  }
  let monotonic = 0
  const clock = { nowMs: () => 1_794_700_800_123, monotonicMs: () => (monotonic += 10) }
  const it = await createDevice({ baseUrl: 'http://127.0.0.1:1', sessionId: SESSION, platform: 'mobile', clock, fetch })
  return { it, sent }
}

/** Each call, with the numbers of the entries that came with it, or inside its payload. */
const linesOf = (sent: readonly Sent[]) =>
  sent.map(({ path, body, payload }) => {
    const name = path.replace('/launch/api/', '')
    const { seq = 0, events } = payload?.log ?? {}
    if (events) return `${name} (${seq - events.length + 1}-${seq})`
    const numbers = body.events?.map((event) => event.seq)
    return numbers ? `${name} ${numbers[0]}-${numbers.at(-1)}` : name
  })

/** From the opening to the end of the document step, with a report of a failure between. */
async function visit(it: Awaited<ReturnType<typeof createDevice>>): Promise<void> {
  await it.logEvent('page_open')
  await it.open()
  await it.logEvent('consent_given')
  await it.consent(true)
  await it.logEvent('camera_ready')
  await it.challenge()
  await it.logEvent('challenge_received', 1)
  await it.failure(-10)
  await it.challenge()
  await it.logEvent('challenge_received', 2)
  await it.submit(capture)
  await it.documentStep()
  await it.logEvent('document_read', 1)
  await it.submitDocument(facts)
}

describe('the log', () => {
  test('travels with the next call that takes it, and no call is sent for it alone', async () => {
    const { it, sent } = await device()
    await visit(it)
    assert.deepEqual(linesOf(sent), [
      'open',
      'consent',
      'challenge 1-3',
      'failure 4-5',
      'challenge',
      'submit (6-7)',
      'document',
      'document/submit (8-9)',
    ])
    for (const { body } of [sent[5], sent[7]] as Sent[]) assert.deepEqual(Object.keys(body), ['sessionId', 'sealed'])
    assert.equal(await it.flushEvents(), undefined, 'nothing is left to send')
  })

  test('leads from the entries in the clear over those inside the payloads to the hashes that these name', async () => {
    const { it, sent } = await device()
    await visit(it)
    let hash = CHAIN_START
    let seq = 0
    for (const { body, payload } of sent) {
      const inside = payload?.log.events?.map(([t, type, n]) => ({ t, type, ...(n !== undefined && { n }) })) ?? []
      for (const { t, type, n } of [...(body.events ?? []), ...inside]) {
        seq += 1
        const event = { seq, t, type, ...(n !== undefined && { n }) }
        hash = (await chainEvent(hash, event)).hash
      }
      if (payload) assert.deepEqual([payload.log.seq, payload.log.hash], [seq, hash])
    }
    assert.equal(seq, 9)
  })

  test('is sent alone to a process that does not know that it travels', async () => {
    const { it, sent } = await device(lastRelease)
    await visit(it)
    assert.deepEqual(linesOf(sent), [
      'open',
      'consent',
      'events 1-3',
      'challenge',
      'events 4-5',
      'failure',
      'challenge',
      'events 6-7',
      'submit',
      'document',
      'events 8-9',
      'document/submit',
    ])
  })

  test('is sent alone after a process of the last release has refused it, until the session is opened again', async () => {
    let isOld = true
    const { it, sent } = await device((call) =>
      isOld && call.path !== LAUNCH_PATHS.open ? lastRelease(call) : undefined,
    )
    await it.open()
    await it.logEvent('page_open')
    assert.equal((await it.challenge()).nonce, 'n-1')
    await it.submit(capture)
    isOld = false
    await it.failure(-10)
    await it.open()
    await it.failure(-10)
    assert.deepEqual(linesOf(sent), [
      'open',
      'challenge 1-1',
      'events 1-1',
      'challenge',
      'events 2-2',
      'submit',
      'events 3-3',
      'failure',
      'open',
      'failure 4-4',
    ])
  })

  for (const [what, answer] of [
    ['cannot read it there', unreadable],
    ['finds the payload too large with it', () => Response.json({ code: 'PAYLOAD_TOO_LARGE' }, { status: 413 })],
  ] as const) {
    test(`leaves a payload and goes alone when the process ${what}`, async () => {
      const { it, sent } = await device(({ payload }) => (payload?.log.events ? answer() : undefined))
      await it.open()
      await it.challenge()
      await it.logEvent('challenge_received', 1)
      await it.submit(capture)
      await it.documentStep()
      await it.submitDocument(facts)
      assert.deepEqual(linesOf(sent).slice(2), [
        'submit (1-2)',
        'events 1-2',
        'submit',
        'document',
        'events 3-3',
        'document/submit',
      ])
      const [first, second] = [sent[2]?.payload, sent[4]?.payload]
      const { events: _inside, ...named } = first?.log ?? assert.fail('nothing was sealed')
      assert.deepEqual(second, { ...first, log: named }, 'all else is the same')
    })
  }

  test('that a sealed text holds is sent once, however often the text is, and later entries come later', async () => {
    let fails = 2
    const { it, sent } = await device(({ path }) =>
      path === LAUNCH_PATHS.submit && fails-- > 0 ? Response.error() : undefined,
    )
    await it.open()
    await it.challenge()
    await it.logEvent('submit')
    const sealed = await it.seal(await it.payloadOf(capture))
    await it.logEvent('tab_hidden')
    for (const _ of [1, 2]) await assert.rejects(it.submitSealed(sealed))
    await it.submitSealed(sealed)
    await it.failure(-10)
    assert.deepEqual(linesOf(sent).slice(2), ['submit (1-1)', 'submit (1-1)', 'submit (1-1)', 'failure 2-3'])
    assert.equal(new Set(sent.slice(2, 5).map(({ body }) => body.sealed)).size, 1, 'the same text')
  })

  test('that was written before a text of another device is sent alone before it', async () => {
    const { it, sent } = await device()
    const { it: other } = await device()
    for (const one of [it, other]) {
      await one.open()
      await one.challenge()
      await one.logEvent('submit')
    }
    await it.submitSealed(await other.seal({ ...(await other.payloadOf(capture)), log: { seq: 1, hash: 'h' } }))
    assert.deepEqual(linesOf(sent).slice(2), ['events 1-1', 'submit'])
  })

  test('and what the user needs are both left out where a process of the last release takes neither', async () => {
    const { it, sent } = await device((call) => {
      if (call.path === LAUNCH_PATHS.challenge && call.body.cannot) return unknownField()
      return call.path === LAUNCH_PATHS.open ? undefined : lastRelease(call)
    })
    await it.open()
    await it.logEvent('page_open')
    await it.challenge(undefined, { cannot: ['turn'] })
    assert.deepEqual(linesOf(sent), ['open', 'challenge 1-1', 'events 1-1', 'challenge', 'challenge'])
    assert.deepEqual(sent.at(-1)?.body, { sessionId: SESSION, attempt: 1 })
  })

  for (const [what, answer] of [
    ['was lost', () => Response.error()],
    ['is not at this step', () => Response.json({ code: 'SESSION_NOT_OPEN' }, { status: 409 })],
    ['comes too often', () => Response.json({ code: 'RATE_LIMITED' }, { status: 429 })],
    ['does not fit', () => Response.json({ code: 'INVALID_PAYLOAD', details: [] }, { status: 400 })],
  ] as const) {
    test(`travels again with the next call when one ${what}`, async () => {
      let fails = true
      const { it, sent } = await device(({ path }) => (fails && path !== LAUNCH_PATHS.open ? answer() : undefined))
      await it.open()
      await it.logEvent('page_open')
      await assert.rejects(it.challenge())
      fails = false
      await it.challenge()
      await it.logEvent('tab_hidden')
      fails = true
      await assert.rejects(it.submit(capture))
      fails = false
      await it.submit(capture)
      assert.deepEqual(linesOf(sent).slice(1), ['challenge 1-1', 'challenge 1-1', 'submit (2-3)', 'submit (2-4)'])
    })
  }

  test('travels with its last part alone when it is longer than one call takes', async () => {
    const { it, sent } = await device()
    await it.open()
    for (let at = 0; at < 2 * EVENTS_PER_CALL + 20; at++) await it.logEvent('tab_hidden')
    await it.challenge()
    for (let at = 0; at < EVENTS_PER_CALL; at++) await it.logEvent('tab_hidden')
    await it.submit(capture)
    assert.deepEqual(linesOf(sent).slice(1), [
      'events 1-50',
      'events 51-70',
      'challenge 71-120',
      'events 121-121',
      'submit (122-171)',
    ])
  })
})
