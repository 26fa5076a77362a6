import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, test } from 'node:test'
import type { WebhookDelivery, WebhookDeliveryPage } from '@ostiary/contract'
import { assertError } from '../testing/harness.ts'
import { createFixture, type Tenant } from './testing/fixture.ts'
import { type Receiver, status } from './testing/receiver.ts'

let tenant: Tenant
let receiver: Receiver
const fixture = await createFixture()
beforeEach(async () => {
  await fixture.harness.database.query('truncate webhook_queue, webhook_endpoints')
  tenant = await fixture.newTenant()
  receiver = await fixture.newReceiver()
})

const UNKNOWN_ID = '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa'
// A UUIDv7 of the year 10889, which does not fit into a date of the database.
const FAR_FUTURE_ID = 'ffffffff-ffff-7fff-bfff-ffffffffffff'
const PATH = '/webhooks/deliveries'
const advance = (ms: number) => fixture.harness.clock.advance(ms)
const iso = (offsetMs = 0) => new Date(fixture.harness.clock.now().getTime() + offsetMs).toISOString()
const tick = () => fixture.dispatcher.tick()
const get = (url: string, key = tenant.key) => fixture.harness.inject({ url, headers: { 'x-api-key': key } })
const post = (url: string, payload?: object, key = tenant.key) =>
  fixture.harness.inject({ method: 'POST', url, headers: { 'x-api-key': key }, ...(payload && { payload }) })
const list = async (query = '', key = tenant.key): Promise<WebhookDeliveryPage> =>
  (await get(`${PATH}${query}`, key)).json()
const idsOf = ({ items }: WebhookDeliveryPage) => items.map(({ id }) => id)

/** One delivery of each kind, oldest first: delivered, dead, pending after one failure, pending. */
async function oneOfEach(): Promise<{ delivered: string; dead: string; failed: string; waiting: string }> {
  const delivered = await fixture.enqueue(tenant, { url: receiver.url })
  await tick()
  advance(1)
  receiver.answer(status(410))
  const dead = await fixture.enqueue(tenant, { url: receiver.url })
  await tick()
  advance(1)
  receiver.answer(status(404))
  const failed = await fixture.enqueue(tenant, { url: receiver.url })
  await tick()
  receiver.answer(status(200))
  advance(1)
  return { delivered, dead, failed, waiting: await fixture.enqueue(tenant, { url: receiver.url }) }
}

describe('GET /webhooks/deliveries/:id', () => {
  test('200: a delivery and its attempts; origin only, neither path nor headers nor body', async () => {
    const sessionId = randomUUID()
    const createdAt = iso()
    const url = `${receiver.origin}/marked-path?marked-query`
    const marked = { headers: { 'x-a': 'marked-header' }, body: Buffer.from('"marked-body"') }
    const id = await fixture.enqueue(tenant, { url, subjectId: sessionId, sequence: 2, ...marked })
    const basic = {
      id,
      event: 'age.session.completed',
      sessionId,
      sequence: 2,
      origin: receiver.origin,
      createdAt,
      deletedAt: iso(86_400_000),
      livemode: false,
    }
    assert.deepEqual((await get(`${PATH}/${id}`)).json(), {
      ...basic,
      state: 'pending',
      attempts: 0,
      nextAttemptAt: createdAt,
      attemptLog: [],
    })
    receiver.answer(status(503, { 'retry-after': '600' }))
    advance(1_000)
    await tick()
    const first = {
      attempt: 1,
      startedAt: iso(),
      durationMs: 0,
      outcome: 'failed',
      status: 503,
      nextAttemptAt: iso(600_000),
    }
    assert.deepEqual((await get(`${PATH}/${id}`)).json(), {
      ...basic,
      state: 'pending',
      attempts: 1,
      nextAttemptAt: iso(600_000),
      attemptLog: [first],
    })
    receiver.answer(status(204))
    advance(600_000)
    await tick()
    const second = { attempt: 2, startedAt: iso(), durationMs: 0, outcome: 'delivered', status: 204 }
    const response = await get(`${PATH}/${id}`)
    assert.equal(response.statusCode, 200)
    assert.deepEqual(response.json(), {
      ...basic,
      state: 'delivered',
      attempts: 2,
      deliveredAt: iso(),
      attemptLog: [first, second],
    })
    assert.ok(!response.body.includes('marked'))
  })

  test('200: the same under /v1', async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    assert.deepEqual((await get(`/v1${PATH}/${id}`)).json(), (await get(`${PATH}/${id}`)).json())
  })

  test('404: unknown and malformed ids', async () => {
    for (const id of [UNKNOWN_ID, FAR_FUTURE_ID, 'none', `${UNKNOWN_ID}x`]) {
      assertError(await get(`${PATH}/${id}`), 404, 'NOT_FOUND', 'There is no webhook delivery with this id')
    }
  })
})

