import { SESSION_LIMITS, SETTINGS_LIMITS } from '@ostiary/contract'
import { DAY_MS } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import { dropPartitionsBefore, ensurePartitions } from '../platform/partitions.ts'
import { purgeInBatches } from '../platform/purge-in-batches.ts'
import type { ScheduledJob } from '../platform/queue.ts'
import type { WebhookMetrics } from './metrics.ts'
import { type RemovedDelivery, webhookStore } from './store.ts'
import { troubleStore } from './trouble-store.ts'

const TABLES = ['webhook_deliveries', 'webhook_attempts'] as const
/** A week without a worker, and rows still have a partition of their day. */
const DAYS_AHEAD = 8

/** No event of a session comes after its lifetime, and nothing of it is kept longer than this after its end. */
const LOG_MS = (SESSION_LIMITS.lifetimeSecondsMax + SETTINGS_LIMITS.retentionSecondsMax) * 1000 + DAY_MS
/** Of one batch so many are named. */
const NAMED_MAX = 10

interface Deps {
  log: Log
  metrics: Pick<WebhookMetrics, 'deliveries'>
}

/** Deletes messages whose session's data goes now, with their log and what was under way. */
export async function purgeWebhooks(db: Db, now: Date, deps?: Deps): Promise<number> {
  // One with pending deliveries is probed every few minutes, so it is not among these.
  await troubleStore.forgetTrouble(db, new Date(now.getTime() - DAY_MS))
  return purgeInBatches(webhookStore.purgeBatch, async () => {
    const { removed, pending } = await webhookStore.purge(db, now)
    if (deps && pending.length > 0) noteLost(deps, pending)
    return removed
  })
}

/** Their receiver rested, or no worker ran: nobody else would ever say so. */
function noteLost({ log, metrics }: Deps, lost: readonly RemovedDelivery[]): void {
  const code = 'retention'
  metrics.deliveries.count(code, lost.length)
  for (const { tenantId, subjectId, deliveryId, livemode } of lost.slice(0, NAMED_MAX)) {
    log.warn(
      { tenantId, sessionId: subjectId, deliveryId, livemode, code },
      'a webhook was not delivered before the data went',
    )
  }
  log.warn({ count: lost.length, code }, 'webhooks were not delivered before the data went')
}

/**
 * Makes the days to come and drops those that are over. Days of messages go when they are empty; yesterday stays, because a
 * transaction or a clock that lags may still write there. Days of the log go by their age: one that is empty can still get
 * the attempts of messages that wait. Returns how many partitions were made or dropped.
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
  { name: 'purge-webhooks', cron: '* * * * *', run: (db, now) => purgeWebhooks(db, now, deps) },
  {
    name: 'arrange-webhook-partitions',
    cron: '23 * * * *',
    run: (db, now) => arrangeWebhookPartitions(db, now, deps.log),
  },
]
