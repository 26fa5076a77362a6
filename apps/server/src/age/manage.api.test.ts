import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertError } from '../testing/harness.ts'
import { createAgeHost, endedBody } from './testing/fixture.ts'

const { fixture, host } = await createAgeHost()

const HOST_CANCELLED = { errors: [-38], errorDetails: [{ code: -38, name: 'HOST_CANCELLED' }] }
const gone = [410, 'GONE', 'The session is over and deleted'] as const
const unknown = [404, 'NOT_FOUND', 'There is no session with this token'] as const
const deliveriesOf = async (sessionId: string) =>
  (await host.call('GET', `/webhooks/deliveries?sessionId=${sessionId}`)).json().items

describe('GET /session/:token', () => {
  test('200: the state of the flow, without the result', async () => {
    const { token, sessionId, expiresAt } = await host.create({ metadata: { order: 'A-7' } })
    const createdAt = fixture.harness.clock.now().toISOString()
    const expected = { sessionId, createdAt, expiresAt, livemode: false, metadata: { order: 'A-7' } }
    const read = async () => (await host.call('GET', `/session/${token}`)).json()
    assert.deepEqual(await read(), { ...expected, state: 'CREATED', flowStatus: null, endedAt: null })
    await host.outcome(sessionId)
    assert.deepEqual(await read(), { ...expected, state: 'COMPLETED', flowStatus: 'COMPLETED', endedAt: createdAt })
  })

  test('404 and 410', async () => {
    const { token, sessionId } = await host.create()
    assertError(await host.call('GET', `/session/${sessionId}`), ...unknown)
    await host.outcome(sessionId)
    await host.call('DELETE', `/session/${token}`)
    assertError(await host.call('GET', `/session/${token}`), ...gone)
  })
})

describe('POST /session/:token/cancel', () => {
  test('200: the flow ends as CANCELLED with -38, without a verdict, and the webhook is sent', async () => {
    const created = await host.create({ callback: { url: fixture.receiver.url } })
    const cancelled = await host.call('POST', `/session/${created.token}/cancel`)
    assert.equal(cancelled.statusCode, 200)
    assert.equal(cancelled.headers['content-type'], 'application/json; charset=utf-8')
    const expected = endedBody(created, { flowStatus: 'CANCELLED', outcome: 'CANCELLED', ...HOST_CANCELLED })
    assert.deepEqual(cancelled.json(), expected)
    assert.deepEqual(await host.result(created.token), expected)
    const [{ event, state }] = await deliveriesOf(created.sessionId)
    assert.deepEqual([event, state], ['age.session.cancelled', 'pending'])
  })

  test('409 when it has ended: by a verdict, by an earlier cancel, or by its expiry', async () => {
    const done = await host.create()
    await host.outcome(done.sessionId)
    const twice = await host.create()
    await host.call('POST', `/session/${twice.token}/cancel`)
    const late = await host.create({ sessionExpiry: 60 })
    fixture.harness.clock.advance(60_001)
    for (const [{ token }, flowStatus] of [
      [done, 'COMPLETED'],
      [twice, 'CANCELLED'],
      [late, 'EXPIRED'],
    ] as const) {
      const refused = await host.call('POST', `/session/${token}/cancel`)
      assertError(refused, 409, 'SESSION_NOT_OPEN', 'The session has ended')
      assert.equal((await host.result(token)).flowStatus, flowStatus)
    }
  })

  test('404 and 410', async () => {
    const { token, sessionId } = await host.create()
    assertError(await host.call('POST', `/session/${sessionId}/cancel`), ...unknown)
    await host.outcome(sessionId)
    await host.call('DELETE', `/session/${token}`)
    assertError(await host.call('POST', `/session/${token}/cancel`), ...gone)
  })

  test('two cancels and a verdict at the same moment: exactly one of them counts', async () => {
    for (let round = 0; round < 5; round++) {
      const { token, sessionId } = await host.create({ callback: { url: fixture.receiver.url } })
      const replies = await Promise.all([
        host.call('POST', `/session/${token}/cancel`),
        host.call('POST', `/test/sessions/${sessionId}/outcome`, {}),
        host.call('POST', `/session/${token}/cancel`),
      ])
      const statuses = replies.map(({ statusCode }) => statusCode)
      assert.equal(statuses.filter((status) => status < 300).length, 1, String(statuses))
      assert.equal(statuses.filter((status) => status === 409).length, 2)
      assert.equal((await deliveriesOf(sessionId)).length, 1)
    }
  })
})

describe('DELETE /session/:token', () => {
  test('204: the result, the metadata and the webhooks are gone at once, and so is the key', async () => {
    const marked = { order: 'MARKED-erased' }
    const { token, sessionId } = await host.create({ metadata: marked, callback: { url: fixture.receiver.url } })
    await host.outcome(sessionId)
    assert.equal((await deliveriesOf(sessionId)).length, 1)
    const erased = await host.call('DELETE', `/session/${token}`)
    assert.deepEqual([erased.statusCode, erased.body], [204, ''])
    assertError(await host.call('GET', `/session/${token}/result`), ...gone)
    assertError(await host.call('DELETE', `/session/${token}`), ...gone)
    assert.deepEqual(await deliveriesOf(sessionId), [])
    const { database, clock, wire } = fixture.harness
    const secrets = await database.query('select 1 from session_secrets where session_id = $1', [sessionId])
    assert.equal(secrets.rowCount, 0, 'the key of the session went with everything it sealed')
    const { rows } = await database.query('select state, metadata_tags, purge_at from sessions where session_id = $1', [
      sessionId,
    ])
    assert.deepEqual(rows, [{ state: 'PURGED', metadata_tags: null, purge_at: clock.now() }])
    const before = fixture.receiver.received.length
    await wire.webhooks.dispatcher.tick()
    assert.ok(fixture.receiver.received.slice(before).every(({ body }) => !body.toString().includes('MARKED-erased')))
    const filter = encodeURIComponent(JSON.stringify(marked))
    assert.equal((await host.call('GET', `/sessions?metadata=${filter}`)).json().count, 0)
  })

  test('409 while the flow is open, 204 when its time is over', async () => {
    const { token } = await host.create({ sessionExpiry: 60 })
    const open = await host.call('DELETE', `/session/${token}`)
    assertError(open, 409, 'SESSION_OPEN', 'The session is still open: cancel it first')
    fixture.harness.clock.advance(60_001)
    assert.equal((await host.call('DELETE', `/session/${token}`)).statusCode, 204)
  })

  test('404', async () => {
    const { sessionId } = await host.create()
    assertError(await host.call('DELETE', `/session/${sessionId}`), ...unknown)
  })
})

