import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import type { ApiClientRecord } from '@ostiary/contract'
import { bucketOf } from '../platform/ids.ts'
import { assertError, createHarness } from '../testing/harness.ts'
import { KEY_MAX_AGE_MS } from './cache.ts'
import { bucketOfClient } from './client.ts'
import { readClientKey, thumbprintOf } from './client-keys.ts'
import { createSigner } from './testing/assertions.ts'
import { basic, type CalledApp, createCalledApp, freshAddress } from './testing/called.ts'

const harness = await createHarness()
const called = createCalledApp(harness)
after(() => called.app.close())

/** A tenant with an API key and a client of the same mode. */
async function host(livemode = true, publicKeys: unknown[] = []) {
  const { tenantId, key } = await harness.tenantWithKey({ livemode, scopes: ['verify:write', 'verify:read'] })
  const client = await harness.wire.keys.clients.create(tenantId, { livemode, name: 'host', publicKeys })
  return {
    tenantId,
    key,
    client,
    secret: client.client_secret ?? '',
    headers: basic(client.client_id, client.client_secret),
  }
}

async function assertRefused(response: ReturnType<CalledApp['call']>): Promise<void> {
  assertError(await response, 401, 'INVALID_CLIENT_CREDENTIALS', 'Invalid client credentials')
}

/** The request had no credentials at all. */
async function assertMissing(response: ReturnType<CalledApp['call']>): Promise<void> {
  const { statusCode, code, message } = (await response).json()
  assert.deepEqual([statusCode, code], [401, 'INVALID_CLIENT_CREDENTIALS'])
  assert.match(message, /^Client credentials are missing: send client id and secret.*`ostiary clients create`/)
}

async function assertLetIn(response: ReturnType<CalledApp['call']>): Promise<void> {
  const { statusCode, body } = await response
  assert.deepEqual([statusCode, body], [204, ''])
}

test('a new client has its record, and the secret is shown once', async () => {
  const { tenantId, client } = await host()
  const expected: ApiClientRecord = {
    client_id: client.client_id,
    tenant_id: tenantId,
    livemode: true,
    name: 'host',
    keys: [],
    status: 'active',
    when_created: '2026-11-15T12:00:00.000Z',
  }
  assert.deepEqual(client, { ...expected, client_secret: client.client_secret })
  assert.match(client.client_secret ?? '', /^ostcs_live_[0-9a-z]{52}$/)
  assert.equal(bucketOfClient(client.client_id), bucketOf(tenantId))
  assert.deepEqual(await harness.wire.keys.clients.list(tenantId), [expected])
})

test('a client with public keys signs, and has no secret', async () => {
  const { publicJwk } = createSigner()
  const { tenantId, client } = await host(false, [publicJwk])
  assert.equal('client_secret' in client, false)
  assert.deepEqual(client.keys, [thumbprintOf(readClientKey(publicJwk))])
  assert.deepEqual(await harness.wire.keys.clients.list(tenantId), [client])
})

test('the database holds a hash of the secret and nothing else of it', async () => {
  const { client, secret } = await host()
  const { rows } = await harness.database.query('select c::text from api_clients c where client_id = $1', [
    client.client_id,
  ])
  assert.equal(rows.length, 1)
  assert.ok(!JSON.stringify(rows).includes(secret.slice(11, 31)))
  const hex = Buffer.from(secret).toString('hex')
  assert.ok(!JSON.stringify(rows).includes(hex.slice(22, 62)))
})

