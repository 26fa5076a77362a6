import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listJobs } from './jobs.ts'
import { listTables } from './tables.ts'
import { createHarness } from './testing/harness.ts'

const harness = await createHarness()

const PRIMARY_KEYS = `
  select c.relname as table, string_agg(a.attname, ', ' order by k.position) as key
  from pg_class c
    join pg_index i on i.indrelid = c.oid and i.indisprimary
    cross join lateral unnest(i.indkey) with ordinality as k(column_number, position)
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.column_number
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  group by 1 order by 1`

test('the rooms declare every table of the database with its key, and no other', async () => {
  const { rows } = await harness.database.query(PRIMARY_KEYS)
  const declared = listTables(harness.wire)
    // pg-boss creates its own schema when the worker starts.
    .filter(({ table }) => !table.includes('.'))
    .map(({ table, key }) => ({ table, key }))
    .sort((a, b) => (a.table < b.table ? -1 : 1))
  assert.deepEqual(declared, rows)
  const { rows: all } = await harness.database.query(
    `select count(*)::int as count from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  )
  assert.equal(all[0].count, declared.length, 'a table without a primary key')
})

test('[O4] the metrics can say how late each of these jobs is, from an index', async () => {
  const jobs = listJobs(harness.wire).filter(({ name }) => listTables(harness.wire).some(({ by }) => by === name))
  assert.deepEqual(
    jobs.filter(({ due }) => !due).map(({ name }) => name),
    // Empty partitions; a time by each tenant's setting; what has a gauge of its own; what is left after a deletion.
    ['drop-session-partitions', 'purge-screening-runs', 'erase-at-key-holder', 'vacuum-deleted-faces'],
  )
  const { rows } = await harness.database.query(
    `select distinct i.indrelid::regclass::text as table, a.attname as column
     from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]`,
  )
  for (const { name, due } of jobs)
    if (due)
      assert.ok(
        rows.some(({ table, column }) => table === due.table && column === due.column),
        name,
      )
})

test('every job that a room names as deleting its rows is a job of the worker', () => {
  const jobs = new Set(listJobs(harness.wire).map(({ name }) => name))
  const named = listTables(harness.wire).flatMap(({ by }) => (by === null ? [] : [by]))
  assert.deepEqual(
    named.filter((name) => !jobs.has(name)),
    [],
  )
})
