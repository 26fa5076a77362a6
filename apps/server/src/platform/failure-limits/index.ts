import { setTimeout as sleep } from 'node:timers/promises'
import { FAILURE_LIMITS, type FailureLimitName } from '@ostiary/contract'
import { createStatementBatcher } from '../batcher.ts'
import type { Cells } from '../cells.ts'
import type { Clock } from '../clock.ts'
import type { Db } from '../db.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { createPairCounter } from '../metrics.ts'
import { purging } from '../purge-in-batches.ts'
import type { RateLimiter, RateVerdict } from '../rate-limit.ts'
import { logFailure } from '../reachability.ts'
import { createSharedCounts, type Failure, nameOf, perSecondOf } from './shared-counts.ts'
import { failureLimitStore } from './store.ts'

export type { Failure } from './shared-counts.ts'

interface Deps {
  cells: Cells
  clock: Clock
  log: Log
  metrics: Metrics
  /** The process's own count. Strangers can fill the second table. */
  limiter: RateLimiter
  addressLimiter: RateLimiter
  masterKey: Buffer
}

interface Waiting {
  failure: Failure
  count: number
  onBeyond: (count: number) => void
}

const MOST_AT_ONCE = 200
/** How long the answer to a failure waits for the database: as long as a statement may take. A database that is only slow must not loosen limits. */
const PATIENCE_MS = 5_000
/** After a timeout the process counts alone for this long. */
const PAUSE_MS = 5_000
/** Failures that are counted later wait for others, up to this share of the allowance, or for so long. */
const BATCH_SHARE = 0.05
const BATCH_MS = 1_000
/** Limits whose subjects are keys and tenants, which strangers cannot make up. */
const OWN_NAMES: ReadonlySet<FailureLimitName> = new Set<FailureLimitName>(['node-misses', 'failed-comparisons'])

/**
 * Limits that hold over all processes. The process's own count comes first: it refuses without the database, and holds alone while the
 * database is away. A failure within it is counted in the database, which all processes share, and that count decides
 * (docs/decisions/0026-limits-across-processes.md).
 */
