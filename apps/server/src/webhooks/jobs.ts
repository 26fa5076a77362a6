import { SESSION_LIMITS, SETTINGS_LIMITS } from '@ostiary/contract'
import { DAY_MS } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { dropPartitionsBefore, ensurePartitions } from '../platform/partitions.ts'
import { purgeInBatches } from '../platform/purge-in-batches.ts'
import type { ScheduledJob } from '../platform/queue.ts'
import { breakerStore } from './breaker-store.ts'
import type { WebhookMetrics } from './metrics.ts'
import { type RemovedDelivery, webhookStore } from './store.ts'
import { streamStore } from './stream-store.ts'
import { webhookKeyStore } from './webhook-key-store.ts'

const TABLES = ['webhook_deliveries', 'webhook_attempts'] as const
/** Partitions are created a week ahead, so that rows have one even after a week without a worker. */
const DAYS_AHEAD = 8

/** A session sends no event after its lifetime, and its data is kept at most this long after its end. */
const LOG_MS = (SESSION_LIMITS.lifetimeSecondsMax + SETTINGS_LIMITS.retentionSecondsMax) * 1000 + DAY_MS
/** So many undelivered messages of a batch are logged one by one. */
const NAMED_MAX = 10

interface Deps {
  log: Log
  metrics: Pick<WebhookMetrics, 'deliveries'>
}

/** Deletes messages whose session data is due for purging, with their log and queue rows, and private halves of keys that sign no more. */
export async function purgeWebhooks(db: Db, now: Date, deps?: Deps): Promise<number> {
  // A receiver with pending deliveries is probed every few minutes, so it is not deleted here.
  await breakerStore.deleteStale(db, new Date(now.getTime() - DAY_MS))
  await webhookKeyStore.eraseEnded(db, now)
  await purgeInBatches(streamStore.purgeBatch, () => streamStore.purge(db, now))
  return purgeInBatches(webhookStore.purgeBatch, async () => {
    const { removed, pending } = await webhookStore.purge(db, now)
    if (deps && pending.length > 0) noteLost(deps, pending)
    return removed
  })
}

/** Their receiver's breaker was open, or no worker ran. Nothing else reports these. */
function noteLost({ log, metrics }: Deps, lost: readonly RemovedDelivery[]): void {
  const code = 'retention'
  metrics.deliveries.count(code, lost.length)
  for (const { tenantId, subjectId, deliveryId, livemode } of lost.slice(0, NAMED_MAX)) {
    log.warn(
      { tenantId, sessionId: subjectId, deliveryId, livemode, code },
      'a webhook was not delivered before its data was purged',
    )
  }
  log.warn({ count: lost.length, code }, 'webhooks were not delivered before their data was purged')
}

/**
 * Creates the partitions of the coming days and drops old ones. An empty day of messages is dropped, except yesterday, because
 * a transaction or a clock that lags may still write there. A day of the log is dropped by its age: an empty one
 * can still get attempts of pending messages. Returns how many partitions were created or dropped.
 */
export async function arrangeWebhookPartitions(db: Db, now: Date, log?: Log): Promise<number> {
  const before = (ms: number) => new Date(now.getTime() - ms)
  let changed = 0
  for (const table of TABLES) {
    changed += (await ensurePartitions(db, table, { from: before(DAY_MS), days: DAYS_AHEAD + 1 }, log)).created
  }
  changed += await dropPartitionsBefore(db, 'webhook_deliveries', before(DAY_MS))
  return changed + (await dropPartitionsBefore(db, 'webhook_attempts', before(LOG_MS), async () => true))
}

export const webhookJobs = (deps: Deps): readonly ScheduledJob[] => [
  {
    name: 'purge-webhooks',
    cron: '* * * * *',
    run: (db, now) => purgeWebhooks(db, now, deps),
    due: { table: 'webhook_deliveries', column: 'purge_at' },
  },
  {
    name: 'arrange-webhook-partitions',
    cron: '23 * * * *',
    run: (db, now) => arrangeWebhookPartitions(db, now, deps.log),
  },
]
