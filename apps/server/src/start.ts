import { ConfigError, loadConfig } from './config.ts'
import type { Cell } from './platform/cells.ts'
import { findConnectionProblem } from './platform/connection-check.ts'
import { AppError } from './platform/errors.ts'
import { type MigrationState, migrate, migrationState, readMigrations, refuseForeign } from './platform/migrate.ts'
import type { Shutdown } from '@ostiary/service-kit/shutdown'
import { createWire, type Wire } from './wire.ts'

const RETRY_MS = 10_000

/**
 * What both entry points do first: read the configuration and migrate the databases to this release's schema. With
 * several cells, an unreachable one does not keep the process from serving the others.
 */
export async function startWire(role: 'api' | 'worker'): Promise<Wire> {
  const wire = createWire(loadConfig(process.env), { role })
  await onEachCell(wire, async (cell) => {
    await prepare(cell, wire)
    const problem = await findConnectionProblem(cell.db)
    if (problem?.state === 'warning')
      wire.platform.log.warn({ cell: cell.name, detail: problem.finding }, 'settings of the database are missing')
    else if (problem) throw new Error(`The database of cell ${cell.name}: ${problem.finding}. ${problem.remedy}`)
  })
  return wire
}

/** Runs `work` on every cell. An unreachable cell is tried again in the background; it throws when no cell can be reached. */
export async function onEachCell(wire: Wire, work: (cell: Cell) => Promise<void>): Promise<void> {
  const { log, cells } = wire.platform
  let reached = 0
  let last: unknown
  for (const cell of cells.all()) {
    try {
      await work(cell)
      reached++
    } catch (error) {
      if (!isOutOfReach(error)) throw error
      last = error
      log.error({ err: error, cell: cell.name }, 'cell is out of reach')
      if (cells.all().length > 1) tryAgainLater(cell, work, wire)
    }
  }
  if (reached === 0) throw last
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
