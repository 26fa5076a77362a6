/** Real services on a real PostgreSQL database of their own, for `*.api.test.ts`. Only tests import this. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after } from 'node:test'
import { TEST_LIMITS } from '@ostiary/testkit/limits'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import pg from 'pg'
import { buildApp } from '../app.ts'
import { loadConfig } from '../config.ts'
import type { NewKey } from '../keys/index.ts'
import { createDb, type Db } from '../platform/db.ts'
import { createLog } from '../platform/log.ts'
import { migrate, readMigrations } from '../platform/migrate.ts'
import { ensurePartitions } from '../platform/partitions.ts'
import { createManualClock } from '../platform/testing/manual-clock.ts'
import { createWire } from '../wire.ts'

export interface TestDatabase {
  url: string
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>
  drop(): Promise<void>
}

/** An empty database, or a copy of another one. */
export async function createTestDatabase(template = 'template1'): Promise<TestDatabase> {
  const cluster = clusterUrl()
  const name = `test_${randomBytes(6).toString('hex')}`
  const admin = new pg.Client(cluster)
  await admin.connect()
  await admin.query(`create database ${name} template ${template}`)
  // No test of a service depends on what a power cut leaves; a disk that stalls then stalls nothing here.
  await admin.query(`alter database ${name} set synchronous_commit = off`)
  const url = Object.assign(new URL(cluster), { pathname: `/${name}` }).href
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  pool.on('error', () => {})
  return {
    url,
    query: (text, values) => pool.query(text, values),
    async drop() {
      await pool.end()
      await admin.query(`drop database if exists ${name} with (force)`)
      await admin.end()
    },
  }
}

/** A pool on a test's own database, without a service around it. */
export function openTestDb({ url }: TestDatabase, poolMax = 1): Db {
  return createDb({
    url,
    poolMax,
    statementTimeoutMs: 5_000,
    connectTimeoutMs: 3_000,
    applicationName: 'test',
    log: createLog('silent'),
  })
}

function clusterUrl(): string {
  const cluster = process.env.OSTIARY_TEST_CLUSTER
  if (!cluster) throw new Error('OSTIARY_TEST_CLUSTER is not set: run the tests with npm test')
  return cluster
}

/**
 * A database with all migrations and the partitions of the first day, made once for each state of them: a copy takes a fraction of the
 * time. Later days have no partitions, so that tests which let time pass run on the default partition.
 */
export async function migratedTemplate(): Promise<string> {
  const migrations = readMigrations()
  const state = createHash('sha256').update(migrations.map(({ checksum }) => checksum).join())
  const name = `prepared_${state.digest('hex').slice(0, 12)}`
  const cluster = clusterUrl()
  const admin = new pg.Client(cluster)
  await admin.connect()
  try {
    await admin.query('select pg_advisory_lock(hashtext($1))', [name])
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await makeTemplate(admin, name, migrations)
  } finally {
    await admin.end()
  }
  return name
}

/** Under another name until it is whole: a run that is stopped half way leaves no half template. */
async function makeTemplate(admin: pg.Client, name: string, migrations: ReturnType<typeof readMigrations>) {
  const draft = `${name}_draft`
  await admin.query(`drop database if exists ${draft}`)
  await admin.query(`create database ${draft}`)
  const db = createDb({
    url: Object.assign(new URL(clusterUrl()), { pathname: `/${draft}` }).href,
    poolMax: 2,
    statementTimeoutMs: 60_000,
    connectTimeoutMs: 30_000,
    applicationName: 'ostiary-template',
    sessionSettings: {},
    log: createLog('silent', { write: () => {} }),
  })
  await migrate(db, migrations, () => {})
  for (const table of ['sessions', 'session_secrets'])
    await ensurePartitions(db, table, { from: createManualClock().now(), days: 1, fillFactor: 70 })
  await db.close()
  await admin.query(`alter database ${draft} rename to ${name}`)
}

export type Harness = Awaited<ReturnType<typeof createHarness>>

export const TEST_MASTER_KEY = randomBytes(32).toString('base64')

export interface HarnessOptions {
  /** The way to the database, given its URL: through a proxy, for example. */
  through?: (databaseUrl: string) => Promise<string>
}

export async function createHarness(
  env: Record<string, string> = {},
  { through = async (url) => url }: HarnessOptions = {},
) {
  const database = await createTestDatabase(await migratedTemplate())
  const clock = createManualClock()
  const lines: string[] = []
  const log = createLog('debug', { write: (line) => void lines.push(line) })
  const lists = temporaryFolder('lists')
  const config = loadConfig({
    DATABASE_URL: await through(database.url),
    MASTER_KEY: TEST_MASTER_KEY,
    SANCTIONS_DIR: lists,
    ...TEST_LIMITS,
    ...env,
  })
  const wire = createWire(config, { role: 'test', clock, log })
  for (const { db } of wire.platform.cells.all()) await migrate(db, readMigrations(), () => {})
  await wire.launch.load()
  const app = buildApp(wire)
  await app.ready()
  wire.platform.monitor.markStarted()
  let closing: Promise<void> | undefined
  const end = async () => {
    await app.close()
    await wire.close()
    await database.drop()
  }
  const close = () => (closing ??= end())
  after(close)
  return {
    app,
    wire,
    clock,
    database,
    /** All log lines so far. */
    logged: () => lines.join(''),
    inject: (options: InjectOptions | string): Promise<LightMyRequestResponse> => app.inject(options),
    /** A tenant with one key. */
    async tenantWithKey(wanted: Partial<NewKey> = {}) {
      const tenant = await wire.keys.service.createTenant('Test tenant')
      const record = await wire.keys.service.createKey(tenant.tenantId, { ...ANY_KEY, ...wanted })
      return { tenantId: tenant.tenantId, record, key: record.api_key }
    },
    /** It happens by itself: at the end of the file or of the test that made the harness, or of the hook, which is too early. */
    close,
  }
}

const ANY_KEY: NewKey = {
  livemode: false,
  name: 'test',
  scopes: ['strings:rw'],
  allowedIps: [],
  usagePlanId: 'unmetered',
}

/** The common error body, whole. */
export function assertError(
  response: LightMyRequestResponse,
  statusCode: number,
  code: string,
  message: string,
  more: object = {},
): void {
  assert.deepEqual(response.json(), { statusCode, message, code, requestId: response.headers['x-request-id'], ...more })
  assert.equal(response.statusCode, statusCode)
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
}

/** The same of a request with one thing wrong. */
export function assertInvalid(response: LightMyRequestResponse, pointer: string, message: string): void {
  const details = [{ pointer, message }]
  assertError(response, 400, 'VALIDATION_FAILED', `The request is not valid: ${pointer} ${message}`, { details })
}
