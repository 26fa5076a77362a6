import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { assertError, createHarness } from '../../testing/harness.ts'
import { untilBlocked } from '../../testing/locks.ts'
import { purgeIdempotencyKeys } from './index.ts'

const harness = await createHarness()
const { tenantId, key } = await harness.tenantWithKey()

/** Creates a record of the string store: the simplest create that takes an `Idempotency-Key`. Other areas use the same code. */
const create = (idempotencyKey: string, value: string, { apiKey = key, server = harness } = {}) =>
  server.inject({
    method: 'POST',
    url: '/strings',
    headers: { 'x-api-key': apiKey, 'idempotency-key': idempotencyKey },
    payload: { value },
  })

const HOUR = 3_600_000

test('a repeated create returns the first record, with the header Idempotency-Replayed', async () => {
  const first = await create('order-1', 'a')
  const again = await create('order-1', 'a')
  assert.equal(first.headers['idempotency-replayed'], undefined)
  assert.equal(again.headers['idempotency-replayed'], 'true')
  assert.deepEqual(
    [again.statusCode, again.json(), again.headers.location],
    [201, first.json(), first.headers.location],
  )
})

test('forty equal creates at the same time create one record', async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, () => create('concurrent', 'b')))
  assert.deepEqual([...new Set(answers.map(({ statusCode }) => statusCode))], [201])
  assert.equal(new Set(answers.map((answer) => answer.json().id)).size, 1)
  assert.equal(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true').length, 39)
})

/** Keeps a transaction from using the idempotency keys that there are, until `free` is called. */
async function holdKeys(): Promise<{ free(): Promise<void> }> {
  const client = new pg.Client(harness.database.url)
  await client.connect()
  await client.query('begin')
  await client.query('select from idempotency_keys for update')
  return { free: () => client.end() }
}

test('equal creates at the same time take one connection, and other tenants have the rest', async () => {
  const other = await harness.tenantWithKey()
  await create('contended', 'b')
  const keys = await holdKeys()
  const waiting = Promise.all(Array.from({ length: 40 }, () => create('contended', 'b')))
  await untilBlocked(harness.database)
  const reads = await Promise.all(
    Array.from({ length: 20 }, () =>
      harness.inject({ method: 'GET', url: '/strings', headers: { 'x-api-key': other.key } }),
    ),
  )
  const { rows } = await harness.database.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  await keys.free()
  assert.deepEqual([...new Set(reads.map(({ statusCode }) => statusCode))], [200])
  assert.equal(rows.length, 1, 'connections that wait for the key')
  assert.deepEqual([...new Set((await waiting).map(({ statusCode }) => statusCode))], [201])
})

test('429: more than 100 equal creates at the same time', async () => {
  await create('flood', 'b')
  const keys = await holdKeys()
  const sent = Promise.all(
    Array.from({ length: 103 }, async () => {
      const answer = await create('flood', 'b')
      if (answer.statusCode !== 201) await keys.free()
      return answer
    }),
  )
  const refused = (await sent).filter(({ statusCode }) => statusCode !== 201)
  assert.equal(refused.length, 3)
  for (const answer of refused) {
    assertError(answer, 429, 'RATE_LIMITED', 'Too many equal requests at once', { retryAfter: 1 })
    assert.equal(answer.headers['retry-after'], '1')
  }
})

test('409: another body with the same key', async () => {
  await create('order-2', 'a')
  const response = await create('order-2', 'b')
  assert.deepEqual(response.json(), {
    statusCode: 409,
    message: 'This Idempotency-Key was used with another request',
    code: 'IDEMPOTENCY_MISMATCH',
    requestId: response.headers['x-request-id'],
  })
})

