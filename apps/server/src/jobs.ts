import { purgeUsedEnvelopes } from './biometrics/index.ts'
import { purgeUsedAssertions } from './keys/index.ts'
import { purgeIdempotencyKeys } from './platform/idempotency/index.ts'
import type { ScheduledJob } from './platform/queue.ts'
import { purgeOldExceptions } from './sanctions/index.ts'
import { dropSessionPartitions, prepareSessionPartitions, purgeSessions } from './sessions/index.ts'
import { purgeExpiredStrings } from './strings/index.ts'
import { purgeLocalKeys, purgeLockouts, discardOrphanedEnrolments } from './verification/index.ts'
import { webhookJobs } from './webhooks/index.ts'
import type { Wire } from './wire.ts'

/** The worker's table of contents. */
export function listJobs({
  node,
  refresher,
  cells,
  log,
  webhookMetrics,
}: Pick<Wire, 'node' | 'refresher' | 'cells' | 'log' | 'webhookMetrics'>): readonly ScheduledJob[] {
  return [
    { name: 'purge-sessions', cron: '* * * * *', run: purgeSessions },
    {
      name: 'prepare-session-partitions',
      cron: '23 * * * *',
      run: (db, now) => prepareSessionPartitions(db, now, log),
    },
    { name: 'drop-session-partitions', cron: '41 * * * *', run: dropSessionPartitions },
    ...webhookJobs({ log, metrics: webhookMetrics }),
    { name: 'purge-idempotency-keys', cron: '*/5 * * * *', run: purgeIdempotencyKeys },
    { name: 'purge-used-assertions', cron: '*/5 * * * *', run: purgeUsedAssertions },
    { name: 'purge-expired-strings', cron: '*/5 * * * *', run: purgeExpiredStrings },
    { name: 'purge-old-exceptions', cron: '17 * * * *', run: purgeOldExceptions },
    // The lists are files that all cells share: one cell's turn is enough.
    {
      name: 'refresh-datasets',
      cron: '*/5 * * * *',
      run: async (db, now) => (db === cells.all()[0]?.db ? refresher.run(now) : 0),
    },
    { name: 'purge-used-envelopes', cron: '*/5 * * * *', run: purgeUsedEnvelopes },
    { name: 'purge-lockouts', cron: '*/5 * * * *', run: purgeLockouts },
    { name: 'purge-local-keys', cron: '53 * * * *', run: purgeLocalKeys },
    {
      name: 'discard-orphaned-enrolments',
      cron: '* * * * *',
      run: (db, now) => discardOrphanedEnrolments(db, node.recognition, now),
    },
    { name: 'arrange-face-shelves', cron: '* * * * *', run: node.shelves.arrange },
    { name: 'vacuum-deleted-faces', cron: '* * * * *', run: node.shelves.vacuumDeleted },
  ]
}
