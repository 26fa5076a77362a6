import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import { createTestDatabase } from '../testing/harness.ts'
import { untilBlocked } from '../testing/locks.ts'
import { createDb } from './db.ts'
import { createLog } from './log.ts'
import { migrate, migrationState, readMigrations } from './migrate.ts'

const open = (url: string) =>
  createDb({
    url,
    poolMax: 2,
    statementTimeoutMs: 5_000,
    connectTimeoutMs: 3_000,
    applicationName: 'test',
    log: createLog('fatal'),
  })

test('eight processes that start at once apply each migration once', async () => {
  const database = await createTestDatabase()
  const dbs = Array.from({ length: 8 }, () => open(database.url))
  const applied: string[] = []
  const states = await Promise.all(dbs.map((db) => migrate(db, readMigrations(), (name) => applied.push(name))))
  const names = readMigrations().map(({ name }) => name)
  assert.deepEqual(applied, names)
  for (const state of states)
    assert.deepEqual(state, { applied: names, pending: [], unknown: [], incompatible: [], changed: [] })
  const { rows } = await database.query(`select extversion from pg_extension where extname = 'vector'`)
  assert.match(rows[0].extversion, /^0\.([89]|\d\d)/)
  await Promise.all(dbs.map((db) => db.close()))
  await database.drop()
})

test('[U7] deploy/database-init makes a role that is no superuser, with which every migration runs', async () => {
  const database = await createTestDatabase()
  const [name, admin, secret] = ['app', 'admin', 'x'].map((word) => `${word}_${randomBytes(6).toString('hex')}`)
  assert.ok(name && admin && secret)
  await database.query(`create role ${admin} superuser login password '${secret}'`)
  const { hostname, port } = new URL(database.url)
  const server = { PGHOST: hostname, PGPORT: port, PGPASSWORD: secret }
  const run = (entrypoint: Record<string, string>) =>
    execFileSync(new URL('../../../../deploy/database-init', import.meta.url).pathname, {
      env: { PATH: process.env.PATH, ...server, POSTGRES_USER: admin, APPLICATION: name, ...entrypoint },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  assert.throws(() => run({ POSTGRES_PASSWORD_FILE: '/run/secrets/database_password' }), /no password for the role/)
  // What the image's entrypoint leaves of POSTGRES_PASSWORD_FILE before it runs the files of its folder.
  run({ POSTGRES_PASSWORD: secret })
  const db = open(`postgres://${name}:${secret}@${hostname}:${port}/${name}`)
  await migrate(db, readMigrations(), () => {})
  await db.close()
  const { rows } = await database.query(
    `select rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls as may, rolpassword is null as bare
     from pg_authid where rolname in ($1, $2) order by rolname = $1`,
    [name, admin],
  )
  assert.deepEqual(rows, [
    { may: true, bare: true },
    { may: false, bare: false },
  ])
  for (const text of [`drop database ${name}`, `drop role ${name}`, `drop owned by ${admin}`, `drop role ${admin}`])
    await database.query(text)
  await database.drop()
})

test('a failed migration is rolled back and named, and those before it stay', async () => {
  const database = await createTestDatabase()
  const db = open(database.url)
  const files = [
    { name: '0001_good.sql', text: 'create table good (id int)', checksum: '1' },
    { name: '0002_bad.sql', text: 'create table half (id int); select nonsense', checksum: '2' },
  ]
  await assert.rejects(
    migrate(db, files, () => {}),
    /Migration 0002_bad.sql failed/,
  )
  const { rows } = await database.query(`select to_regclass('good')::text as good, to_regclass('half')::text as half`)
  assert.deepEqual(rows, [{ good: 'good', half: null }])
  assert.deepEqual((await migrationState(db, files)).pending, ['0002_bad.sql'])
  await assert.rejects(
    migrate(db, [{ ...files[0], name: '0001_good.sql', text: '', checksum: 'edited' }], () => {}),
    /edited after/,
  )
  // A row of a release that did not write the marks.
  await database.query('update schema_migrations set compatible_from = null')
  await assert.rejects(
    migrate(db, [], () => {}),
    /newer version/,
  )
  await db.close()
  await database.drop()
})

test('an older release works on a newer schema, unless a migration says that it does not', async () => {
  const database = await createTestDatabase()
  const db = open(database.url)
  // The schema as a release without the marks left it.
  await database.query(`create table schema_migrations (
    name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
  await database.query(`create table notes (id int)`)
  await database.query(`insert into schema_migrations (name, checksum) values ('0001_made.sql', '1')`)
  const old = [{ name: '0001_made.sql', text: 'create table notes (id int)', checksum: '1' }]
  const adds = { name: '0002_adds.sql', text: 'alter table notes add column text text', checksum: '2' }
  const drops = {
    name: '0003_drops.sql',
    text: '-- Compatible down to: 0002\nalter table notes drop column id',
    checksum: '3',
  }
  await migrate(db, [...old, adds], () => {})
  const state = await migrate(db, old, () => assert.fail('nothing to apply'))
  assert.deepEqual([state.unknown, state.incompatible], [['0002_adds.sql'], []])

  await migrate(db, [...old, adds, drops], () => {})
  await migrate(db, [...old, adds], () => assert.fail('nothing to apply'))
  await assert.rejects(
    migrate(db, old, () => {}),
    /0003_drops.sql cannot be used by this one: start that version/,
  )
  await db.close()
  await database.drop()
})

test('an empty database has everything pending', async () => {
  const database = await createTestDatabase()
  const db = open(database.url)
  assert.equal((await migrationState(db, readMigrations())).pending.length, readMigrations().length)
  await db.close()
  await database.drop()
})

test('a migration waits for a table that is in use, and does not block other statements for long', async () => {
  const database = await createTestDatabase()
  const db = open(database.url)
  const files = [
    { name: '0001_made.sql', text: 'create table notes (id int)', checksum: '1' },
    { name: '0002_changed.sql', text: 'alter table notes add column text text', checksum: '2' },
  ]
  await migrate(db, files.slice(0, 1), () => {})
  const reader = new pg.Client(database.url)
  await reader.connect()
  await reader.query('begin; select from notes')
  const migrating = migrate(db, files, () => {})
  await untilBlocked(database)
  // A waiting migration blocks later statements for two seconds at most, although the reader holds its lock until after this.
  await database.query('insert into notes (id) values (1)')
  await reader.query('commit')
  await reader.end()
  assert.deepEqual((await migrating).pending, [])
  await db.close()
  await database.drop()
})
