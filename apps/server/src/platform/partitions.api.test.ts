import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { createTestDatabase, openTestDb } from '../testing/harness.ts'
import { DAY_MS } from './clock.ts'
import { createLog } from './log.ts'
import { dropPartitionsBefore, ensurePartitions, partitionName } from './partitions.ts'

const NOON = new Date('2026-11-15T12:00:00.000Z')
const day = (offset: number) => new Date(NOON.getTime() + offset * DAY_MS)

const database = await createTestDatabase()
const db = openTestDb(database, 5)
after(async () => {
  await db.close()
  await database.drop()
})
beforeEach(() =>
  database.query(`
    drop table if exists events;
    create table events (id int not null, made_at timestamptz not null, note text, primary key (id, made_at)) partition by range (made_at);
    create index events_by_note on events (note);
    create table events_default partition of events default`),
)

const insert = (id: number, at: Date) => database.query('insert into events values ($1, $2)', [id, at])
const placeOf = async (id: number) =>
  (await database.query('select tableoid::regclass::text as place from events where id = $1', [id])).rows[0]?.place
const partitions = async () =>
  (
    await database.query(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass order by 1`,
    )
  ).rows.map(({ name }) => name)

describe('ensurePartitions', () => {
  test('creates a partition for each day in UTC, with the indexes of the table, and does nothing the second time', async () => {
    const late = new Date('2026-11-15T23:59:59.999Z')
    assert.deepEqual(await ensurePartitions(db, 'events', { from: late, days: 2 }), {
      created: 2,
      moved: 0,
      skipped: 0,
    })
    assert.deepEqual(await partitions(), ['events_20261115', 'events_20261116', 'events_default'])
    assert.deepEqual(await ensurePartitions(db, 'events', { from: late, days: 2 }), {
      created: 0,
      moved: 0,
      skipped: 0,
    })
    await insert(1, new Date('2026-11-15T00:00:00.000Z'))
    await insert(2, late)
    await insert(3, new Date('2026-11-16T00:00:00.000Z'))
    await insert(4, new Date('2026-11-17T00:00:00.000Z'))
    assert.deepEqual(await Promise.all([1, 2, 3, 4].map(placeOf)), [
      'events_20261115',
      'events_20261115',
      'events_20261116',
      'events_default',
    ])
    const { rows } = await database.query(
      `select count(*)::int as count from pg_index where indrelid = 'events_20261115'::regclass`,
    )
    assert.deepEqual(rows, [{ count: 2 }])
  })

  test('moves rows of its day, and no others, from the default partition', async () => {
    await insert(1, day(0))
    await insert(2, day(0))
    await insert(3, day(1))
    assert.deepEqual(await ensurePartitions(db, 'events', { from: NOON, days: 1 }), {
      created: 1,
      moved: 2,
      skipped: 0,
    })
    assert.deepEqual(await Promise.all([1, 2, 3].map(placeOf)), [
      'events_20261115',
      'events_20261115',
      'events_default',
    ])
  })

  test('several processes at once create each partition once', async () => {
    await insert(1, day(3))
    const reports = await Promise.all(
      Array.from({ length: 4 }, () => ensurePartitions(db, 'events', { from: NOON, days: 5 })),
    )
    const sum = (read: (report: (typeof reports)[number]) => number) => reports.reduce((all, one) => all + read(one), 0)
    assert.equal(
      sum(({ created }) => created),
      5,
    )
    assert.equal(
      sum(({ moved }) => moved),
      1,
    )
    assert.equal((await partitions()).length, 6)
  })

  test('a locked day is skipped and counted, and created at the next run; no row is lost', async () => {
    await insert(1, day(0))
    await db.transaction(async (tx) => {
      await tx.rows({ name: '', text: 'select * from events' })
      assert.deepEqual(await ensurePartitions(db, 'events', { from: NOON, days: 1 }), {
        created: 0,
        moved: 0,
        skipped: 1,
      })
    })
    assert.equal(await placeOf(1), 'events_default')
    assert.deepEqual(await ensurePartitions(db, 'events', { from: NOON, days: 1 }), {
      created: 1,
      moved: 1,
      skipped: 0,
    })
  })

  test('a day with too many rows in the default partition is skipped, counted and logged', async () => {
    await database.query(`insert into events select n, $1 from generate_series(1, 50001) n`, [NOON])
    const lines: string[] = []
    const log = createLog('info', { write: (line) => void lines.push(line) })
    assert.deepEqual(await ensurePartitions(db, 'events', { from: NOON, days: 2 }, log), {
      created: 1,
      moved: 0,
      skipped: 1,
    })
    assert.equal(await placeOf(1), 'events_default')
    const { level, msg, detail, count } = JSON.parse(lines[0] ?? '{}')
    assert.deepEqual(
      [lines.length, level, msg, detail, count],
      [1, 'warn', 'days have no partition of their own yet', 'events', 1],
    )
  })

  test('works for a table without a default partition', async () => {
    await database.query('drop table events_default')
    assert.deepEqual(await ensurePartitions(db, 'events', { from: NOON, days: 1 }), {
      created: 1,
      moved: 0,
      skipped: 0,
    })
  })

  test('refuses a text that is not a table name, and a table without partitions', async () => {
    await assert.rejects(
      ensurePartitions(db, 'events; drop table events', { from: NOON, days: 1 }),
      /not the name of a table/,
    )
    await database.query('create table if not exists plain (id int)')
    await assert.rejects(ensurePartitions(db, 'plain', { from: NOON, days: 1 }), /plain is not partitioned/)
  })
})

describe('dropPartitionsBefore', () => {
  test('drops old empty days; days with rows, later days and the default partition stay', async () => {
    await ensurePartitions(db, 'events', { from: day(-3), days: 5 })
    await insert(1, day(-2))
    assert.equal(await dropPartitionsBefore(db, 'events', day(0)), 2)
    assert.deepEqual(await partitions(), ['events_20261113', 'events_20261115', 'events_20261116', 'events_default'])
    await database.query('delete from events')
    assert.equal(await dropPartitionsBefore(db, 'events', day(0)), 1)
  })

  test('the caller may decide which to drop, and decides again under the lock', async () => {
    await ensurePartitions(db, 'events', { from: day(-2), days: 3 })
    await insert(1, day(-2))
    await insert(2, day(-1))
    const asked: string[] = []
    const dropped = await dropPartitionsBefore(db, 'events', day(0), async (_tx, partition) => {
      asked.push(partition)
      return partition === partitionName('events', day(-2))
    })
    assert.equal(dropped, 1)
    assert.deepEqual(asked, ['events_20261113', 'events_20261113', 'events_20261114'])
    assert.equal(await placeOf(1), undefined)
    assert.equal(await placeOf(2), 'events_20261114')
  })

  test('a partition that got a row between the two checks stays', async () => {
    await ensurePartitions(db, 'events', { from: day(-1), days: 1 })
    let times = 0
    const dropped = await dropPartitionsBefore(db, 'events', day(0), async () => ++times === 1)
    assert.deepEqual([dropped, times], [0, 2])
    assert.equal((await partitions()).length, 2)
  })

  test('a partition in use stays until the next run', async () => {
    await ensurePartitions(db, 'events', { from: day(-1), days: 1 })
    await db.transaction(async (tx) => {
      await tx.rows({ name: '', text: 'select * from events' })
      assert.equal(await dropPartitionsBefore(db, 'events', day(0)), 0)
    })
    assert.equal(await dropPartitionsBefore(db, 'events', day(0)), 1)
  })
})
