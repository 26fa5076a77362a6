import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { missingPooler, type Pooler, startPooler } from '@ostiary/testkit/pgbouncer'
import pg from 'pg'
import { loadConfig } from './config.ts'
import { diagnose } from './doctor.ts'
import { storeSettings } from './platform/connection-check.ts'
import { sql } from './platform/db.ts'
import { migrate, readMigrations } from './platform/migrate.ts'
import { createTestDatabase } from './testing/harness.ts'
import { createWire } from './wire.ts'

const skip = missingPooler() ?? false
const PREPARED = ['max_prepared_statements = 500']
const IGNORED = ['ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,options']
const MASTER_KEY = randomBytes(32).toString('base64')

const poolers: Pooler[] = []
const database = await createTestDatabase()
after(async () => {
  for (const pooler of poolers) await pooler.stop()
  await database.drop()
})

async function pool(version: '1.18' | '1.24', settings: readonly string[]): Promise<Record<string, string>> {
  const pooler = await startPooler({ version, url: database.url, settings })
  poolers.push(pooler)
  return { DATABASE_URL: pooler.through(database.url), MASTER_KEY, DATABASE_STATEMENT_TIMEOUT_MS: '700' }
}

const connections = async (env: Record<string, string>) =>
  (await diagnose({ ...env, PORT: '18081' }, async () => false)).find(({ name }) => name === 'connections')

async function withWire<T>(env: Record<string, string>, work: (wire: ReturnType<typeof createWire>) => Promise<T>) {
  const wire = createWire(loadConfig({ LOG_LEVEL: 'fatal', ...env }), { role: 'cli' })
  try {
    return await work(wire)
  } finally {
    await wire.close()
  }
}

test('behind PgBouncer 1.24 the limit and the plan settings are in force once the role has them', {
  skip,
}, async () => {
  const env = { ...(await pool('1.24', PREPARED)), DATABASE_DIRECT_URL: database.url }
  const before = await connections(env)
  assert.equal(before?.state, 'warning')
  assert.match(before?.finding ?? '', /statement_timeout is 0 instead of 700, .*jit is on instead of off/)
  assert.match(
    before?.remedy ?? '',
    /ostiary migrate.*alter role "\w+" in database "\w+" set statement_timeout = '700'.*RECONNECT/,
  )

  await withWire(env, async ({ platform }) => {
    for (const { db } of platform.cells.all()) await migrate(db, readMigrations(), () => {})
  })
  // Open connections of the pooler keep their old settings.
  await database
    .query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
    .catch(() => {})
  assert.deepEqual(await connections(env), {
    name: 'connections',
    state: 'ok',
    finding: 'through a pooler, limits in force',
  })
  await withWire(env, async ({ platform }) => {
    const [cell] = platform.cells.all()
    assert.ok(cell)
    const setting = sql(
      'test.setting',
      `select current_setting('jit') as jit, current_setting('statement_timeout') as timeout,
         current_setting('plan_cache_mode') as plans`,
    )
    assert.deepEqual(await cell.db.rows(setting), [{ jit: 'off', timeout: '700ms', plans: 'force_generic_plan' }])
    await assert.rejects(cell.db.rows(sql('test.sleep', 'select pg_sleep(30)')), { code: 'DEPENDENCY_DOWN' })
    // Work with session state goes to PostgreSQL itself and has no limit.
    const slept = await cell.db.withDedicatedClient((client) => client.query('select pg_sleep(1), 1 as one'))
    assert.equal(slept.rows[0].one, 1)
  })
})

test('without plan mode and limits of the role the service works and doctor warns', {
  skip,
}, async () => {
  const env = { ...(await pool('1.24', PREPARED)), DATABASE_DIRECT_URL: database.url }
  const forget = (name: string) =>
    database.query(
      `do $$ begin execute format('alter role %I in database %I reset ${name}', current_user, current_database()); end $$`,
    )
  for (const name of ['plan_cache_mode', 'statement_timeout']) await forget(name)
  const found = await connections(env)
  assert.equal(found?.state, 'warning')
  assert.match(
    found?.finding ?? '',
    /statement_timeout is 0 instead of 700, plan_cache_mode is auto instead of force_generic_plan; processes work/,
  )
  assert.match(
    found?.remedy ?? '',
    /another role runs: alter role "\w+" in database "\w+" set statement_timeout = '700'; alter role/,
  )
})

test('a role that may not store a setting is no fault of the migration, and settings of the database suffice', async () => {
  const role = `limited_${randomBytes(4).toString('hex')}`
  await database.query(`create role ${role} login password 'x'`)
  const url = Object.assign(new URL(database.url), { username: role, password: 'x' }).href
  const asRole = async (settings: Record<string, string>) => {
    const client = new pg.Client(url)
    await client.connect()
    try {
      return await storeSettings(client, settings)
    } finally {
      await client.end()
    }
  }
  // Only a superuser may store this one.
  const mixed = { log_min_duration_statement: '900', statement_timeout: '700' }
  assert.deepEqual(await asRole(mixed), ['log_min_duration_statement'])
  const { rows } = await database.query(`select setconfig from pg_db_role_setting where setrole = $1::text::regrole`, [
    role,
  ])
  assert.deepEqual(rows, [{ setconfig: ['statement_timeout=700'] }])
  await database.query(
    `do $$ begin execute format('alter database %I set log_min_duration_statement = 900', current_database()); end $$`,
  )
  assert.deepEqual(await asRole(mixed), [])
  await database.query(`drop owned by ${role}; drop role ${role}`)
})

test('a pooler that is not configured as one is detected, whether it refuses our parameters or drops them', {
  skip,
}, async () => {
  for (const settings of [PREPARED, [...PREPARED, ...IGNORED]]) {
    const env = await pool('1.24', settings)
    const found = await connections(env)
    assert.equal(found?.finding, 'a connection pooler stands between this process and PostgreSQL')
    assert.match(found?.remedy ?? '', /Set DATABASE_DIRECT_URL/)
    await withWire(env, async ({ platform }) => {
      for (const { db } of platform.cells.all())
        await assert.rejects(
          migrate(db, readMigrations(), () => {}),
          /pooler stands before the database.*DATABASE_DIRECT_URL/,
        )
    })
  }
})

test('PgBouncer 1.18 is refused with the reason, and so is 1.24 without prepared statements', { skip }, async () => {
  for (const [version, settings, shown] of [
    ['1.18', [], /\(PgBouncer 1\.18\.\d.*\) mixes up prepared statements/],
    ['1.24', ['max_prepared_statements = 0'], /\(PgBouncer 1\.24\.\d.*\) mixes up prepared statements/],
  ] as const) {
    const found = await connections({ ...(await pool(version, settings)), DATABASE_DIRECT_URL: database.url })
    assert.equal(found?.state, 'failed')
    assert.match(found?.finding ?? '', shown)
    assert.match(found?.remedy ?? '', /PgBouncer 1\.21 or newer with max_prepared_statements/)
  }
})

test('the direct URL must not lead to a pooler', { skip }, async () => {
  const env = await pool('1.24', PREPARED)
  await withWire({ ...env, DATABASE_DIRECT_URL: env.DATABASE_URL ?? '' }, async ({ platform }) => {
    for (const { db } of platform.cells.all())
      await assert.rejects(
        migrate(db, readMigrations(), () => {}),
        /PostgreSQL itself is needed/,
      )
  })
})
