import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { formatApiKey, parseApiKey } from '@ostiary/crypto'
import { eventually } from '@ostiary/testkit/eventually'
import { TEST_LIMITS } from '@ostiary/testkit/limits'
import { figureAtMost } from '@ostiary/testkit/measuring/test-figure'
import { buildApp } from '../app.ts'
import { loadConfig } from '../config.ts'
import { DAY_MS, systemClock } from '../platform/clock.ts'
import { bucketOf } from '../platform/ids.ts'
import { createLog } from '../platform/log.ts'
import { migrate, readMigrations } from '../platform/migrate.ts'
import { createHarness, createTestDatabase, TEST_MASTER_KEY } from '../testing/harness.ts'
import { startStopwatch } from '../testing/stopwatch.ts'
import { createWire } from '../wire.ts'
import { KEY_MAX_AGE_MS } from './cache.ts'

const harness = await createHarness()

const USE = { scope: 'strings:rw', address: '127.0.0.1' } as const
/** Long enough for the cache to refresh the key several times. */
const IN_USE_MS = 2_000
const silent = createLog('fatal')

test('a new key has the record of the specification, and the key is shown once', async () => {
  const tenant = await harness.wire.keys.service.createTenant('Harbour Lending')
  const record = await harness.wire.keys.service.createKey(tenant.tenantId, {
    livemode: true,
    name: 'main',
    scopes: ['strings:rw'],
    allowedIps: ['127.0.0.1'],
    customerId: 'c-1',
    apiId: 'a-1',
    usagePlanId: 'plus',
    productCode: 'p-1',
  })
  assert.deepEqual(record, {
    id: record.id,
    api_key: record.api_key,
    customer_id: 'c-1',
    api_id: 'a-1',
    usage_plan_id: 'plus',
    product_code: 'p-1',
    status: 'active',
    when_created: '2026-11-15T12:00:00.000Z',
    last_updated: '2026-11-15T12:00:00.000Z',
    tenant_id: tenant.tenantId,
    livemode: true,
    name: 'main',
    scopes: ['strings:rw'],
    allowed_ips: ['127.0.0.1'],
  })
  assert.deepEqual(parseApiKey(record.api_key), { livemode: true, bucket: bucketOf(tenant.tenantId) })
  assert.equal(bucketOf(record.id), bucketOf(tenant.tenantId))
  const [listed] = await harness.wire.keys.service.listKeys(tenant.tenantId)
  assert.deepEqual(listed, { ...record, api_key: `ost_live_…${record.api_key.slice(-4)}` })
})

test('the database holds neither the key nor anything that opens without the master key', async () => {
  const { record, key, tenantId } = await harness.tenantWithKey()
  const { rows } = await harness.database.query('select * from api_keys where id = $1', [record.id])
  const stored = JSON.stringify(rows, (_name, value) =>
    value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
  )
  assert.ok(!stored.includes(key.slice(9, 60)))
  assert.equal(await harness.wire.keys.service.openKey(tenantId, record.id), key)
  await harness.database.query(
    'update api_keys set sealed_key = (select sealed_key from api_keys where id <> $1 limit 1) where id = $1',
    [record.id],
  )
  await assert.rejects(
    harness.wire.keys.service.openKey(tenantId, record.id),
    'a sealed key moved to another row does not open',
  )
})

test('api_key is unique: the database refuses a second row with the same hash', async () => {
  const { record } = await harness.tenantWithKey()
  await assert.rejects(
    harness.database.query(
      `insert into api_keys select tenant_id, gen_random_uuid(), lookup_hash, sealed_key, master_key_id, last_four, livemode, name,
      customer_id, api_id, usage_plan_id, product_code, scopes, allowed_ips, status, when_created, last_updated from api_keys where id = $1`,
      [record.id],
    ),
    /api_keys_by_lookup_hash/,
  )
})

test('a hot check costs no database round trip: it works while the table is not even there', async () => {
  const local = await createHarness()
  const { key } = await local.tenantWithKey()
  await local.wire.keys.service.check(key, USE)
  await local.database.query('alter table api_keys rename to api_keys_away')
  for (let i = 0; i < 1_000; i++) await local.wire.keys.service.check(key, USE)
  local.clock.advance(KEY_MAX_AGE_MS)
  await local.wire.keys.service.check(key, USE)
  local.clock.advance(1)
  await assert.rejects(
    async () => local.wire.keys.service.check(key, USE),
    'older than the promised age: the database must be asked',
  )
})

