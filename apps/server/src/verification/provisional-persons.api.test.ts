import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import pg from 'pg'
import { readMigrations } from '../platform/migrate.ts'
import { createHarness } from '../testing/harness.ts'
import { verificationStore } from './store.ts'

/** The statements of release 0.1.0, word for word: they run beside this release during an upgrade, and after a rollback. */
const LAST_RELEASE = {
  note: `insert into unmade_persons (tenant_id, livemode, person_id, due_at)
   select * from unnest($1::uuid[], $2::boolean[], $3::uuid[], $4::timestamptz[]) on conflict do nothing`,
  forget: 'delete from unmade_persons where tenant_id = $1 and livemode = $2 and person_id = $3 and keep_until is null',
  drop: 'delete from unmade_persons where tenant_id = $1 and livemode = $2 and person_id = $3',
  keep: `insert into unmade_persons as known (tenant_id, livemode, person_id, due_at, keep_until) values ($1, $2, $3, $4, $4)
   on conflict (tenant_id, livemode, person_id) do update set due_at = excluded.due_at, keep_until = excluded.keep_until
   where known.keep_until is null`,
  purge: `delete from unmade_persons where ctid = any(array(
     select ctid from unmade_persons where due_at <= $1 and keep_until is not null limit $2 for update skip locked))`,
  find: `select tenant_id as "tenantId", livemode, person_id as "personId" from unmade_persons
   where due_at <= $1 and keep_until is null order by due_at limit $2`,
}
type Statement = keyof typeof LAST_RELEASE

// Before the hook of the harness, which drops the database.
after(() => old.end())
const harness = await createHarness()
const old = new pg.Client(harness.database.url)
await old.connect()

describe('provisional_persons beside the last release', () => {
  const owner = { tenantId: randomUUID(), livemode: true }
  const due = new Date('2026-01-01T00:00:00Z')
  const later = new Date('2026-03-01T00:00:00Z')
  /** Named prepared statements, as the last release sends them. */
  const lastRelease = (name: Statement, values: unknown[]) => old.query({ name, text: LAST_RELEASE[name], values })
  const db = () => harness.wire.platform.cells.forId(owner.tenantId)

  test('the last release marks a person, and this one finds and confirms them', async () => {
    const personId = randomUUID()
    await lastRelease('note', [[owner.tenantId], [owner.livemode], [personId], [due]])
    assert.deepEqual(await verificationStore.findDiscardable(db(), due, 10), [{ ...owner, personId }])
    assert.equal(await verificationStore.confirmPerson(db(), owner, personId, later), 1)
    assert.deepEqual((await lastRelease('find', [later, 10])).rows, [])
    assert.equal((await lastRelease('forget', [owner.tenantId, owner.livemode, personId])).rowCount, 0)
    assert.equal((await lastRelease('purge', [due, 10])).rowCount, 0, 'the confirmation is not due')
    assert.equal((await lastRelease('purge', [later, 10])).rowCount, 1)
  })

  test('this release marks a person, and the last one finds, confirms and removes them', async () => {
    const personId = randomUUID()
    await verificationStore.markForDiscard(db(), [{ ...owner, personId }], due)
    assert.deepEqual((await lastRelease('find', [due, 10])).rows, [{ ...owner, personId }])
    const by = [owner.tenantId, owner.livemode, personId]
    assert.equal((await lastRelease('keep', [...by, later])).rowCount, 1)
    assert.equal((await lastRelease('keep', [...by, later])).rowCount, 0, 'a confirmation is written once')
    assert.equal(await verificationStore.deleteDiscardMark(db(), owner, personId), 0)
    assert.equal((await lastRelease('drop', by)).rowCount, 1)
    await verificationStore.markForDiscard(db(), [{ ...owner, personId }], due)
    assert.equal((await lastRelease('forget', by)).rowCount, 1)
    assert.deepEqual(await verificationStore.findDiscardable(db(), due, 10), [])
  })

  test('a statement that the last release prepared before the migration works after it', async () => {
    const database = `test_${randomUUID().replaceAll('-', '').slice(0, 12)}`
    await old.query(`create database ${database}`)
    const client = new pg.Client(Object.assign(new URL(harness.database.url), { pathname: `/${database}` }).href)
    try {
      await client.connect()
      // The table as migrations 0010 and 0014 made it.
      await client.query(`create table unmade_persons (tenant_id uuid not null, livemode boolean not null,
        person_id uuid not null, due_at timestamptz not null, primary key (tenant_id, livemode, person_id))`)
      await client.query('create index unmade_persons_due on unmade_persons (due_at)')
      await client.query('alter table unmade_persons add column keep_until timestamptz')
      const personId = randomUUID()
      const note = { name: 'note', text: LAST_RELEASE.note, values: [[owner.tenantId], [true], [personId], [due]] }
      const purge = { name: 'purge', text: LAST_RELEASE.purge, values: [later, 10] }
      const find = { name: 'find', text: LAST_RELEASE.find, values: [due, 10] }
      await client.query(note)
      await client.query(purge)
      await client.query(find)
      const migration = readMigrations().find(({ name }) => name === '0017_provisional_persons.sql')
      assert.ok(migration)
      await client.query(migration.text)
      assert.equal((await client.query(note)).rowCount, 0, 'the row is there already')
      assert.equal((await client.query(purge)).rowCount, 0)
      assert.deepEqual((await client.query(find)).rows, [{ ...owner, personId }])
    } finally {
      await client.end()
      await old.query(`drop database ${database} with (force)`)
    }
  })
})
