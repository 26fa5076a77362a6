import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TENANT_SETTINGS_DEFAULTS } from '@ostiary/contract'
import { eventually } from '@ostiary/testkit/eventually'
import type { QueryResultRow } from 'pg'
import { AppError } from '../platform/errors.ts'
import { migrate, readMigrations } from '../platform/migrate.ts'
import { createOutbound } from '../platform/outbound/index.ts'
import { createHarness, createTestDatabase, type Harness, openTestDb } from '../testing/harness.ts'
import { createTokenVerifier } from './jwt.ts'
import { createSettings, SETTINGS_MAX_AGE_MS, type Settings } from './service.ts'
import { createIdentityProvider } from './testing/identity-provider.ts'

const outbound = createOutbound({ version: '9.9.9', allowNetworks: ['127.0.0.1/32'], allowHttp: true })

const harness = await createHarness()
const settings: Settings = settingsOf(harness)

/** How often any settings were looked up or changed. */
let visits = 0

function settingsOf({ wire }: Harness): Settings {
  const { cells, clock, log } = wire.platform
  const counted: typeof cells = {
    ...cells,
    forId(id) {
      visits++
      return cells.forId(id)
    },
  }
  return createSettings({ cells: counted, clock, log, checkUrl: outbound.check })
}

const newTenant = async () => (await harness.wire.keys.service.createTenant('Test tenant')).tenantId
const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'DEPENDENCY_DOWN'

test('a new tenant has the defaults; what is set is stored with its time, and nothing else is', async () => {
  const tenantId = await newTenant()
  assert.deepEqual(await settings.get(tenantId), TENANT_SETTINGS_DEFAULTS)
  const changed = await settings.set(tenantId, { enforceBlock: true, redirectUrls: ['https://shop.example/age/'] })
  const expected = { ...TENANT_SETTINGS_DEFAULTS, enforceBlock: true, redirectUrls: ['https://shop.example/age/'] }
  assert.deepEqual(changed, expected)
  assert.deepEqual(await settings.get(tenantId), expected, 'a change is seen at once where it was made')
  harness.clock.advance(1_000)
  const setAgain = harness.clock.now()
  await settings.set(tenantId, { enforceBlock: null, retentionSeconds: 7_200 })
  const { rows } = await harness.database.query('select * from tenant_settings where tenant_id = $1', [tenantId])
  assert.deepEqual(rows, [
    {
      tenant_id: tenantId,
      settings: { redirectUrls: ['https://shop.example/age/'], retentionSeconds: 7_200 },
      updated_at: setAgain,
      kept: {},
    },
  ])
})

test('tenants that are there at the upgrade keep the document in doubt, until they change it; new ones start without', async () => {
  const database = await createTestDatabase()
  const db = openTestDb(database)
  const files = readMigrations()
  const before = files.filter(({ name }) => name < '0035')
  await migrate(db, before, () => {})
  const [never, once, late] = [1, 2, 3].map((n) => `019f1c2e-7a40-7b3c-8f00-5d2b9c41e6a${n}`)
  assert.ok(never && once && late)
  const addTenant = `insert into tenants (tenant_id, name, created_at) values ($1, 'Test', now())`
  for (const tenantId of [never, once]) await database.query(addTenant, [tenantId])
  // As the last release stores a change.
  const change = 'update tenant_settings set settings = $2, updated_at = now() where tenant_id = $1'
  await database.query(`insert into tenant_settings (tenant_id, settings, updated_at) values ($1, '{}', now())`, [once])
  await migrate(db, files, () => {})
  await database.query(change, [once, '{"enforceBlock":true}'])
  await database.query(addTenant, [late])
  const { cells, clock, log } = harness.wire.platform
  const here = createSettings({ cells: { ...cells, forId: () => db }, clock, log, checkUrl: outbound.check })
  const inDoubt = async (tenantId: string) => (await here.get(tenantId)).documentInDoubt
  assert.deepEqual([await inDoubt(never), await inDoubt(once), await inDoubt(late)], [true, true, false])
  const { rows } = await database.query('select settings from tenant_settings where tenant_id = $1', [once])
  assert.deepEqual(rows, [{ settings: { enforceBlock: true } }], 'the last release finds only names that it knows')
  assert.equal((await here.set(once, { retentionSeconds: 7_200 })).documentInDoubt, true)
  assert.equal((await here.set(never, { documentInDoubt: null })).documentInDoubt, false)
  assert.equal((await here.set(once, { documentInDoubt: false })).enforceBlock, true)
  assert.deepEqual([await inDoubt(never), await inDoubt(once)], [false, false])
  await db.close()
  await database.drop()
})

