import type { Db } from '../platform/db.ts'
import { dropPartitionsBefore, ensurePartitions } from '../platform/partitions.ts'
import type { ScheduledJob } from '../platform/queue.ts'
import { queueStore } from './queue-store.ts'
import { webhookStore } from './store.ts'

const TABLES = ['webhook_deliveries', 'webhook_attempts'] as const
const DAY_MS = 86_400_000
/** A week without a worker, and rows still have a partition of their day. */
const DAYS_AHEAD = 8

/** Deletes messages whose session's data goes now, with their log and what was under way. */
export async function purgeWebhooks(db: Db, now: Date): Promise<number> {
  // One with pending deliveries is probed every few minutes, so it is not among these.
  await queueStore.forgetTrouble(db, new Date(now.getTime() - DAY_MS))
  let total = 0
  for (;;) {
    const deleted = await webhookStore.purge(db, now)
    total += deleted
    if (deleted < webhookStore.purgeBatch) return total
  }
}

/**
 * Makes the days to come and drops those that are empty. Yesterday stays: a transaction or a clock that lags may still write there.
 * Returns how many partitions were made or dropped.
 */
export async function arrangeWebhookPartitions(db: Db, now: Date): Promise<number> {
  let changed = 0
  for (const table of TABLES) {
    const { created } = await ensurePartitions(db, table, new Date(now.getTime() - DAY_MS), DAYS_AHEAD + 1)
    changed += created + (await dropPartitionsBefore(db, table, new Date(now.getTime() - DAY_MS)))
  }
  return changed
}

export const webhookJobs: readonly ScheduledJob[] = [
  { name: 'purge-webhooks', cron: '* * * * *', run: purgeWebhooks },
  { name: 'arrange-webhook-partitions', cron: '23 * * * *', run: arrangeWebhookPartitions },
]