export function createFailureLimits({ cells, clock, log, metrics, limiter, addressLimiter, masterKey }: Deps) {
  const results = metrics.add(
    createPairCounter('ostiary_failure_limits_total', RESULTS, {
      labels: ['limit', 'result'],
      firsts: LIMITS,
      seconds: ['counted', 'refused', 'alone'],
      both: 'limit_result',
    }),
  )
  const tableFor = (limit: FailureLimitName) => (OWN_NAMES.has(limit) ? limiter : addressLimiter)
  const shared = createSharedCounts({
    cells,
    clock,
    masterKey,
    onDebt: (limit, name, owedMs) => tableFor(limit).raise(name, owedMs, clock.monotonicMs()),
  })
  const batchers = new Map(
    LIMITS.map((limit) => {
      const count = (db: Db, failures: readonly Failure[]) => shared.count(db, limit, failures)
      return [limit, createStatementBatcher(count, MOST_AT_ONCE)]
    }),
  )
  const queue = createQueue(sendLater)
  const pausedUntilMs = new Map<Db, number>()

  function takeHere(failure: Failure): RateVerdict {
    const { burstSeconds } = FAILURE_LIMITS[failure.limit]
    return tableFor(failure.limit).take(sharesOf(failure), perSecondOf(failure), clock.monotonicMs(), burstSeconds)
  }

  function wait(failure: Failure): number {
    const { burstSeconds } = FAILURE_LIMITS[failure.limit]
    return tableFor(failure.limit).wait(sharesOf(failure), perSecondOf(failure), clock.monotonicMs(), burstSeconds)
  }

  const logUncounted = (err: unknown, limit: FailureLimitName) =>
    logFailure(log, 'warn', { err, limit }, 'failures could not be counted for all processes')

  /** Whether the failure is within the shared allowance. Undefined when the database does not say so in time. */
  async function countShared(failure: Failure): Promise<boolean | undefined> {
    const db = shared.dbFor(failure.tenantId)
    const batcher = batchers.get(failure.limit)
    if (!batcher || !db.isUp() || clock.monotonicMs() < (pausedUntilMs.get(db) ?? 0)) return undefined
    const enough = new AbortController()
    const tooLate = sleep(PATIENCE_MS, undefined, { signal: enough.signal }).catch(() => undefined)
    const counted = batcher(db, failure).catch((err: unknown) => logUncounted(err, failure.limit))
    try {
      const isWithin = await Promise.race([counted, tooLate])
      if (typeof isWithin === 'boolean') return isWithin
      pausedUntilMs.set(db, clock.monotonicMs() + PAUSE_MS)
      return undefined
    } finally {
      enough.abort()
    }
  }

  function reportBeyond({ failure, onBeyond }: Waiting, count: number): void {
    results.count(failure.limit, 'refused', count)
    onBeyond(count)
  }

  async function sendLater(waiting: Waiting): Promise<void> {
    const { failure, count } = waiting
    const db = shared.dbFor(failure.tenantId)
    const failures = Array.from({ length: count }, () => failure)
    const within = db.isUp()
      ? await shared.count(db, failure.limit, failures).catch((err: unknown) => logUncounted(err, failure.limit))
      : undefined
    const accepted = within?.filter(Boolean).length ?? count
    results.count(failure.limit, within ? 'counted' : 'alone', accepted)
    if (accepted < count) reportBeyond(waiting, count - accepted)
  }

  return {
    /** Seconds until another failure is within the allowance, as far as this process knows; 0 when it is now. Costs nothing. */
    wait,

    /** Counts a failure before it is answered. Returns the seconds to wait if it is beyond the allowance, else 0. */
    async count(failure: Failure): Promise<number> {
      const isWithin = takeHere(failure).allowed ? await countShared(failure) : false
      results.count(failure.limit, isWithin === undefined ? 'alone' : isWithin ? 'counted' : 'refused')
      return isWithin === false ? Math.max(1, wait(failure)) : 0
    },

    /**
     * Counts a failure without waiting for the database: for alarms, and for allowances of thousands. `onBeyond` gets the number of
     * failures beyond the allowance.
     */
    countSoon(failure: Failure, onBeyond: (count: number) => void): void {
      if (takeHere(failure).allowed) queue.add(failure, onBeyond)
      else reportBeyond({ failure, count: 1, onBeyond }, 1)
    },

    /** Sends what waits to the database. Returns when it is counted. */
    flush: queue.flush,
  }
}
export type FailureLimits = ReturnType<typeof createFailureLimits>

/** Deletes rows of those who have their whole allowance again. */
export const purgeFailureLimits = purging(failureLimitStore.purge)

/** Collects failures of the same subject, and sends them together. */
function createQueue(send: (waiting: Waiting) => Promise<void>) {
  const waiting = new Map<string, Waiting>()
  const underWay = new Set<Promise<void>>()
  let timer: NodeJS.Timeout | undefined

  function sendOne(key: string): void {
    const one = waiting.get(key)
    if (!one) return
    waiting.delete(key)
    const sending: Promise<void> = send(one).finally(() => underWay.delete(sending))
    underWay.add(sending)
  }

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    for (const key of [...waiting.keys()]) sendOne(key)
    await Promise.all(underWay)
  }

  return {
    flush,
    add(failure: Failure, onBeyond: (count: number) => void): void {
      const key = sharesOf(failure)
        .map(({ name }) => name)
        .join()
      const count = (waiting.get(key)?.count ?? 0) + 1
      waiting.set(key, { failure, count, onBeyond })
      const allowance = perSecondOf(failure) * FAILURE_LIMITS[failure.limit].burstSeconds
      if (count >= allowance * BATCH_SHARE) sendOne(key)
      else timer ??= setTimeout(() => void flush(), BATCH_MS).unref()
    },
  }
}

const sharesOf = (failure: Failure) =>
  failure.against.map(({ name, factor }) => ({ name: nameOf(failure, name), factor }))

const LIMITS = Object.keys(FAILURE_LIMITS) as FailureLimitName[]

const RESULTS =
  'Failures by limit: counted, refused (beyond the limit), alone (the database did not count them, only the process did)'
