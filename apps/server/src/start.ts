import { setTimeout as sleep } from 'node:timers/promises'
import { VERSION } from '@ostiary/contract'
import type { Shutdown } from '@ostiary/service-kit/shutdown'
import { ConfigError, loadConfig } from './config.ts'
import type { Cell } from './platform/cells.ts'
import { findConnectionProblem } from './platform/connection-check.ts'
import { AppError } from './platform/errors.ts'
import { type MigrationState, migrate, migrationState, readMigrations, refuseForeign } from './platform/migrate.ts'
import { loadTracing } from './platform/tracing.ts'
import { createWire, type Wire } from './wire.ts'

const RETRY_MS = 10_000
const RETRY_ONLY_CELL_MS = 1_000

/** What both entry points do first: read the configuration. */
export async function readWire(role: 'api' | 'worker'): Promise<Wire> {
  const config = loadConfig(process.env)
  const { serviceName, telemetry } = config
  const tracing = await loadTracing(telemetry, { serviceName: `${serviceName}-${role}`, version: VERSION })
  return createWire(config, { role, ...(tracing && { tracing }) })
}

/**
 * Migrates the databases to this release's schema. With several cells, an unreachable one does not keep the process from serving
 * the others; without any the process waits.
 */
export async function prepareCells(wire: Wire): Promise<void> {
  await onEachCell(wire, async (cell) => {
    await prepare(cell, wire)
    const problem = await findConnectionProblem(cell.db)
    if (problem?.state === 'warning')
      wire.platform.log.warn({ cell: cell.name, detail: problem.finding }, 'settings of the database are missing')
    else if (problem) throw new Error(`The database of cell ${cell.name}: ${problem.finding}. ${problem.remedy}`)
  })
}

/** Runs `work` on every cell and returns when it has succeeded on one of them. The others are tried again in the background. */
export async function onEachCell(wire: Wire, work: (cell: Cell) => Promise<void>): Promise<void> {
  const { log, cells } = wire.platform
  for (let tries = 0; ; tries++) {
    const away: Cell[] = []
    for (const cell of cells.all()) {
      try {
        await work(cell)
      } catch (error) {
        if (!isOutOfReach(error)) throw error
        away.push(cell)
        if (tries === 0) log.error({ err: error, cell: cell.name }, 'cell is out of reach')
      }
    }
    if (away.length < cells.all().length) {
      for (const cell of away) tryAgainLater(cell, work, wire)
      return
    }
    if (tries === 0) log.error('no database can be used yet: the process waits for one')
    await sleep(RETRY_ONLY_CELL_MS)
  }
}

function tryAgainLater(cell: Cell, work: (cell: Cell) => Promise<void>, wire: Wire): void {
  setTimeout(() => {
    work(cell).then(
      () => wire.platform.log.info({ cell: cell.name }, 'cell is back'),
      () => tryAgainLater(cell, work, wire),
    )
  }, RETRY_MS).unref()
}

function isOutOfReach(error: unknown): boolean {
  return error instanceof AppError && error.code === 'DEPENDENCY_DOWN'
}

async function prepare({ name: cell, db }: Cell, { config, platform: { log } }: Wire): Promise<void> {
  const files = readMigrations()
  const noteNewer = ({ unknown }: MigrationState) => {
    if (unknown.length === 0) return
    log.warn({ cell, migration: unknown.join(', ') }, 'a newer version migrated the database; this one works with it')
  }
  if (config.migrateOnStart) {
    noteNewer(await migrate(db, files, (migration) => log.info({ cell, migration }, 'migration applied')))
    return
  }
  const state = await migrationState(db, files)
  refuseForeign(state)
  noteNewer(state)
  if (state.pending.length > 0) {
    throw new Error(
      `Cell ${cell} lacks migrations (${state.pending.join(', ')}): run "ostiary migrate", or set MIGRATE_ON_START=true`,
    )
  }
}

/** Runs `start`. When it fails, writes the reason to standard error and ends the process with code 1. */
export async function exitWithReason(start: () => Promise<void>, shutdown: Shutdown): Promise<void> {
  try {
    await start()
  } catch (error) {
    // A signal has started the shutdown phases. They closed what the start still needed, and they end the process.
    if (shutdown.isStopping()) return
    process.stderr.write(`${explain(error)}\n`)
    process.exit(1)
  }
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (!(error instanceof Error)) return 'Start failed'
  const cause =
    error.cause instanceof Error ? ` (${(error.cause as NodeJS.ErrnoException).code ?? error.cause.message})` : ''
  return `Start failed: ${error.message}${cause}\nRun "ostiary doctor" for a check of everything the service needs.`
}
