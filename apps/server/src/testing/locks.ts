import { eventually } from '@ostiary/testkit/eventually'
import type { TestDatabase } from './harness.ts'

/** Whether a statement in this database waits for a lock that another transaction holds. Only tests import this. */
export async function isBlocked({ query }: Pick<TestDatabase, 'query'>): Promise<boolean> {
  const blocked = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await query(blocked)).rows.length > 0
}

export async function untilBlocked(database: Pick<TestDatabase, 'query'>): Promise<void> {
  await eventually(() => isBlocked(database), 'no statement waits for a lock')
}