test('a change that is refused changes nothing, not even the time', async () => {
  const tenantId = await newTenant()
  await settings.set(tenantId, { alwaysReturnAge: true })
  const { rows: before } = await harness.database.query('select * from tenant_settings where tenant_id = $1', [
    tenantId,
  ])
  harness.clock.advance(1_000)
  await assert.rejects(settings.set(tenantId, { alwaysReturnAge: false, unheardOf: 1 }), (error) => {
    assert.ok(error instanceof AppError)
    assert.deepEqual(error.extra.details, [{ pointer: '/unheardOf', message: 'is not a known field' }])
    return true
  })
  const { rows } = await harness.database.query('select * from tenant_settings where tenant_id = $1', [tenantId])
  assert.deepEqual(rows, before)
})

test('tenants that do not exist cannot be given settings', async () => {
  for (const tenantId of ['nonsense', '', '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa']) {
    await assert.rejects(
      settings.set(tenantId, { enforceBlock: true }),
      (error) => error instanceof AppError && error.code === 'NOT_FOUND',
    )
  }
})

test('changes at the same moment take turns: none is lost', async () => {
  const tenantId = await newTenant()
  const atOnce = async (...patches: object[]) => {
    await Promise.all(patches.map((patch) => settings.set(tenantId, patch)))
  }
  await atOnce({ enforceBlock: true }, { alwaysReturnAge: true })
  // The first two also raced for the row; these find one.
  await atOnce({ resultRequiresKey: true }, { retentionSeconds: 3_600 })
  assert.deepEqual(await settings.get(tenantId), {
    ...TENANT_SETTINGS_DEFAULTS,
    enforceBlock: true,
    alwaysReturnAge: true,
    resultRequiresKey: true,
    retentionSeconds: 3_600,
  })
})