test('409: the same key and bytes with another media type; a charset makes no difference', async () => {
  const send = (type: string) =>
    harness.inject({
      method: 'POST',
      url: '/strings',
      headers: { 'x-api-key': key, 'idempotency-key': 'media type', 'content-type': type },
      payload: '{"value":"x"}',
    })
  assert.equal((await send('application/json')).statusCode, 201)
  assert.equal((await send('application/json; charset=utf-8')).headers['idempotency-replayed'], 'true')
  assert.equal((await send('text/plain')).statusCode, 409)
})

test('410: the record was deleted; the table of keys holds neither its content nor the key in clear', async () => {
  const { id } = (await create('order-3', 'private words')).json()
  await harness.inject({ method: 'DELETE', url: `/strings/${id}`, headers: { 'x-api-key': key } })
  const response = await create('order-3', 'private words')
  assert.deepEqual(response.json(), {
    statusCode: 410,
    message: 'The string that this Idempotency-Key created is gone',
    code: 'GONE',
    requestId: response.headers['x-request-id'],
  })
  const { rows } = await harness.database.query('select * from idempotency_keys')
  assert.ok(!JSON.stringify(rows).includes('private words') && !JSON.stringify(rows).includes('order-3'))
})

test('the same idempotency key is separate for each tenant, and for test and live mode of one tenant', async () => {
  const otherTenant = await harness.tenantWithKey()
  const live = await harness.wire.keys.service.createKey(tenantId, {
    livemode: true,
    name: 'live',
    scopes: ['strings:rw'],
    allowedIps: [],
  })
  const ids = [
    await create('shared', 'x'),
    await create('shared', 'x', { apiKey: otherTenant.key }),
    await create('shared', 'x', { apiKey: live.api_key }),
  ].map((answer) => answer.json().id)
  assert.equal(new Set(ids).size, 3)
})

test('400: an empty, over-long or unprintable key', async () => {
  for (const bad of ['', 'x'.repeat(256), 'a\tb']) {
    const response = await create(bad, 'x')
    assert.deepEqual(
      response.json().details,
      [{ pointer: '/headers/idempotency-key', message: 'must be 1 to 255 printable characters' }],
      JSON.stringify(bad),
    )
  }
  assert.equal((await create('x'.repeat(255), 'x')).statusCode, 201)
})

test('a failed create does not use up its key', async () => {
  const refused = await harness.inject({
    method: 'POST',
    url: '/strings',
    headers: { 'x-api-key': key, 'idempotency-key': 'retry' },
    payload: { value: '' },
  })
  assert.equal(refused.statusCode, 400)
  assert.equal((await create('retry', 'a valid value')).statusCode, 201)
})

test('after 24 hours a key creates a new record; the purge deletes expired keys and keeps the others', async () => {
  // A server of its own, because its clock is moved.
  const server = await createHarness()
  const { key: apiKey } = await server.tenantWithKey()
  const createdId = async (idempotencyKey: string) => (await create(idempotencyKey, 'v', { apiKey, server })).json().id
  const first = await createdId('daily')
  server.clock.advance(24 * HOUR - 1)
  assert.equal(await createdId('daily'), first)
  server.clock.advance(1)
  const second = await createdId('daily')
  assert.notEqual(second, first, 'an expired key is free even before the purge deletes it')
  await createdId('fresh')
  const expiredKeys = 6_000
  await server.database.query(
    `insert into idempotency_keys (tenant_id, key_hash, fingerprint, resource_id, created_at, expires_at)
    select tenant_id, decode(lpad(to_hex(n), 64, '0'), 'hex'), fingerprint, resource_id, created_at, $1
    from idempotency_keys, generate_series(1, $2::int) n
    where key_hash = (select key_hash from idempotency_keys order by created_at limit 1)`,
    [server.clock.now(), expiredKeys],
  )
  const { db } = server.wire.platform.cells.all()[0] ?? assert.fail()
  assert.equal(await purgeIdempotencyKeys(db, server.clock.now()), expiredKeys, 'in more than one batch')
  assert.equal(await createdId('daily'), second)
})
