import { purgeUsedEnvelopes } from './biometrics/index.ts'
import { purgeIdempotencyKeys } from './platform/idempotency/index.ts'
import type { ScheduledJob } from './platform/queue.ts'
import { purgeExpiredStrings } from './strings/index.ts'
import type { Wire } from './wire.ts'

/** The worker's table of contents. */
export function listJobs({ node }: Pick<Wire, 'node'>): readonly ScheduledJob[] {
  return [
    { name: 'purge-idempotency-keys', cron: '*/5 * * * *', run: purgeIdempotencyKeys },
    { name: 'purge-expired-strings', cron: '*/5 * * * *', run: purgeExpiredStrings },
    { name: 'purge-used-envelopes', cron: '*/5 * * * *', run: purgeUsedEnvelopes },
    { name: 'arrange-face-shelves', cron: '* * * * *', run: node.shelves.arrange },
    { name: 'vacuum-deleted-faces', cron: '* * * * *', run: node.shelves.vacuumDeleted },
  ]
}