test('invalid clients are refused: unknown tenant, no name, a private key, the hundred and first', async () => {
  const { clients } = harness.wire.keys
  const wanted = { livemode: true, name: 'n', publicKeys: [] }
  const { tenantId } = await harness.tenantWithKey()
  await assert.rejects(clients.create('nobody', wanted), { message: 'There is no such tenant' })
  await assert.rejects(clients.create(harness.wire.platform.ids.next(1), wanted), {
    message: 'There is no such tenant',
  })
  await assert.rejects(clients.create(tenantId, { ...wanted, name: '' }), /\/name must have 1 to 100 characters/)
  await assert.rejects(clients.create(tenantId, { ...wanted, publicKeys: [{ kty: 'oct', k: 'AA' }] }), /private part/)
  await harness.database.query(
    `insert into api_clients select $1, 'ostc_live_' || n, true, 'n', decode(repeat('00', 32), 'hex'), '[]', 'active', now()
     from generate_series(1, 99) n`,
    [tenantId],
  )
  const last = await clients.create(tenantId, wanted)
  await assert.rejects(clients.create(tenantId, wanted), /has 100 clients, which is the most: revoke one first/)
  await clients.revoke(last.client_id)
  await clients.create(tenantId, wanted)
})

test('[D-055] a live call needs client credentials beside the API key; by header or by Basic they let it in', async () => {
  const { key, client, secret, headers } = await host()
  await assertMissing(called.call(key))
  await assertLetIn(called.call(key, headers))
  await assertLetIn(called.call(key, { clientID: client.client_id, clientSecret: secret }))
})

test('[D-054] an API key does not replace client credentials, and they do not replace it', async () => {
  const { key, headers } = await host()
  await assertMissing(called.call(key))
  const without = await called.app.inject({ url: '/called', headers })
  assertError(without, 401, 'MISSING_API_KEY', 'Missing API key')
  const wrong = await called.call('ost_live_wrong', headers)
  assertError(wrong, 401, 'INVALID_API_KEY', 'Invalid API key')
})

test('[D-055] the tenant says which calls need credentials; those that are sent are checked everywhere', async () => {
  const live = await host()
  const trial = await host(false)
  await assertLetIn(called.call(trial.key))
  await assertLetIn(called.call(trial.key, trial.headers))
  await assertRefused(called.call(trial.key, basic(trial.client.client_id, 'wrong')))
  await harness.wire.settings.service.set(trial.tenantId, { clientCredentials: 'always' })
  await assertMissing(called.call(trial.key))
  await assertLetIn(called.call(trial.key, trial.headers))
  await harness.wire.settings.service.set(live.tenantId, { clientCredentials: 'never' })
  await assertLetIn(called.call(live.key))
  await assertLetIn(called.call(live.key, live.headers))
  await assertRefused(called.call(live.key, basic(live.client.client_id, 'wrong')))
})

test('[D-055] a client of another tenant, or of the other mode, is refused', async () => {
  const [one, other] = [await host(), await host()]
  await assertRefused(called.call(one.key, other.headers))
  const trial = await harness.wire.keys.clients.create(one.tenantId, { livemode: false, name: 'trial', publicKeys: [] })
  await assertRefused(called.call(one.key, basic(trial.client_id, trial.client_secret)))
  const testKey = await harness.wire.keys.service.createKey(one.tenantId, {
    livemode: false,
    name: 'test',
    scopes: ['verify:write'],
    allowedIps: [],
  })
  await assertRefused(called.call(testKey.api_key, one.headers))
})

test('a revoked client is refused within five seconds, also while it is in use; revoking again changes nothing', async () => {
  const { key, client, headers, tenantId } = await host()
  await assertLetIn(called.call(key, headers))
  const revoked = await harness.wire.keys.clients.revoke(client.client_id)
  const { client_secret: _, ...record } = client
  assert.deepEqual(revoked, { ...record, status: 'revoked' })
  assert.deepEqual(await harness.wire.keys.clients.revoke(client.client_id), revoked)
  harness.clock.advance(KEY_MAX_AGE_MS + 1)
  await assertRefused(called.call(key, headers))
  assert.deepEqual(await harness.wire.keys.clients.list(tenantId), [revoked])
  for (const nobody of ['nonsense', client.client_id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))]) {
    await assert.rejects(harness.wire.keys.clients.revoke(nobody), { message: 'There is no such client' })
  }
})

