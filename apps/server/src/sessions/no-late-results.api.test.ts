import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { Db } from '../platform/db.ts'
import { migrate, readMigrations } from '../platform/migrate.ts'
import { createTestDatabase, openTestDb, type TestDatabase } from '../testing/harness.ts'

const REFUSED = /0034_no_late_results\.sql failed: some results are not stored .* LATE_RESULTS=false/
/** What a worker of the last release does with LATE_RESULTS=true, and with false when all results are stored. */
const ALLOW = `update schema_migrations set compatible_from = '0029'
  where name = '0029_late_results.sql' and compatible_from is distinct from '0029'`
const FORBID = `update schema_migrations set compatible_from = '0000'
  where name = '0029_late_results.sql' and compatible_from = '0029'`
/** A session that such a worker has ended. */
const ENDED = `insert into sessions (tenant_id, created_at, session_id, livemode, area, key_id, state, token_hash, expires_at, due_at,
    ended_at, purge_at, silent_retention_seconds, result_rule)
  values (gen_random_uuid(), now(), gen_random_uuid(), true, 'C', gen_random_uuid(), 'EXPIRED', decode(repeat('00', 32), 'hex'), now(), now(), now(), now(), 60, 1)`

const files = readMigrations()
let database: TestDatabase
let db: Db
beforeEach(async () => {
  database = await createTestDatabase()
  db = openTestDb(database)
  await migrate(
    db,
    files.filter(({ name }) => name < '0032'),
    () => {},
  )
})
afterEach(async () => {
  await db.close()
  await database.drop()
})

const upgrade = () => migrate(db, files, () => {})

test('the upgrade waits until the release before has stored all results', async () => {
  await database.query(ALLOW)
  await assert.rejects(upgrade(), REFUSED)
  // The release before goes on: what was applied until here only adds.
  const { rowCount } = await database.query(FORBID)
  assert.equal(rowCount, 1)
  assert.deepEqual((await upgrade()).pending, [])
  await assert.rejects(database.query(ALLOW), /no_late_results/)
})

test('the upgrade refuses a result that is not stored, until the session is purged', async () => {
  await database.query(ENDED)
  await assert.rejects(upgrade(), REFUSED)
  await database.query(`update sessions set state = 'PURGED', result_rule = null, due_at = 'infinity'`)
  assert.deepEqual((await upgrade()).pending, [])
})
