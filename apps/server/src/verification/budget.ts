import { TENANT_SETTINGS_DEFAULTS } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import type { FailureLimits } from '../platform/failure-limits/index.ts'
import type { Log } from '../platform/log.ts'
import { createLabelledCounter, type Metrics, MODES } from '../platform/metrics.ts'
import type { RateLimiter } from '../platform/rate-limit.ts'
import type { VerificationSession } from './types.ts'

interface Deps {
  failureLimits: FailureLimits
  limiter: RateLimiter
  clock: Clock
  log: Log
  metrics: Metrics
}

const ALARM_EVERY_SECONDS = 600

/**
 * A tenant's budget of failed comparisons, over all people, networks and processes. Many networks with a few tries each pass every other
 * limit; beyond this one the tenant's sign-ins wait, and an alarm is raised.
 */
export function createBudget({ failureLimits, limiter, clock, log, metrics }: Deps) {
  const alarms = metrics.add(
    createLabelledCounter(
      'ostiary_failed_comparison_alarms_total',
      'Sessions that wait, and failed comparisons, beyond the budget of a tenant (failedComparisonsPerHour): someone may be trying faces from many networks',
      { label: 'mode', values: MODES },
    ),
  )

  function failureOf({ tenantId, livemode, request }: VerificationSession) {
    // Sessions of an earlier version have no number of their own.
    const { failedComparisonsPerHour = TENANT_SETTINGS_DEFAULTS.failedComparisonsPerHour } = request.policy
    const against = [{ name: livemode ? 'live' : 'test', factor: 1 }]
    return { limit: 'failed-comparisons', tenantId, against, perSecond: failedComparisonsPerHour / 3600 } as const
  }

  function raiseAlarm({ tenantId, livemode }: VerificationSession, count: number): void {
    alarms.count(livemode ? 'live' : 'test', count)
    const name = `budget-log/${tenantId}/${livemode}`
    const quiet = limiter.take(name, 1 / ALARM_EVERY_SECONDS, clock.monotonicMs(), ALARM_EVERY_SECONDS)
    if (quiet.allowed) log.warn({ tenantId, livemode }, 'the budget of failed comparisons is used up: sign-ins wait')
  }

  return {
    /**
     * Seconds until a comparison may fail again; 0 when it may now. A wait is an alarm. Reads nothing: the process learns the count of all
     * processes with its own failures.
     */
    waitOf(session: VerificationSession): number {
      const seconds = failureLimits.wait(failureOf(session))
      if (seconds > 0) raiseAlarm(session, 1)
      return seconds
    },

    /** Counts a failed comparison. */
    count(session: VerificationSession): void {
      failureLimits.countSoon(failureOf(session), (count) => raiseAlarm(session, count))
    },
  }
}
export type Budget = ReturnType<typeof createBudget>
