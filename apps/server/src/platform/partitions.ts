import { DAY_MS } from './clock.ts'
import { type Db, type Queryable, sql } from './db.ts'
import type { Log } from './log.ts'

/** How many of the requested days were created or skipped. */
export interface PartitionReport {
  created: number
  /** Rows that had to be moved from the default partition into a new one. */
  moved: number
  /** Days that could not be created now: a lock was not free in time, or the default partition holds too many of their rows. */
  skipped: number
}

// An arbitrary constant that must be the same in every release.
const LOCK_CLASS = 7_305_811
// A statement that waits for such a lock makes all later statements on the table wait too.
const LOCK_TIMEOUT = sql('partitions.lock_timeout', `select set_config('lock_timeout', '2s', true)`)
const TAKE_TURN = sql('partitions.take_turn', `select pg_advisory_xact_lock($1, hashtext($2))`)
/** More rows than this are not moved at once, because the default partition is locked while they move. */
const MOVE_MAX = 50_000

const DESCRIBE = sql(
  'partitions.describe',
  `select a.attname as "keyColumn", d.relname as "defaultPartition"
   from pg_partitioned_table p
   join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]
   left join pg_class d on d.oid = p.partdefid
   where p.partrelid = $1::text::regclass`,
)
const LIST = sql(
  'partitions.list',
  `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent = $1::text::regclass order by c.relname`,
)

// Another process created it, held the lock, or added a row to the default partition: the next run tries again.
const NOT_NOW = new Set(['55P03', '40P01', '42P07', '23514', '57014'])

export interface DaysWanted {
  from: Date
  days: number
  /** Fill factor of pages in percent. Less leaves space for the next version of a row in its page, so that an update touches no index. */
  fillFactor?: number
}

/**
 * Creates daily partitions for `days` days, starting with the day (UTC) of `from`, for a table that is partitioned
 * by range of a timestamp. Names are `<table>_20261115`. Several processes may do this at once. Rows of a day that are already in the
 * default partition are moved into the new one. A day that cannot be created now is counted and left for the next run: until then the
 * default partition takes its rows, so no insert fails. Throws only on database errors.
 */
export async function ensurePartitions(
  db: Db,
  table: string,
  { from, days, fillFactor = 100 }: DaysWanted,
  log?: Log,
): Promise<PartitionReport> {
  checkName(table)
  const report: PartitionReport = { created: 0, moved: 0, skipped: 0 }
  const existing = await listPartitions(db, table)
  const first = startOfDay(from)
  const wanted = Array.from({ length: days }, (_, day) => new Date(first.getTime() + day * DAY_MS))
  for (const start of wanted) {
    const name = partitionName(table, start)
    if (existing.has(name)) continue
    const moved = await orNotNow(() => createPartition(db, table, { name, start, fillFactor }))
    if (moved === undefined) report.skipped++
    else {
      report.created++
      report.moved += moved
    }
  }
  if (log && report.skipped > 0) {
    const made = await listPartitions(db, table)
    // Another process may have created it at the same time.
    const missing = wanted.filter((start) => !made.has(partitionName(table, start))).length
    if (missing > 0) log.warn({ detail: table, count: missing }, 'days have no partition of their own yet')
  }
  return report
}

/** The names of all partitions of a table, with the default one. */
export async function listPartitions(db: Db, table: string): Promise<Set<string>> {
  return new Set((await db.rows<{ name: string }>(LIST, [table])).map(({ name }) => name))
}

/**
 * Drops the daily partitions that end at or before the day of `before` if `mayGo` returns true; by default, if they are empty.
 * `mayGo` is called again under the lock, when no transaction can write to the partition. Returns how many were dropped. A partition
 * that is in use stays for the next run.
 */
export async function dropPartitionsBefore(
  db: Db,
  table: string,
  before: Date,
  mayGo: (tx: Queryable, partition: string) => Promise<boolean> = isEmpty,
): Promise<number> {
  checkName(table)
  const limit = partitionName(table, before)
  const old = (await db.rows<{ name: string }>(LIST, [table])).filter(
    ({ name }) => isDaily(table, name) && name < limit,
  )
  let dropped = 0
  for (const { name } of old) {
    // Checked without a lock first: most partitions are still needed, and then no other statement has to wait.
    if (!(await orNotNow(() => mayGo(db, name)))) continue
    const gone = await orNotNow(() => dropPartition(db, table, name, mayGo))
    if (gone === true) dropped++
  }
  return dropped
}