describe('GET /webhooks/deliveries', () => {
  test('200: newest first, by state, by session, since a moment; pages are complete and without repeats', async () => {
    const start = iso()
    const { delivered, dead, failed, waiting } = await oneOfEach()
    const all = [waiting, failed, dead, delivered]
    assert.deepEqual(idsOf(await list()), all)
    assert.deepEqual(idsOf(await list('?state=delivered')), [delivered])
    assert.deepEqual(idsOf(await list('?state=dead')), [dead])
    assert.deepEqual(idsOf(await list('?state=pending')), [waiting, failed])
    const { sessionId } = (await list('?state=dead')).items[0] ?? {}
    assert.deepEqual(idsOf(await list(`?sessionId=${sessionId}`)), [dead])
    assert.deepEqual(idsOf(await list(`?sessionId=${sessionId}&state=dead`)), [dead])
    assert.deepEqual(idsOf(await list(`?sessionId=${sessionId}&state=pending`)), [])
    assert.deepEqual(idsOf(await list(`?sessionId=${randomUUID()}`)), [])
    assert.deepEqual(await list('?sessionId=nonsense'), { items: [], count: 0, nextCursor: null })
    assert.deepEqual(idsOf(await list(`?since=${start}`)), all)
    assert.deepEqual(idsOf(await list('?since=0000-01-01T00:00:00Z')), all)
    assert.deepEqual(idsOf(await list('?since=9999-12-31T23:59:59Z')), [])
    assert.deepEqual(idsOf(await list(`?since=${iso(-1)}`)), [waiting, failed])
    assert.deepEqual(idsOf(await list(`?since=${iso(-1)}&state=pending`)), [waiting, failed])
    assert.deepEqual(idsOf(await list(`?since=${iso(1)}`)), [])

    for (const state of ['', '&state=pending']) {
      const seen: WebhookDelivery[] = []
      let cursor = ''
      for (;;) {
        const page = await list(`?limit=1${state}${cursor}`)
        assert.equal(page.count, 1)
        seen.push(...page.items)
        if (page.nextCursor === null) break
        cursor = `&cursor=${page.nextCursor}`
      }
      assert.deepEqual(seen, (await list(`?limit=200${state}`)).items)
    }
  })

  test('200: a delivered one is found after very many that are not delivered', async () => {
    const delivered = await fixture.enqueue(tenant, { url: receiver.url })
    await tick()
    advance(1)
    const { keyId, tenantId } = tenant
    const now = fixture.harness.clock.now()
    const one = { tenantId, keyId, livemode: false, area: 'age' as const, event: 'e', sequence: 1, headers: {}, now }
    const rest = {
      subjectId: randomUUID(),
      url: receiver.url,
      body: Buffer.of(),
      purgeAt: new Date(now.getTime() + 60_000),
    }
    const db = fixture.harness.wire.platform.cells.forId(tenantId)
    await fixture.webhooks.enqueue(db, Array(4_001).fill({ ...one, ...rest }))
    const page = await list('?state=delivered')
    assert.deepEqual([idsOf(page), page.nextCursor], [[delivered], null])
    await fixture.webhooks.enqueue(db, Array(4_000).fill({ ...one, ...rest }))
    const first = await list('?state=delivered')
    assert.deepEqual(idsOf(first), [], 'one call looks at so many and no more')
    const second = await list(`?state=delivered&cursor=${first.nextCursor}`)
    assert.deepEqual([idsOf(second), second.nextCursor], [[delivered], null])
  })

  test('200: an item is the delivery without its attempts', async () => {
    const { dead } = await oneOfEach()
    const { attemptLog: _, ...delivery } = (await get(`${PATH}/${dead}`)).json()
    assert.equal(delivery.deadReason, 'gone')
    assert.deepEqual((await list('?state=dead')).items, [delivery])
  })

  test('400: an invalid limit, state, time or cursor', async () => {
    for (const [query, pointer] of [
      ['?limit=201', '/query/limit'],
      ['?limit=0', '/query/limit'],
      ['?state=lost', '/query/state'],
      ['?since=yesterday', '/query/since'],
      ['?since=2026-11-15', '/query/since'],
      ['?cursor=nonsense', '/query/cursor'],
      [`?cursor=${Buffer.from(FAR_FUTURE_ID).toString('base64url')}`, '/query/cursor'],
      ['?other=1', '/query/other'],
    ]) {
      const response = await get(`${PATH}${query}`)
      assert.deepEqual([response.statusCode, response.json().details[0].pointer], [400, pointer], query)
    }
    const leap = await get(`${PATH}?since=2030-06-30T23:59:60Z`)
    assert.deepEqual(leap.json().details, [{ pointer: '/query/since', message: 'is not a time of the clock' }])
  })
})