test('when the database is away, a key that is not in the cache is refused with 503', async () => {
  const local = await createHarness()
  const { key } = await local.tenantWithKey()
  await local.wire.close()
  const response = await local.inject({ url: '/strings', headers: { 'x-api-key': key } })
  assert.deepEqual([response.statusCode, response.json().code], [503, 'DEPENDENCY_DOWN'])
})

test('a revocation is effective in every process within 5 seconds, while the key is in constant use', async () => {
  // The services of two processes on one database, with the real clock and the refresh running.
  const config = loadConfig({ ...TEST_LIMITS, DATABASE_URL: harness.database.url, MASTER_KEY: TEST_MASTER_KEY })
  const wires = [0, 1].map(() => createWire(config, { role: 'test', clock: systemClock, log: silent }))
  const apps = wires.map(buildApp)
  for (const wire of wires) wire.keys.start()
  const tenant = await wires[0]?.keys.service.createTenant('Revoked soon')
  const record = await wires[0]?.keys.service.createKey(tenant?.tenantId ?? '', {
    livemode: false,
    name: 'k',
    scopes: ['strings:rw'],
    allowedIps: [],
    usagePlanId: 'unmetered',
  })
  assert.ok(record)
  const statuses = () =>
    Promise.all(
      apps.map(
        async (app) => (await app.inject({ url: '/strings', headers: { 'x-api-key': record.api_key } })).statusCode,
      ),
    )
  const busy = AbortSignal.timeout(IN_USE_MS)
  await eventually(async () => {
    assert.deepEqual(await statuses(), [200, 200])
    return busy.aborted
  }, 'the key is in use')
  await wires[0]?.keys.service.revokeKey(record.id)
  const ranMs = startStopwatch()
  let acceptedMs = 0
  await eventually(async () => {
    const askedMs = ranMs()
    if ((await statuses()).every((status) => status === 403)) return true
    acceptedMs = askedMs
    return false
  }, 'the key is refused')
  await figureAtMost('keys.revoked-key-accepted-ms', KEY_MAX_AGE_MS + 250, acceptedMs)
  assert.equal(
    await wires[1]?.platform.metrics.keyChecks.get('loaded'),
    1,
    'only the first check waited for the database',
  )
  for (const [i, wire] of wires.entries()) {
    await apps[i]?.close()
    await wire.close()
  }
})

test('429: an address that invents keys is blocked, and keys in use still work from there', async () => {
  const local = await createHarness()
  const { key } = await local.tenantWithKey()
  const call = async (apiKey: string) =>
    (await local.inject({ url: '/strings', headers: { 'x-api-key': apiKey } })).statusCode
  assert.equal(await call(key), 200)
  const invented = () => formatApiKey({ livemode: false, bucket: 1 }, randomBytes(32))
  const statuses: number[] = []
  for (let i = 0; i < 25; i++) statuses.push(await call(invented()))
  assert.deepEqual(statuses, [...Array(20).fill(401), ...Array(5).fill(429)])
  assert.equal(await call(key), 200)
  local.clock.advance(1_000)
  assert.equal(await call(invented()), 401)
})

test('429: who invents keys locks out no key of a neighbour that was used before, though its /48 is blocked', async () => {
  const local = await createHarness({ TRUST_PROXY: '127.0.0.1' })
  const [used, unseen] = [await local.tenantWithKey(), await local.tenantWithKey()]
  const call = async (apiKey: string, subnet: number) => {
    const headers = { 'x-api-key': apiKey, 'x-forwarded-for': `2001:db8:5:${subnet.toString(16)}::1` }
    return (await local.inject({ url: '/strings', headers })).statusCode
  }
  assert.equal(await call(used.key, 1), 200)
  local.clock.advance(KEY_MAX_AGE_MS + 1)
  const statuses: number[] = []
  for (let i = 0; i < 26; i++)
    statuses.push(await call(formatApiKey({ livemode: false, bucket: 1 }, randomBytes(32)), 256 * (i + 1)))
  assert.deepEqual(statuses, [...Array(24).fill(401), 429, 429])
  assert.equal(await call(used.key, 1), 200, 'it is looked up again')
  assert.equal(await call(unseen.key, 1), 429, 'a key that this process has never found may be a guess')
})

