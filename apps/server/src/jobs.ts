import type { ScheduledJob } from './platform/queue.ts'
import type { Wire } from './wire.ts'

/** The worker's table of contents. */
export function listJobs(wire: Wire): readonly ScheduledJob[] {
  return [
    ...wire.sessions.jobs,
    ...wire.webhooks.jobs,
    ...wire.platform.jobs,
    ...wire.keys.jobs,
    ...wire.strings.jobs,
    ...wire.sanctions.jobs,
    ...wire.verification.jobs,
    ...wire.documents.jobs,
    ...wire.matcher.jobs,
    ...wire.biometrics.jobs,
  ]
}