/** The name of the partition that a time belongs to. */
export function partitionName(table: string, moment: Date): string {
  return `${table}_${moment.toISOString().slice(0, 10).replaceAll('-', '')}`
}

/** Returns how many rows of the day were in the default partition. */
function createPartition(
  db: Db,
  table: string,
  { name, start, fillFactor }: { name: string; start: Date; fillFactor: number },
): Promise<number> {
  const [lower, upper] = [start.toISOString(), new Date(start.getTime() + DAY_MS).toISOString()]
  return db.transaction(async (tx) => {
    await tx.rows(LOCK_TIMEOUT)
    await tx.rows(TAKE_TURN, [LOCK_CLASS, table])
    const [shape] = await tx.rows<{ keyColumn: string; defaultPartition: string | null }>(DESCRIBE, [table])
    if (!shape) throw new Error(`${table} is not partitioned`)
    // Created as a separate table and then attached: `create table … partition of` would lock out every reader.
    await tx.run(ddl(`create table ${name} (like ${table} including all) with (fillfactor = ${fillFactor})`))
    let moved = 0
    if (shape.defaultPartition !== null) {
      const within = `${shape.keyColumn} >= '${lower}' and ${shape.keyColumn} < '${upper}'`
      // Counted without the lock first: if there are too many rows, no other statement has to wait.
      await countRows(tx, shape.defaultPartition, within)
      await tx.run(ddl(`lock table ${shape.defaultPartition} in access exclusive mode`))
      moved = await moveRows(tx, { from: shape.defaultPartition, to: name, within })
    }
    await tx.run(ddl(`alter table ${table} attach partition ${name} for values from ('${lower}') to ('${upper}')`))
    return moved
  })
}

async function moveRows(
  tx: Queryable,
  { from, to, within }: { from: string; to: string; within: string },
): Promise<number> {
  if ((await countRows(tx, from, within)) === 0) return 0
  return tx.run(
    ddl(`with moved as (delete from ${from} where ${within} returning *) insert into ${to} select * from moved`),
  )
}

async function countRows(tx: Queryable, from: string, within: string): Promise<number> {
  const counting = `select count(*)::int as count from (select from ${from} where ${within} limit ${MOVE_MAX + 1}) as found`
  const [{ count } = { count: 0 }] = await tx.rows<{ count: number }>(ddl(counting))
  if (count > MOVE_MAX) throw Object.assign(new Error('too many rows to move'), { code: '55P03' })
  return count
}

function dropPartition(
  db: Db,
  table: string,
  name: string,
  mayGo: (tx: Queryable, partition: string) => Promise<boolean>,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    await tx.rows(LOCK_TIMEOUT)
    await tx.rows(TAKE_TURN, [LOCK_CLASS, table])
    // Locks the table first and the partition second: the order of all other statements.
    await tx.run(ddl(`lock table only ${table} in access exclusive mode`))
    await tx.run(ddl(`lock table ${name} in access exclusive mode`))
    if (!(await mayGo(tx, name))) return false
    await tx.run(ddl(`drop table ${name}`))
    return true
  })
}

async function isEmpty(tx: Queryable, partition: string): Promise<boolean> {
  return (await tx.rows(ddl(`select 1 from ${partition} limit 1`))).length === 0
}

async function orNotNow<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    // A statement that took too long is reported as "the store is away", with the reason in its cause.
    const codes = [error, error instanceof Error ? error.cause : undefined].map((one) =>
      one instanceof Error && 'code' in one ? String(one.code) : '',
    )
    if (codes.some((code) => NOT_NOW.has(code))) return undefined
    throw error
  }
}

/** Without a name: the statement runs once and is not worth preparing. */
function ddl(text: string) {
  return sql('', text)
}

function isDaily(table: string, name: string): boolean {
  return name.startsWith(`${table}_`) && /^\d{8}$/.test(name.slice(table.length + 1))
}

function startOfDay(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / DAY_MS) * DAY_MS)
}

function checkName(table: string): void {
  if (!/^[a-z][a-z_]*$/.test(table)) throw new Error('not the name of a table of ours')
}