test('two cells, one of them away: the tenants of the other are served, and the health check names the cell', async () => {
  const [near, far] = [await createTestDatabase(), await createTestDatabase()]
  const map = { cells: { near: near.url, far: far.url }, buckets: { '0-511': 'near', '512-1023': 'far' } }
  const config = loadConfig({ ...TEST_LIMITS, CELLS_FILE: 'cells.json', MASTER_KEY: TEST_MASTER_KEY }, () =>
    JSON.stringify(map),
  )
  const wire = createWire(config, { role: 'test', log: silent })
  for (const { db } of wire.platform.cells.all()) await migrate(db, readMigrations(), () => {})
  const app = buildApp(wire)
  wire.platform.monitor.markStarted()
  const tenant = await wire.keys.service.createTenant('Near', 1)
  const record = await wire.keys.service.createKey(tenant.tenantId, {
    livemode: false,
    name: 'k',
    scopes: ['strings:rw'],
    allowedIps: [],
  })
  await wire.platform.cells.forBucket(1023).close()
  assert.equal((await app.inject('/readyz')).statusCode, 200)
  const health = await app.inject('/health')
  assert.deepEqual([health.statusCode, health.json().checks], [503, { 'store near': 'ok', 'store far': 'failed' }])
  assert.equal((await app.inject({ url: '/strings', headers: { 'x-api-key': record.api_key } })).statusCode, 200)
  await app.close()
  await wire.platform.cells.forBucket(0).close()
  await near.drop()
  await far.drop()
})

test('rotation: both keys work for 7 days, then only the new one; it has the same rights', async () => {
  const local = await createHarness()
  const { record, key } = await local.tenantWithKey({
    usagePlanId: 'plus',
    customerId: 'c-9',
    scopes: ['strings:rw', 'age:read'],
  })
  const { created, ending } = await local.wire.keys.service.rotateKey(record.id)
  assert.equal(ending.ends_at, '2026-11-22T12:00:00.000Z')
  assert.deepEqual({ ...created, id: '', api_key: '' }, { ...record, id: '', api_key: '' })
  const DAY = DAY_MS
  for (const [days, oldStatus] of [
    [0, 200],
    [6.9999, 200],
    [0.0001, 403],
  ] as const) {
    local.clock.advance(days * DAY)
    assert.equal((await local.inject({ url: '/strings', headers: { 'x-api-key': key } })).statusCode, oldStatus)
    assert.equal((await local.inject({ url: '/strings', headers: { 'x-api-key': created.api_key } })).statusCode, 200)
  }
  assert.deepEqual(
    (await local.wire.keys.service.listKeys(record.tenant_id)).map(({ status }) => status),
    ['revoked', 'active'],
  )
  await assert.rejects(local.wire.keys.service.rotateKey(record.id), /Only an active key/)
  await assert.rejects(local.wire.keys.service.rotateKey(created.id, 91), /0 to 90 days/)
})

test('two rotations of one key at the same moment make one successor', async () => {
  const { record } = await harness.tenantWithKey()
  const outcomes = await Promise.allSettled([0, 1, 2, 3].map(() => harness.wire.keys.service.rotateKey(record.id)))
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.equal((await harness.wire.keys.service.listKeys(record.tenant_id)).length, 2)
})

test('revoking twice is the same as once, and unknown keys and tenants are reported as unknown', async () => {
  const { record } = await harness.tenantWithKey()
  assert.equal((await harness.wire.keys.service.revokeKey(record.id)).status, 'revoked')
  assert.equal((await harness.wire.keys.service.revokeKey(record.id)).status, 'revoked')
  for (const id of ['nonsense', '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa']) {
    await assert.rejects(harness.wire.keys.service.revokeKey(id), /no such key/)
    await assert.rejects(harness.wire.keys.service.rotateKey(id), /no such key/)
    await assert.rejects(
      harness.wire.keys.service.createKey(id, { livemode: false, name: 'x', scopes: ['strings:rw'], allowedIps: [] }),
      /no such tenant/,
    )
    await assert.rejects(harness.wire.keys.service.setTenantStatus(id, 'suspended'), /no such tenant/)
  }
})

test('a suspended tenant’s keys stop, and work again when it is resumed', async () => {
  const local = await createHarness()
  const { tenantId, key } = await local.tenantWithKey()
  const status = async () => (await local.inject({ url: '/strings', headers: { 'x-api-key': key } })).statusCode
  for (const [state, expected] of [
    ['suspended', 403],
    ['active', 200],
  ] as const) {
    await local.wire.keys.service.setTenantStatus(tenantId, state)
    local.clock.advance(KEY_MAX_AGE_MS + 1)
    assert.equal(await status(), expected)
  }
})