describe('POST /webhooks/deliveries/:id/replay', () => {
  test('200: a dead one is sent again with the same id and body; attempt numbers continue, the schedule restarts', async () => {
    const { dead } = await oneOfEach()
    const response = await post(`${PATH}/${dead}/replay`)
    assert.equal(response.statusCode, 200)
    const { state, attempts, nextAttemptAt, deadAt, deadReason } = response.json()
    assert.deepEqual(
      { state, attempts, nextAttemptAt, deadAt, deadReason },
      { state: 'pending', attempts: 1, nextAttemptAt: iso(), deadAt: undefined, deadReason: undefined },
    )
    receiver.received.splice(0)
    receiver.answer(
      (answer, { headers }) => void answer.writeHead(headers['x-service-delivery'] === dead ? 400 : 200).end(),
    )
    await tick()
    const again = receiver.received.find(({ headers }) => headers['x-service-delivery'] === dead)
    assert.equal(again?.headers['x-service-attempt'], '2')
    const waitMs = Date.parse((await get(`${PATH}/${dead}`)).json().nextAttemptAt) - Date.parse(iso())
    assert.ok(waitMs >= 4_000 && waitMs <= 6_000, `${waitMs} ms: the first wait again`)
  })

  test('200: a delivered one and one that waits for its next attempt are sent at once', async () => {
    const { delivered, failed } = await oneOfEach()
    for (const id of [delivered, failed]) assert.equal((await post(`${PATH}/${id}/replay`)).json().state, 'pending')
    receiver.received.splice(0)
    await tick()
    const numbers = new Map(
      receiver.received.map(({ headers }) => [headers['x-service-delivery'], headers['x-service-attempt']]),
    )
    assert.deepEqual([numbers.get(delivered), numbers.get(failed)], ['2', '2'])
    const { state, attempts, attemptLog } = (await get(`${PATH}/${delivered}`)).json()
    assert.deepEqual([state, attempts, attemptLog.length], ['delivered', 2, 2])
  })

  test('404: unknown and malformed ids, and deliveries that are due for purging', async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url, purgeAt: new Date(Date.parse(iso(1_000))) })
    advance(1_000)
    for (const gone of [id, UNKNOWN_ID, FAR_FUTURE_ID, 'none']) {
      assertError(await post(`${PATH}/${gone}/replay`), 404, 'NOT_FOUND', 'There is no webhook delivery with this id')
    }
  })
})

