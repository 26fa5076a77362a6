import { VERSION } from '@ostiary/contract'
import { type CellMap, createCells } from './cells.ts'
import { type Clock, systemClock } from './clock.ts'
import { createDb } from './db.ts'
import { createHealthMonitor } from './health.ts'
import { purgeIdempotencyKeys } from './idempotency/index.ts'
import { createIds } from './ids.ts'
import { createKeyVault } from './key-vault.ts'
import { createLog, type Log } from './log.ts'
import { createMetrics, watchPools } from './metrics.ts'
import { createOutbound } from './outbound/index.ts'
import { createRateLimiter } from './rate-limit.ts'
import type { Room } from './room.ts'

/** The part of the configuration that the platform reads. */
export interface PlatformConfig {
  serviceName: string
  cells: CellMap
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
}

/** What every room uses. Opens no connection yet: the pools connect at the first statement. */
export function createPlatform(config: PlatformConfig, options: PlatformOptions) {
  const { role, clock = systemClock, log = createLog(config.logLevel), sessionSettings = {} } = options
  const metrics = createMetrics(VERSION, { processMetrics: role !== 'test' })
  const { allowNetworks } = config.outbound
  const cells = createCells(config.cells, (cell, url, directUrl) =>
    createDb({
      url,
      directUrl,
      ...config.database,
      applicationName: `ostiary-${role}-${cell}`,
      cell,
      sessionSettings,
      log,
    }),
  )
  watchPools(metrics, cells)
  return {
    version: VERSION,
    serviceName: config.serviceName,
    clock,
    ids: createIds(clock),
    log,
    metrics,
    cells,
    vault: createKeyVault(config.masterKeys),
    limiter: createRateLimiter(),
    allowNetworks,
    outbound: createOutbound({ version: VERSION, allowNetworks }),
    monitor: createHealthMonitor(config.serviceName, VERSION, cells, clock),
    jobs: [{ name: 'purge-idempotency-keys', cron: '*/5 * * * *', run: purgeIdempotencyKeys }],
    retention: [
      {
        table: 'idempotency_keys',
        key: 'tenant_id, key_hash',
        growsWith: 'creates',
        after: '24 hours',
        by: 'purge-idempotency-keys',
      },
      { table: 'schema_migrations', key: 'name', growsWith: 'releases', after: 'as long as the database', by: null },
      { table: 'pgboss.*', key: 'its own', growsWith: 'scheduled jobs', after: 'one day', by: null },
    ],
    close: () => cells.close(),
  } satisfies Room & Record<string, unknown>
}
export type Platform = ReturnType<typeof createPlatform>