test('[O6] an address allow-list is checked against the address that the last trusted proxy wrote', async () => {
  const local = await createHarness({ TRUST_PROXY: '127.0.0.1' })
  const { key } = await local.tenantWithKey({ allowedIps: ['203.0.113.0/24'] })
  const call = async (forwarded: string) => {
    const response = await local.inject({
      url: '/strings',
      headers: { 'x-api-key': key, 'x-forwarded-for': forwarded },
    })
    return [response.statusCode, response.json().code]
  }
  assert.deepEqual(await call('203.0.113.8'), [200, undefined])
  assert.deepEqual(await call('198.51.100.1'), [403, 'ADDRESS_DENIED'])
  assert.deepEqual(
    await call('203.0.113.8, 198.51.100.1'),
    [403, 'ADDRESS_DENIED'],
    'what a stranger claims further left does not count',
  )
  const direct = await local.inject({
    url: '/strings',
    remoteAddress: '198.51.100.1',
    headers: { 'x-api-key': key, 'x-forwarded-for': '203.0.113.8' },
  })
  assert.equal(direct.statusCode, 403, 'who is no trusted proxy is not believed')
})

test('a change of the master key: reseal moves every key, and the old master key can go', async () => {
  const local = await createHarness()
  const made = [await local.tenantWithKey(), await local.tenantWithKey(), await local.tenantWithKey()]
  const newKey = randomBytes(32).toString('base64')
  const settings = (masterKey: string) =>
    loadConfig({ ...TEST_LIMITS, DATABASE_URL: local.database.url, MASTER_KEY: masterKey })
  const both = createWire(settings(`${newKey}\n${TEST_MASTER_KEY}`), { role: 'test', log: silent })
  assert.equal(await both.keys.service.reseal(() => {}), 3)
  assert.equal(await both.keys.service.reseal(() => {}), 0)
  await both.close()
  const onlyNew = createWire(settings(newKey), { role: 'test', log: silent })
  for (const { tenantId, record, key } of made)
    assert.equal(await onlyNew.keys.service.openKey(tenantId, record.id), key)
  assert.deepEqual([...(await onlyNew.keys.service.countByMasterKey()).values()], [3])
  await onlyNew.close()
})

test('two cells: keys and records go to the cell of their bucket, without a look-up in the other', async () => {
  const databases = [await createTestDatabase(), await createTestDatabase()]
  const map = {
    cells: { low: databases[0]?.url, high: databases[1]?.url },
    buckets: { '0-511': 'low', '512-1023': 'high' },
  }
  const config = loadConfig({ ...TEST_LIMITS, CELLS_FILE: 'cells.json', MASTER_KEY: TEST_MASTER_KEY }, () =>
    JSON.stringify(map),
  )
  const wire = createWire(config, { role: 'test', log: silent })
  for (const { db } of wire.platform.cells.all()) await migrate(db, readMigrations(), () => {})
  const app = buildApp(wire)
  for (const [bucket, cell] of [
    [3, 0],
    [700, 1],
  ] as const) {
    const tenant = await wire.keys.service.createTenant(`in cell ${cell}`, bucket)
    const record = await wire.keys.service.createKey(tenant.tenantId, {
      livemode: false,
      name: 'k',
      scopes: ['strings:rw'],
      allowedIps: [],
    })
    const created = await app.inject({
      method: 'POST',
      url: '/strings',
      headers: { 'x-api-key': record.api_key },
      payload: { value: 'x' },
    })
    assert.equal(created.statusCode, 201)
    assert.equal(bucketOf(created.json().id), bucket)
    const counts = await Promise.all(
      databases.map(async (database) =>
        Number(
          (await database.query('select count(*) from strings where tenant_id = $1', [tenant.tenantId])).rows[0].count,
        ),
      ),
    )
    assert.deepEqual(counts, cell === 0 ? [1, 0] : [0, 1])
    await wire.keys.service.revokeKey(record.id)
  }
  assert.deepEqual(
    (await wire.keys.service.listTenants()).map(({ name }) => name),
    ['anonymous', 'in cell 0', 'anonymous', 'in cell 1'],
  )
  await app.close()
  await wire.close()
  for (const database of databases) await database.drop()
})
