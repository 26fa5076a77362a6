import { purgeIdempotencyKeys } from './platform/idempotency/index.ts'
import type { ScheduledJob } from './platform/queue.ts'
import { purgeExpiredStrings } from './strings/index.ts'

/** The worker's table of contents. */
export const JOBS: readonly ScheduledJob[] = [
  { name: 'purge-idempotency-keys', cron: '*/5 * * * *', run: purgeIdempotencyKeys },
  { name: 'purge-expired-strings', cron: '*/5 * * * *', run: purgeExpiredStrings },
]