test('an answer that was on its way when the settings changed is not kept', async () => {
  const { cells, clock, log } = harness.wire.platform
  const tenantId = await newTenant()
  const [read, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const db = cells.forId(tenantId)
  const slow: typeof db = {
    ...db,
    async rows<R extends QueryResultRow>(...asked: Parameters<typeof db.rows>) {
      const rows = await db.rows<R>(...asked)
      read.resolve()
      await gate.promise
      return rows
    },
  }
  const ours = createSettings({ cells: { ...cells, forId: () => slow }, clock, log, checkUrl: outbound.check })
  const early = ours.get(tenantId)
  await read.promise
  await ours.set(tenantId, { enforceBlock: true })
  gate.resolve()
  await early
  assert.equal((await ours.get(tenantId)).enforceBlock, true)
})

test('one tenant’s settings are not another’s', async () => {
  const [one, other] = [await newTenant(), await newTenant()]
  await settings.set(one, { enforceBlock: true })
  assert.equal((await settings.get(one)).enforceBlock, true)
  assert.equal((await settings.get(other)).enforceBlock, false)
})

test('a hot read makes no query, and readers at the same moment share one', async () => {
  const tenantId = await newTenant()
  visits = 0
  await Promise.all(Array.from({ length: 100 }, () => settings.get(tenantId)))
  assert.equal(visits, 1)
  for (let i = 0; i < 1_000; i++) await settings.get(tenantId)
  assert.equal(visits, 1)
})

test('settings in use are looked up again before they run out, without anybody waiting', async () => {
  const [tenantId, elsewhere] = [await newTenant(), settingsOf(harness)]
  await settings.get(tenantId)
  await elsewhere.set(tenantId, { enforceBlock: true })
  harness.clock.advance(2_001)
  visits = 0
  assert.equal((await settings.get(tenantId)).enforceBlock, false, 'nobody waits for the look')
  await eventually(async () => (await settings.get(tenantId)).enforceBlock, 'the change is seen')
  assert.equal(visits, 1)
})

test('a change made elsewhere is effective within 5 seconds, also for a tenant nobody asked about meanwhile', async () => {
  const [tenantId, elsewhere] = [await newTenant(), settingsOf(harness)]
  await settings.get(tenantId)
  await elsewhere.set(tenantId, { resultRequiresKey: true })
  harness.clock.advance(SETTINGS_MAX_AGE_MS + 1)
  assert.equal((await settings.get(tenantId)).resultRequiresKey, true)
})

test('when the database is away, settings are used for 5 seconds and then refused with 503', async () => {
  const local = await createHarness()
  const ours = settingsOf(local)
  const { tenantId } = await local.wire.keys.service.createTenant('Test tenant')
  await ours.set(tenantId, { resultRequiresKey: true })
  await ours.get(tenantId)
  await local.wire.close()
  local.clock.advance(2_001)
  visits = 0
  assert.equal((await ours.get(tenantId)).resultRequiresKey, true)
  await eventually(() => local.logged().includes('settings could not be refreshed'), 'the refresh has failed')
  for (let i = 0; i < 20; i++) assert.equal((await ours.get(tenantId)).resultRequiresKey, true)
  assert.equal(visits, 1, 'the database is not asked at every turn')
  local.clock.advance(SETTINGS_MAX_AGE_MS - 2_001)
  assert.equal((await ours.get(tenantId)).resultRequiresKey, true)
  local.clock.advance(1)
  await assert.rejects(async () => ours.get(tenantId), isUnavailable)
  await assert.rejects(async () => ours.get(tenantId), isUnavailable, 'the failure is not remembered as an answer')
  assert.match(local.logged(), /settings could not be refreshed/)
})

test('stored settings that cannot be read are refused, never replaced by defaults', async () => {
  const tenantId = await newTenant()
  await settings.set(tenantId, { resultRequiresKey: true })
  await harness.database.query(
    `update tenant_settings set settings = '{"resultRequiresKey":"yes"}' where tenant_id = $1`,
    [tenantId],
  )
  await assert.rejects(
    async () => settings.get(tenantId),
    (error) => error instanceof AppError && error.code === 'INTERNAL',
  )
})

test('[C-055] a tenant’s users bring tokens of the tenant’s own identity provider, and of no other', async () => {
  const { clock, log } = harness.wire.platform
  const tokens = createTokenVerifier({ outbound, clock, log, settings })
  const provider = await createIdentityProvider(() => Math.floor(harness.clock.now().getTime() / 1000))
  const [tenantId, otherTenant] = [await newTenant(), await newTenant()]
  const bearer = `Bearer ${await provider.sign()}`
  const isRefused = (error: unknown) => error instanceof AppError && error.status === 401
  await assert.rejects(tokens.verify(tenantId, bearer), isRefused, 'no issuer is configured yet')
  await settings.set(tenantId, { issuers: [provider.settings] })
  assert.deepEqual(await tokens.verify(tenantId, bearer), { issuer: provider.settings.issuer })
  await assert.rejects(tokens.verify(otherTenant, bearer), isRefused)
  await settings.set(tenantId, { issuers: [] })
  await assert.rejects(tokens.verify(tenantId, bearer), isRefused, 'the issuer was taken away')
  await harness.database.query('alter table tenant_settings rename to tenant_settings_away')
  harness.clock.advance(SETTINGS_MAX_AGE_MS + 1)
  const unread = await tokens.verify(tenantId, bearer).catch((error: unknown) => error)
  assert.ok(unread instanceof Error && !(unread instanceof AppError), 'a fault of ours is not the token’s')
  await harness.database.query('alter table tenant_settings_away rename to tenant_settings')
  await provider.stop()
})
