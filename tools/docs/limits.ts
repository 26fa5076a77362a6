import { FAILURE_LIMITS, type FailureLimitName, LOCKOUT, NETWORK_PREFIXES, type Rate } from '@ostiary/contract'
import { table } from './table.ts'

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

/** For docs/configuration.md. */
export function limits(): string {
  const factors = NETWORK_PREFIXES.map(({ factor }) => factor)
  const rows = Object.entries(FAILURE_LIMITS).map(([name, rate]) => {
    const { counts, against, beyond } = MEANINGS[name as FailureLimitName]
    const isOfNetworks = against.startsWith('network')
    const shares = factors.map((factor, at) => (isOfNetworks || at === 0 ? allowanceOf(rate, factor) : ''))
    return [`\`${name}\``, counts, against, ...shares, spanOf(rate), beyond]
  })
  const lockout = [
    'sign-in failures',
    'failed sessions of area D',
    'network, person, local key, per tenant',
    ...factors.map((factor) => Math.floor(LOCKOUT.failures * factor)),
    `${LOCKOUT.windowSeconds / 60} minutes`,
    `waits of ${LOCKOUT.waitSeconds.join(', ')} seconds: -35`,
  ]
  return table('Limit | Counts | Against | One address or /64 | /56 | /48 | In | Beyond it', [lockout, ...rows])
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
