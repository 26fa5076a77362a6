import {
  FAILURE_LIMITS,
  type FailureLimitName,
  HIT_BUDGET,
  LAUNCH_RATES,
  LOCKOUT,
  NETWORK_PREFIXES,
  type Rate,
  TENANT_SETTINGS_DEFAULTS,
} from '@ostiary/contract'

/** What each limit counts, against whom, and what happens beyond it. */
const MEANINGS: Readonly<Record<FailureLimitName, { counts: string; against: string; beyond: string }>> = {
  'unknown-keys': {
    counts: 'API keys that do not exist',
    against: 'network',
    beyond: '429 for keys that the process has not found before',
  },
  'key-checks': { counts: 'wrong keys at the key check of area E', against: 'network', beyond: '429' },
  'client-credentials': {
    counts: 'wrong client credentials',
    against: 'network',
    beyond: '429 for wrong ones, and for clients that the process has not found before',
  },
  'handoff-codes': {
    counts: 'wrong and expired handoff codes',
    against: 'network, per tenant',
    beyond: '429, for the right code too',
  },
  'node-misses': {
    counts: 'unrecognised predictions of area E',
    against: 'key',
    beyond: 'alarm: `ostiary_node_probing_alarms_total`, a log line',
  },
  'failed-comparisons': {
    counts: 'faces that area D compared in vain',
    against: 'tenant and mode',
    beyond:
      'alarm: `ostiary_failed_comparison_alarms_total`, a log line; sessions that compare end with -35 and `retryAfter`',
  },
}

/** The chapter "Limits" of docs/configuration.md. */
export function limitsChapter(): string {
  const factors = NETWORK_PREFIXES.map(({ factor }) => factor)
  const rows = Object.entries(FAILURE_LIMITS).map(([name, rate]) => {
    const { counts, against, beyond } = MEANINGS[name as FailureLimitName]
    const shares = against.startsWith('network')
      ? factors.map((factor) => allowanceOf(rate, factor))
      : [allowanceOf(rate, 1), '', '']
    return `| \`${name}\` | ${counts} | ${against} | ${shares.join(' | ')} | ${spanOf(rate)} | ${beyond} |`
  })
  const failures = factors.map((factor) => Math.floor(LOCKOUT.failures * factor))
  const lockout = `| sign-in failures | failed sessions of area D | network, person, local key, per tenant | ${failures.join(' | ')} | ${LOCKOUT.windowSeconds / 60} minutes | waits of ${LOCKOUT.waitSeconds.join(', ')} seconds: -35 |`
  return `## Limits

Not settings, with one exception. **Limits that matter for security hold over all processes**: failures are counted in PostgreSQL, in the tenant's cell, and
what has no tenant yet (wrong keys, client credentials) in the first cell. A request that succeeds writes nothing, and neither does one that is refused
because the limit is reached. While that database is away each process counts for itself: then N processes let through N times as much. Why, and what it costs shared networks:
[decision 0026](decisions/0026-limits-across-processes.md).

An IPv6 address counts against its /64, its /56 and its /48, an IPv4 address against itself only.

| Limit | Counts | Against | One address or /64 | /56 | /48 | In | Beyond it |
|---|---|---|---|---|---|---|---|
${[lockout, ...rows].join('\n')}

The allowance comes back evenly over the time in the column "In". After sign-in failures the whole allowance returns at once, one window after the first failure or the last wait.
\`failed-comparisons\` is the exception: the tenant's setting \`failedComparisonsPerHour\` replaces its ${TENANT_SETTINGS_DEFAULTS.failedComparisonsPerHour.toLocaleString('en')}.
The metric \`ostiary_failure_limits_total{limit_result="unknown-keys refused"}\` counts failures of each limit: \`counted\`, \`refused\` (beyond it) and \`alone\` (the database did not count them in
time). \`alone\` above 0 means that limits hold per process only.

**Face hits of one person** (area E, live keys): hits and near misses are counted over all keys of the tenant and all processes. From ${HIT_BUDGET.hour.alarm} an hour or ${HIT_BUDGET.day.alarm} a day the operator gets an alarm
(\`ostiary_node_hit_alarms_total\`) and the key tells one score band; above ${HIT_BUDGET.hour.refuse} an hour or ${HIT_BUDGET.day.refuse} a day it gets 429, for all its predictions and enrolments, until an hour after the last such answer. So an end user
who is seen more than ${HIT_BUDGET.hour.refuse} times in an hour makes every key that sees them get 429. Processes write a person's hits in fives, so each may be up to four behind the others.

**Limits on ordinary requests hold per process**: the rates of keys and of callers without one (docs/api), ${LAUNCH_RATES.address.perSecond} calls a second per address and ${LAUNCH_RATES.session.perSecond} per session of the launch page. With N
processes a caller reaches N times the rate. They keep callers from crowding out others and protect no secret. The same networks count, with the same factors. A process keeps 50,000 callers with a key and 50,000 addresses; when all of
them still owe, newcomers share 1,024 allowances (\`ostiary_rate_limit_overflow_total\`).
`
}

function allowanceOf({ perSecond, burstSeconds }: Required<Rate>, factor: number): string {
  return Math.floor(perSecond * burstSeconds * factor + 1e-6).toLocaleString('en')
}

function spanOf({ burstSeconds }: Required<Rate>): string {
  if (burstSeconds === 3600) return 'an hour'
  return burstSeconds < 60
    ? `${burstSeconds} seconds`
    : burstSeconds === 60
      ? 'a minute'
      : `${burstSeconds / 60} minutes`
}
