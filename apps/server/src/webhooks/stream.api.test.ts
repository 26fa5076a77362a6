// spec-kind: webhook
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { describe, test } from 'node:test'
import { EVENT_LIMITS, type EventPage, type StreamEvent } from '@ostiary/contract'
import { verifyWebhook } from '@ostiary/crypto'
import { eventually } from '@ostiary/testkit/eventually'
import { figureAtMost } from '@ostiary/testkit/measuring/test-figure'
import { createAgeFixture, type Host, LEAST } from '../age/testing/fixture.ts'
import { sql } from '../platform/db.ts'
import { closeGently } from '../platform/http.ts'
import { startStopwatch } from '../testing/stopwatch.ts'
import { createVerificationFixture } from '../verification/testing/fixture.ts'

const BOTH = ['age:write', 'age:read', 'verify:write', 'verify:read'] as const
const INBOX = 'http://localhost:8080/events/inbox'

const fixture = await createVerificationFixture()
const [address] = fixture.harness.app.addresses()
assert.ok(typeof address === 'object')
const origin = `http://127.0.0.1:${address.port}`

const newHost = () => fixture.age.newHost({ scopes: [...BOTH] })

async function read({ call }: Pick<Host, 'call'>, query = 'cursor=start'): Promise<EventPage> {
  const answer = await call('GET', `/events?${query}`)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

async function ended(host: Host, body: object = {}): Promise<string> {
  const { sessionId } = await host.create(body)
  await host.outcome(sessionId)
  return sessionId
}

function assertRefused({ statusCode, body }: { statusCode: number; body: string }, status: number, code: string): void {
  assert.deepEqual([statusCode, JSON.parse(body).code], [status, code], body)
}

const sessionsOf = (events: readonly StreamEvent[]) => events.map(({ sessionId }) => sessionId)

/** Reads server-sent events until the test closes the connection. Each has a connection of its own, which is gone when it is closed. */
function listen({ key }: Host, headers: Record<string, string> = {}) {
  const accepts = { 'x-api-key': key, accept: 'text/event-stream', ...headers }
  const request = get(`${origin}/events`, { agent: false, headers: accepts })
  const seen: string[] = []
  const opened = once(request, 'response').then(([response]: IncomingMessage[]) => {
    assert.ok(response)
    return response
  })
  const done = opened.then(async (response) => {
    let rest = ''
    for await (const chunk of response.setEncoding('utf8')) {
      rest += chunk
      const blocks = rest.split('\n\n')
      rest = blocks.pop() ?? ''
      seen.push(...blocks)
    }
  })
  done.catch(() => {})
  return { opened, done, seen, close: () => request.destroy() }
}

describe('what is in the stream', () => {
  test('the exact body and the headers of the delivery, with signatures that verify', async () => {
    const host = await newHost()
    fixture.receiver.received.length = 0
    const sessionId = await ended(host, {
      callback: { url: fixture.receiver.url, headers: { Authorization: 'Bearer x' } },
    })
    await fixture.harness.wire.webhooks.dispatcher.tick()
    const [delivery] = fixture.receiver.received
    const { items } = await read(host)
    const [event] = items
    assert.ok(event && delivery)
    assert.deepEqual(sessionsOf(items), [sessionId])
    assert.equal(event.body, delivery.body.toString())
    for (const [name, value] of Object.entries(event.headers)) assert.equal(delivery.headers[name], value, name)
    assert.equal(event.id, delivery.headers['x-service-delivery'])
    assert.equal(event.headers.authorization, undefined, 'the callback’s own headers stay sealed')
    const { 'x-service-timestamp': timestamp = '', 'x-service-signature': signature = '' } = event.headers
    assert.ok(await verifyWebhook({ apiKey: host.key, timestamp, signature, body: event.body }))
  })

  test('sessions without a callback are in it, and nothing is queued for them', async () => {
    const host = await newHost()
    const sessionId = await ended(host)
    const { items, cursor } = await read(host)
    assert.deepEqual(sessionsOf(items), [sessionId])
    assert.equal(items[0]?.body, (await host.call('GET', `/session/${await tokenOf(items)}/result`)).body)
    assert.deepEqual((await host.call('GET', '/webhooks/deliveries')).json().items, [])
    assert.deepEqual(await read(host, `cursor=${cursor}`), { items: [], cursor })
  })

  test('without a cursor it begins now, and each event has its own cursor', async () => {
    const host = await newHost()
    await ended(host)
    const { items, cursor } = await read(host, '')
    assert.deepEqual(items, [])
    const [second, third] = [await ended(host), await ended(host)]
    const page = await read(host, `cursor=${cursor}`)
    assert.deepEqual(sessionsOf(page.items), [second, third])
    const rest = await read(host, `cursor=${page.items[0]?.cursor}`)
    assert.deepEqual(sessionsOf(rest.items), [third])
    const one = await read(host, `cursor=${cursor}&limit=1`)
    assert.deepEqual([sessionsOf(one.items), one.cursor], [[second], page.items[0]?.cursor])
  })

  test('a picture is never in it', async () => {
    const host = await fixture.newHost()
    const { sessionId } = await host.create('ENROLL', { sendImages: true })
    const person = { puid: randomUUID(), guid: randomUUID() }
    await fixture.conclude(sessionId, { state: 'SUCCESS', person, matchedBy: 'server', selfie: 'c2VsZmll' })
    const { items } = await read(host)
    assert.deepEqual(sessionsOf(items), [sessionId])
    assert.ok(items[0]?.body.includes('"images":[]') && !items[0].body.includes('c2VsZmll'), items[0]?.body)
  })
})

async function tokenOf(items: readonly StreamEvent[]): Promise<string> {
  return JSON.parse(items[0]?.body ?? '{}').token
}

describe('the inbox', () => {
  test('a test key of area D delivers to the stream and nowhere else', async () => {
    const host = await fixture.newHost()
    const { sessionId } = await host.create('ENROLL', { callback: { url: INBOX, headers: { 'X-Shop': 'a' } } })
    await host.outcome(sessionId)
    assert.deepEqual((await host.call('GET', '/webhooks/deliveries')).json().items, [])
    const { rows } = await fixture.harness.database.query('select 1 from webhook_queue where tenant_id = $1', [
      host.tenantId,
    ])
    assert.deepEqual([rows, sessionsOf((await read(host)).items)], [[], [sessionId]])
  })

  test('a live key is refused, as is any other place of this installation', async () => {
    const live = await fixture.age.newHost({ livemode: true })
    const refused = await live.call('POST', '/session', { ...LEAST, callback: { url: INBOX } })
    assert.equal(refused.statusCode, 400)
    assert.match(refused.body, /only a test key can send its events to the inbox/)
    const host = await fixture.newHost()
    for (const url of [
      'http://localhost:8080/events',
      `${INBOX}/`,
      `${INBOX}?a=1`,
      'http://localhost:8081/events/inbox',
    ]) {
      const body = { type: 'ENROLL', redirectURL: 'https://shop.example/', callback: { url } }
      assert.equal((await host.call('POST', '/v2/verification-session', body)).statusCode, 400, url)
    }
  })

  test('takes no request', async () => {
    const answer = await fixture.harness.inject({ method: 'POST', url: '/events/inbox', payload: {} })
    assertRefused(answer, 404, 'NOT_FOUND')
    assert.match(answer.json().message, /Nothing is received here/)
  })
})

describe('who may read', () => {
  test('a key reads the areas of its scopes, and the cursor moves over the others', async () => {
    const host = await newHost()
    const age = await ended(host)
    const { sessionId: enrolled } = (
      await host.call('POST', '/v2/verification-session', {
        ...{ type: 'ENROLL', redirectURL: 'https://shop.example/', callback: { url: INBOX } },
      })
    ).json()
    await host.outcome(enrolled, { outcome: 'success' } as never)
    const onlyAge = await fixture.age.sibling(host, { scopes: ['age:read'] })
    const onlyVerify = await fixture.age.sibling(host, { scopes: ['verify:read'] })
    assert.deepEqual(sessionsOf((await read(host)).items), [age, enrolled])
    const page = await read(onlyAge)
    assert.deepEqual([sessionsOf(page.items), page.cursor], [[age], (await read(host)).cursor])
    assert.deepEqual(sessionsOf((await read(onlyVerify)).items), [enrolled])
    const neither = await fixture.age.sibling(host, { scopes: ['age:write'] })
    assertRefused(await neither.call('GET', '/events'), 403, 'SCOPE_DENIED')
    assertRefused(await fixture.harness.inject('/events'), 401, 'MISSING_API_KEY')
  })

  test('tenants and modes never meet: neither their events nor their cursors', async () => {
    const [one, other] = [await newHost(), await newHost()]
    await ended(one)
    const { cursor } = await read(one)
    assert.deepEqual((await read(other)).items, [])
    assertRefused(await other.call('GET', `/events?cursor=${cursor}`), 400, 'VALIDATION_FAILED')
    assertRefused(await one.call('GET', '/events?cursor=nonsense'), 400, 'VALIDATION_FAILED')
  })

  test('results of area D need the client credentials that the tenant requires', async () => {
    const settings = { clientCredentials: 'always' } as const
    const host = await fixture.newHost({ settings })
    const wanted = { livemode: false, name: 'shop', publicKeys: [] }
    const client = await fixture.harness.wire.keys.clients.create(host.tenantId, wanted)
    const authorization = `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}`
    for (const accept of ['application/json', 'text/event-stream']) {
      const refused = await host.call('GET', '/events?cursor=start', undefined, { accept })
      assertRefused(refused, 401, 'INVALID_CLIENT_CREDENTIALS')
    }
    const wrong = { authorization: `Basic ${Buffer.from(`${client.client_id}:wrong`).toString('base64')}` }
    assertRefused(await host.call('GET', '/events', undefined, wrong), 401, 'INVALID_CLIENT_CREDENTIALS')
    assert.equal((await host.call('GET', '/events', undefined, { authorization })).statusCode, 200)
    const onlyAge = await fixture.age.newHost({ scopes: ['age:read'], settings })
    assert.equal((await onlyAge.call('GET', '/events')).statusCode, 200)
  })

  test('[X-021] by default a live key is refused, and live events are not stored: of live data there are webhooks only', async () => {
    const live = await fixture.age.newHost({ livemode: true, scopes: [...BOTH] })
    const { token } = await live.create()
    assert.equal((await live.call('POST', `/session/${token}/cancel`)).statusCode, 200)
    assertRefused(await live.call('GET', '/events'), 403, 'SCOPE_DENIED')
    const { rows } = await fixture.harness.database.query('select 1 from stream_events where tenant_id = $1', [
      live.tenantId,
    ])
    assert.deepEqual(rows, [])
  })
})

describe('waiting', () => {
  test('a waiting call is answered as soon as an event is committed', async () => {
    const host = await newHost()
    const { cursor } = await read(host, '')
    const waiting = read(host, `cursor=${cursor}&wait=25`)
    const sessionId = await ended(host)
    assert.deepEqual(sessionsOf((await waiting).items), [sessionId])
  })

  test('server-sent events: id, name and data, a comment in between, and resumed by Last-Event-ID', async () => {
    const host = await newHost()
    const first = listen(host)
    assert.equal((await first.opened).headers['content-type'], 'text/event-stream; charset=utf-8')
    await eventually(() => first.seen.length > 0)
    const sessionId = await ended(host)
    const block = await eventually(() => first.seen.find((one) => one.includes('data: ')))
    const [, id, name, data = ''] = /^id: (.+)\nevent: (.+)\ndata: (.+)$/.exec(block) ?? []
    const event: StreamEvent = JSON.parse(data)
    assert.deepEqual([event.sessionId, event.cursor, name], [sessionId, id, 'age.session.completed'])
    fixture.harness.clock.advance(EVENT_LIMITS.heartbeatSeconds * 1000)
    await eventually(() => first.seen.some((one) => one.startsWith(': still here')))
    first.close()
    const missed = await ended(host)
    const second = listen(host, { 'last-event-id': id ?? '' })
    await eventually(() => second.seen.some((one) => one.includes(missed)))
    assert.ok(!second.seen.some((one) => one.includes(sessionId)))
    second.close()
  })

  test('the eleventh stream of a key is refused, and one that ends makes room', async () => {
    const host = await newHost()
    const streams = Array.from({ length: EVENT_LIMITS.streamsPerKey }, () => listen(host))
    for (const { opened } of streams) assert.equal((await opened).statusCode, 200)
    const refused = await host.call('GET', '/events?wait=25')
    assertRefused(refused, 429, 'RATE_LIMITED')
    assert.match(refused.json().message, /has 10 event streams open/)
    await read(host, 'cursor=start')
    streams.pop()?.close()
    const again = await eventually(async () => {
      const next = listen(host)
      return (await next.opened).statusCode === 200 && next
    })
    for (const stream of [...streams, again]) stream.close()
  })

  test('the stream of a revoked key ends', async () => {
    const host = await newHost()
    const stream = listen(host)
    await stream.opened
    await fixture.harness.wire.keys.service.revokeKey(host.keyId)
    // The key is cached for five seconds of the clock, which stands still here.
    fixture.harness.clock.advance(6_000)
    await stream.done.catch(() => {})
    assert.equal((await host.call('GET', '/events')).statusCode, 403)
  })
})

test('a revoked key reads nothing more, however much there is to read', async () => {
  const host = await newHost()
  await ended(host)
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  const { promise: locked, resolve: hasLocked } = Promise.withResolvers<void>()
  // The stream is opened with a good key, and cannot look yet.
  const lock = fixture.harness.wire.platform.cells.forId(host.tenantId).transaction(async (tx) => {
    await tx.run(sql('test.lock_stream', 'lock table stream_events in access exclusive mode'), [])
    hasLocked()
    await held
  })
  await locked
  const stream = listen(host, { 'last-event-id': 'start' })
  await eventually(() => stream.seen.length > 0)
  await fixture.harness.wire.keys.service.revokeKey(host.keyId)
  fixture.harness.clock.advance(6_000)
  letGo()
  await Promise.all([lock, stream.done])
  assert.ok(!stream.seen.some((block) => block.includes('data: ')), stream.seen.join('\n'))
})

describe('what ends an event', () => {
  test('the deletion of its session', async () => {
    const host = await newHost()
    const { sessionId, token } = await host.create()
    await host.outcome(sessionId)
    const kept = await ended(host)
    assert.equal((await host.call('DELETE', `/session/${token}`)).statusCode, 204)
    assert.deepEqual(await read(host).then(({ items, missed }) => [sessionsOf(items), missed]), [[kept], undefined])
  })

  test('the clock of the sandbox, and the reader learns that something was missed', async () => {
    const host = await newHost()
    const { cursor } = await read(host, '')
    await ended(host)
    const advanced = await host.call('POST', '/test/clock/advance', { seconds: 40 * 24 * 3600 })
    assert.equal(advanced.statusCode, 204, advanced.body)
    const page = await read(host, `cursor=${cursor}`)
    assert.deepEqual([page.items, page.missed], [[], true])
    assert.equal((await read(host, `cursor=${page.cursor}`)).missed, undefined)
    assert.equal((await read(host)).missed, undefined, 'the oldest that is kept misses nothing')
  })
})

test('where the operator allows it, live events are stored and live keys read them', async () => {
  const allowed = await createAgeFixture({ EVENTS_LIVE: 'true' })
  const live = await allowed.newHost({ livemode: true })
  const { token, sessionId } = await live.create()
  await live.call('POST', `/session/${token}/cancel`)
  const { items } = await read(live)
  assert.deepEqual(
    items.map((one) => [one.sessionId, one.livemode, one.event]),
    [[sessionId, true, 'age.session.cancelled']],
  )
})

// The last test: it closes the API.
test('a process that is to end does not wait for open streams', async () => {
  const host = await newHost()
  const { cursor } = await read(host, '')
  const stream = listen(host)
  await stream.opened
  const waiting = read(host, `cursor=${cursor}&wait=25`)
  await eventually(() => stream.seen.length > 0)
  const ranMs = startStopwatch()
  await Promise.all([closeGently(fixture.harness.app), stream.done, waiting])
  await figureAtMost('webhooks.close-with-open-streams-ms', 5_000, ranMs())
})
