import { VERSION } from '@ostiary/contract'
import { createCellStates, watchCellStates } from './cell-state.ts'
import { type CellMap, createCells, urlsOf } from './cells.ts'
import { type Clock, systemClock } from './clock.ts'
import { createDb } from './db.ts'
import { createFailureLimits, purgeFailureLimits } from './failure-limits/index.ts'
import { createHealthMonitor } from './health.ts'
import { purgeIdempotencyKeys } from './idempotency/index.ts'
import { createIds } from './ids.ts'
import { createKeyVault } from './key-vault.ts'
import { createLeases } from './leases.ts'
import { createLog, type Log } from './log.ts'
import { createMetrics, watchLimiters, watchPools } from './metrics.ts'
import { createOutbound } from './outbound/index.ts'
import { createProcessorBudgets } from './processor-budget.ts'
import { createRateLimiter } from './rate-limit.ts'
import type { Room } from './room.ts'
import type { Tracing } from './tracing.ts'

/** The part of the configuration that the platform reads. */
export interface PlatformConfig {
  serviceName: string
  cells: CellMap
  /** Reads the cells again, when they came from a file. */
  rereadCells?: () => CellMap | undefined
  database: { poolMax: number; statementTimeoutMs: number; connectTimeoutMs: number }
  masterKeys: readonly Buffer[]
  outbound: { allowNetworks: readonly string[] }
  logLevel: string
}

export interface PlatformOptions {
  role: 'api' | 'worker' | 'cli' | 'test'
  clock?: Clock
  log?: Log
  /** Settings of PostgreSQL that every connection starts with. */
  sessionSettings?: Readonly<Record<string, string>>
  /** OpenTelemetry, where it is switched on. */
  tracing?: Tracing
}

const JOBS = [
  {
    name: 'purge-idempotency-keys',
    cron: '*/5 * * * *',
    run: purgeIdempotencyKeys,
    due: { table: 'idempotency_keys', column: 'expires_at' },
  },
  {
    name: 'purge-failure-limits',
    cron: '*/5 * * * *',
    run: purgeFailureLimits,
    due: { table: 'failure_limits', column: 'paid_back_at' },
  },
] as const

/** What every room uses. Opens no connection yet: the pools connect at the first statement. */
export function createPlatform(config: PlatformConfig, options: PlatformOptions) {
  const { role, clock = systemClock, log = createLog(config.logLevel), sessionSettings = {}, tracing } = options
  const metrics = createMetrics(VERSION, { processMetrics: role !== 'test' })
  const { allowNetworks } = config.outbound
  const cells = createCells(config.cells, (cell, url, directUrl) =>
    createDb({
      url,
      directUrl,
      ...config.database,
      reread: () => {
        const map = config.rereadCells?.()
        return map && urlsOf(map, cell)
      },
      applicationName: `ostiary-${role}-${cell}`,
      cell,
      sessionSettings,
      refuseSecondConnection: role === 'test',
      noteWait: (seconds) => metrics.poolWait.observe({ cell }, seconds),
      log,
    }),
  )
  watchPools(metrics, cells)
  const cellStates = createCellStates({ clock })
  watchCellStates({ cells, clock, log, metrics }, cellStates)
  const leases = createLeases({ cells, clock, log, metrics })
  const limiter = createRateLimiter()
  const addressLimiter = createRateLimiter()
  const [masterKey] = config.masterKeys
  if (!masterKey) throw new Error('There is no master key')
  const failureLimits = createFailureLimits({ cells, clock, log, metrics, limiter, addressLimiter, masterKey })
  watchLimiters(metrics, { keys: limiter, addresses: addressLimiter })
  return {
    version: VERSION,
    serviceName: config.serviceName,
    clock,
    ids: createIds(clock),
    log,
    metrics,
    tracing,
    cells,
    cellStates,
    /** Which cells this process looks for work in. Only a worker starts them. */
    leases,
    vault: createKeyVault(config.masterKeys),
    /** Counts callers that have a key. */
    limiter,
    /** Counts addresses, and all other names that a stranger can make up: they can fill this table, and not the other. */
    addressLimiter,
    failureLimits,
    /** Budgets of processor time, for calls whose cost depends on the tenant's data. */
    processorTimeOf: createProcessorBudgets({ limiter, addressLimiter, clock }),
    allowNetworks,
    outbound: createOutbound({ version: VERSION, allowNetworks }),
    monitor: createHealthMonitor(config.serviceName, VERSION, cells, clock),
    jobs: JOBS,
    retention: [
      {
        table: 'idempotency_keys',
        key: 'tenant_id, key_hash',
        growsWith: 'creates',
        after: '24 hours',
        by: 'purge-idempotency-keys',
      },
      {
        table: 'failure_limits',
        key: 'tenant_id, limit_name, subject',
        growsWith: 'failures that a limit counts; none by requests that succeed',
        after: 'minutes, an hour for alarms',
        by: 'purge-failure-limits',
      },
      {
        table: 'worker_leases',
        key: 'worker_id',
        growsWith: 'workers',
        after: 'a minute after the worker’s end',
        by: null,
      },
      { table: 'schema_migrations', key: 'name', growsWith: 'releases', after: 'as long as the database', by: null },
      { table: 'pgboss.*', key: 'its own', growsWith: 'scheduled jobs', after: 'one day', by: null },
    ],
    async close() {
      // What waits is sent, but a database that is away does not keep the process.
      await failureLimits.flush()
      await leases.leave(0)
      await cells.close()
      await tracing?.stop()
    },
  } satisfies Room & Record<string, unknown>
}
export type Platform = ReturnType<typeof createPlatform>