test('a client in use is checked without the database, for at most five seconds', async () => {
  const local = await createHarness()
  const { clients } = local.wire.keys
  const { tenantId } = await local.tenantWithKey()
  const { client_id: id, client_secret: secret = '' } = await clients.create(tenantId, {
    livemode: true,
    name: 'n',
    publicKeys: [],
  })
  await clients.withSecret(id, secret, '127.0.0.1')
  await local.database.query('alter table api_clients rename to api_clients_away')
  for (let i = 0; i < 100; i++) await clients.withSecret(id, secret, '127.0.0.1')
  local.clock.advance(KEY_MAX_AGE_MS + 1)
  await assert.rejects(clients.withSecret(id, secret, '127.0.0.1'))
})

test('when the database is away, a client that is not cached is refused with 503', async () => {
  const local = await createHarness()
  const app = createCalledApp(local)
  const { tenantId, key } = await local.tenantWithKey({ livemode: true })
  const client = await local.wire.keys.clients.create(tenantId, { livemode: true, name: 'n', publicKeys: [] })
  await local.wire.settings.service.set(tenantId, { clientCredentials: 'never' })
  assert.equal((await app.call(key)).statusCode, 204, 'key and settings are known')
  await local.wire.close()
  const response = await app.call(key, basic(client.client_id, client.client_secret))
  assert.deepEqual([response.statusCode, response.json().code], [503, 'DEPENDENCY_DOWN'])
  await app.app.close()
})

test('429: an address that guesses is blocked, and a client in use still works from there', async () => {
  const { key, client, headers } = await host()
  const from = freshAddress()
  await assertLetIn(called.call(key, headers, from))
  const statuses = []
  for (let i = 0; i < 22; i++)
    statuses.push((await called.call(key, basic(client.client_id, `wrong ${i}`), from)).statusCode)
  assert.deepEqual(statuses, [...Array(20).fill(401), 429, 429])
  const sent = await called.call(key, basic(client.client_id, 'wrong'), from)
  assertError(sent, 429, 'RATE_LIMITED', 'Too many wrong client credentials', { retryAfter: 1 })
  assert.equal(sent.headers['retry-after'], '1')
  await assertLetIn(called.call(key, headers, from))
  const unseen = await host()
  assert.equal((await called.call(unseen.key, unseen.headers, from)).statusCode, 429)
  harness.clock.advance(1_000)
  await assertLetIn(called.call(unseen.key, unseen.headers, from))
})

test('a call without credentials does not count as a guess and is always refused with 401', async () => {
  const { key } = await host()
  const from = freshAddress()
  for (let i = 0; i < 30; i++) await assertMissing(called.call(key, {}, from))
})

test('[D-055] a header that is sent twice is refused on a real connection, whichever of the two is right', async () => {
  const { key, client, secret, headers } = await host()
  const port = new URL(await called.app.listen({ port: 0, host: '127.0.0.1' })).port
  const good = `Authorization: ${headers.authorization}`
  const bad = `Authorization: ${basic(client.client_id, 'wrong').authorization}`
  const [id, word] = [`clientID: ${client.client_id}`, `clientSecret: ${secret}`]
  const statusOf = (lines: string[]) => rawCall(Number(port), [`x-api-key: ${key}`, ...lines])
  assert.equal(await statusOf([good]), 204)
  assert.equal(await statusOf([id, word]), 204)
  for (const lines of [
    [good, good],
    [good, bad],
    [bad, good],
    [id, id, word],
    [id, word, word],
    [good, id, word],
  ]) {
    assert.equal(await statusOf(lines), 401, String(lines.length))
  }
})

function rawCall(port: number, lines: string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(['GET /called HTTP/1.1', 'Host: localhost', 'Connection: close', ...lines, '', ''].join('\r\n'))
    })
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])))
  })
}
