import { watchCells } from './cell-gauges.ts'
import type { Cell } from './cells.ts'
import { type Db, sql } from './db.ts'
import type { Platform } from './platform.ts'
import type { DueRows, ScheduledJob } from './queue.ts'

const EVERY_MS = 60_000

// A partitioned table counts with all its partitions, indexes and large values.
const SIZES = sql(
  'platform.table_bytes',
  `select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as table, sum(pg_total_relation_size(c.oid))::float8 as bytes
   from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' group by 1`,
)

/** Gauges of the cells that this worker serves: rows that no task has deleted in time, and the size of each table. */
export function watchTasks(platform: Platform, jobs: readonly ScheduledJob[]): void {
  const { clock, leases } = platform
  const isWatched = (cell: Cell) => leases.of(cell).isOn()
  const purges = jobs.flatMap(({ name, due }) => (due ? [{ task: name, due, oldest: oldestOf(name, due) }] : []))

  async function overdueSeconds(db: Db): Promise<Record<string, number>> {
    const found: Record<string, number> = {}
    for (const { task, due, oldest } of purges) {
      const dueMs = clock.now().getTime() - (due.keptMs ?? 0)
      const [row] = await db.rows<{ oldest: Date | null }>(oldest, [new Date(dueMs)])
      found[task] = row?.oldest ? (dueMs - row.oldest.getTime()) / 1000 : 0
    }
    return found
  }

  watchCells(platform, {
    everyMs: EVERY_MS,
    isWatched,
    measure: ({ db }) => overdueSeconds(db),
    gauges: [
      {
        name: 'ostiary_purge_overdue_seconds',
        help: 'How long the oldest row that the task deletes has been past its time',
        label: 'task',
        read: (seconds) => seconds,
      },
    ],
  })
  watchCells(platform, {
    everyMs: EVERY_MS,
    isWatched,
    measure: ({ db }) => db.rows<{ table: string; bytes: number }>(SIZES),
    gauges: [
      {
        name: 'ostiary_table_bytes',
        help: 'Bytes of each table with its partitions and indexes',
        label: 'table',
        read: (tables) => Object.fromEntries(tables.map(({ table, bytes }) => [table, bytes])),
      },
    ],
  })
}

/** Reads one row of an index. */
const oldestOf = (task: string, { table, column, where = 'true' }: DueRows) =>
  sql(
    `platform.oldest_${task.replaceAll('-', '_')}`,
    `select min(${column})::timestamptz as oldest from ${table} where ${column} <= $1 and ${where}`,
  )