describe('POST /webhooks/replay', () => {
  test('200: restarts the dead ones since a time, or the delivered ones, or both; never pending ones', async () => {
    const start = iso()
    await oneOfEach()
    assert.deepEqual((await post('/webhooks/replay', { since: iso(1) })).json(), { count: 0, continueFrom: null })
    const response = await post('/webhooks/replay', { since: start })
    assert.deepEqual([response.statusCode, response.json()], [200, { count: 1, continueFrom: null }])
    assert.equal((await list('?state=pending')).count, 3)
    assert.deepEqual((await post('/webhooks/replay', { since: start })).json().count, 0)
    assert.deepEqual((await post('/webhooks/replay', { since: start, state: 'delivered' })).json().count, 1)
    assert.equal((await list('?state=pending')).count, 4)
    receiver.answer(status(200))
    advance(10_000)
    await tick()
    assert.equal((await list('?state=delivered')).count, 4)
    assert.deepEqual((await post('/webhooks/replay', { since: start, state: 'all' })).json().count, 4)
    await tick()
    assert.deepEqual(
      (await list()).items.map(({ state, attempts }) => [state, attempts]),
      [
        ['delivered', 2],
        ['delivered', 3],
        ['delivered', 3],
        ['delivered', 3],
      ],
    )
  })

  test('400: without a time, or with an unknown state', async () => {
    for (const [body, pointer] of [
      [{}, '/body/since'],
      [{ since: 'yesterday' }, '/body/since'],
      [{ since: iso(), state: 'pending' }, '/body/state'],
      [{ since: iso(), more: 1 }, '/body/more'],
    ] as const) {
      const response = await post('/webhooks/replay', body)
      assert.deepEqual([response.statusCode, response.json().details[0].pointer], [400, pointer])
    }
  })
})

describe('access to deliveries', () => {
  test('no other tenant and no other mode lists, reads or replays a delivery', async () => {
    const { dead } = await oneOfEach()
    const start = iso(-3_600_000)
    const stranger = await fixture.newTenant()
    const live = await fixture.harness.wire.keys.service.createKey(tenant.tenantId, {
      livemode: true,
      name: 'live',
      scopes: ['age:read', 'age:write'],
      allowedIps: [],
    })
    for (const key of [stranger.key, live.api_key]) {
      assertError(await get(`${PATH}/${dead}`, key), 404, 'NOT_FOUND', 'There is no webhook delivery with this id')
      assertError(
        await post(`${PATH}/${dead}/replay`, undefined, key),
        404,
        'NOT_FOUND',
        'There is no webhook delivery with this id',
      )
      for (const query of ['', '?state=dead', '?state=pending', '?state=delivered']) {
        assert.equal((await list(query, key)).count, 0)
      }
      for (const state of ['dead', 'delivered', 'all']) {
        assert.equal((await post('/webhooks/replay', { since: start, state }, key)).json().count, 0)
      }
    }
    assert.equal((await list('?state=dead')).count, 1)
  })

  test('401 without a key, 403 without the scope', async () => {
    const read = await fixture.harness.tenantWithKey({ scopes: ['age:read'] })
    const write = await fixture.harness.tenantWithKey({ scopes: ['age:write'] })
    assert.equal((await fixture.harness.inject(PATH)).statusCode, 401)
    assert.equal((await get(PATH, read.key)).statusCode, 200)
    assertError(await get(PATH, write.key), 403, 'SCOPE_DENIED', 'This API key lacks the scope age:read or verify:read')
    assertError(
      await post('/webhooks/replay', { since: iso() }, read.key),
      403,
      'SCOPE_DENIED',
      'This API key lacks the scope age:write or verify:write',
    )
    assert.equal((await post('/webhooks/replay', { since: iso() }, write.key)).statusCode, 200)
  })
})
