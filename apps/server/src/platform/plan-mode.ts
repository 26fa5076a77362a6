import { type Db, type Statement, sql } from './db.ts'

/**
 * The rest of the transaction is planned for its values. For statements whose plan must leave out the partitions of other days, which a plan
 * for any values cannot: an update that joins (measured with 68 days: 24 ms instead of 158 for 200 sessions).
 */
export const PLAN_FOR_VALUES = sql(
  'plans.for_values',
  `select set_config('plan_cache_mode', 'force_custom_plan', true)`,
)

/**
 * The rest of the transaction is planned without a scan of a whole table. For statements that name the places of their rows (ctid): while a table is
 * small a scan looks cheaper, and the plan stays when the table grows, until PostgreSQL counts its rows again.
 */
export const PLAN_BY_PLACE = sql('plans.by_place', `select set_config('enable_seqscan', 'off', true)`)

/** Runs one statement that names places. The setting travels with it. */
export async function rowsByPlace<R extends object>(
  db: Pick<Db, 'transaction'>,
  statement: Statement,
  values: readonly unknown[],
): Promise<R[]> {
  const [, rows] = await db.transaction((tx) => Promise.all([tx.rows(PLAN_BY_PLACE), tx.rows<R>(statement, values)]))
  return rows
}