describe('GET /sessions', () => {
  test('200: newest first, page by page, each once', async () => {
    const many = await fixture.newHost()
    const made: string[] = []
    for (let n = 0; n < 7; n++) {
      made.unshift((await many.create({ metadata: { n } })).sessionId)
      // Some were created at the same moment.
      if (n % 2 === 0) fixture.harness.clock.advance(1_000)
    }
    const pages: { sessionId: string }[][] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await many.call('GET', `/sessions?limit=3${cursor && `&cursor=${cursor}`}`)
      const body = page.json()
      assert.deepEqual(Object.keys(body), ['items', 'count', 'nextCursor'])
      assert.equal(body.count, body.items.length)
      pages.push(body.items)
      cursor = body.nextCursor
    }
    assert.deepEqual(
      pages.map(({ length }) => length),
      [3, 3, 1],
    )
    assert.deepEqual(new Set(pages.flat().map(({ sessionId }) => sessionId)), new Set(made))
    const times = pages.flat().map((item) => ('createdAt' in item ? String(item.createdAt) : ''))
    assert.deepEqual(times, times.toSorted().reverse())
    assert.equal((await many.call('GET', '/sessions')).json().nextCursor, null)
  })

  test('200: by metadata: sessions that have all given values, with their types', async () => {
    const shop = await fixture.newHost()
    const create = async (metadata: object) => (await shop.create({ metadata })).sessionId
    const one = await create({ order: 'A-7', vip: true, lines: 3, nested: { order: 'A-9' } })
    const two = await create({ order: 'A-7', vip: false })
    await create({ order: 'a-7' })
    await create({})
    for (const [filter, expected] of [
      [{ order: 'A-7' }, [two, one]],
      [{ order: 'A-7', vip: true }, [one]],
      [{ vip: false }, [two]],
      [{ lines: 3 }, [one]],
      [{ lines: '3' }, []],
      [{ order: 'A-9' }, []],
      [{ order: 'A-7', lines: 4 }, []],
    ] as const) {
      const found = await shop.call('GET', `/sessions?metadata=${encodeURIComponent(JSON.stringify(filter))}`)
      const ids = found.json().items.map(({ sessionId }: { sessionId: string }) => sessionId)
      assert.deepEqual(new Set(ids), new Set(expected), JSON.stringify(filter))
    }
  })

  test('400: a wrong limit, cursor or filter is named', async () => {
    const filter = 'must be a JSON object of texts, numbers and booleans'
    for (const [query, pointer, message] of [
      ['limit=0', '/query/limit', 'must be >= 1'],
      ['limit=201', '/query/limit', 'must be <= 200'],
      ['cursor=bm9wZQ', '/query/cursor', 'is not a cursor from an earlier page'],
      ['metadata=order', '/query/metadata', filter],
      ['metadata=%7B%7D', '/query/metadata', filter],
      ['metadata=%5B%22a%22%5D', '/query/metadata', filter],
      ['metadata=%7B%22a%22%3Anull%7D', '/query/metadata', filter],
      ['order=A-7', '/query/order', 'is not a known field'],
    ] as const) {
      const refused = await host.call('GET', `/sessions?${query}`)
      const text = `The request is not valid: ${pointer} ${message}`
      assertError(refused, 400, 'VALIDATION_FAILED', text, { details: [{ pointer, message }] })
    }
  })

  test('an erased session is listed as PURGED without its metadata, and not at all when its tombstone is deleted', async () => {
    const short = await fixture.newHost()
    const { token, sessionId } = await short.create({ metadata: { order: 'A-7' } })
    const at = fixture.harness.clock.now().toISOString()
    await short.outcome(sessionId)
    await short.call('DELETE', `/session/${token}`)
    const list = async () => (await short.call('GET', '/sessions')).json()
    const times = { createdAt: at, expiresAt: at, endedAt: at }
    const tombstone = { sessionId, state: 'PURGED', flowStatus: null, ...times, livemode: false, metadata: {} }
    assert.deepEqual(await list(), { items: [tombstone], count: 1, nextCursor: null })
    fixture.harness.clock.advance(30 * 86_400_000)
    assertError(await short.call('GET', `/session/${token}`), ...unknown)
    assert.deepEqual(await list(), { items: [], count: 0, nextCursor: null })
  })

  test('a session whose retention has passed is not found by its metadata, before the purge as after it', async () => {
    const short = await fixture.newHost({ settings: { retentionSeconds: 3_600 } })
    const { sessionId } = await short.create({ metadata: { order: 'A-7' } })
    await short.outcome(sessionId)
    const find = async () => (await short.call('GET', '/sessions?metadata=%7B%22order%22%3A%22A-7%22%7D')).json().count
    assert.equal(await find(), 1)
    fixture.harness.clock.advance(3_600_000)
    assert.equal(await find(), 0)
  })
})
