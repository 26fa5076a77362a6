import { ConfigError, loadConfig } from './config.ts'
import { migrate, migrationState, readMigrations, refuseForeign } from './platform/migrate.ts'
import { createWire, type Wire } from './wire.ts'

/** What both entry points do first: read the configuration and bring the databases up to this version's schema. */
export async function startWire(role: 'api' | 'worker'): Promise<Wire> {
  const wire = createWire(loadConfig(process.env), { role })
  const files = readMigrations()
  for (const { name: cell, db } of wire.cells.all()) {
    if (wire.config.migrateOnStart) {
      await migrate(db, files, (migration) => wire.log.info({ cell, migration }, 'migration applied'))
      continue
    }
    const state = await migrationState(db, files)
    refuseForeign(state)
    if (state.pending.length > 0) {
      throw new Error(
        `Cell ${cell} lacks migrations (${state.pending.join(', ')}): run "ostiary migrate", or set MIGRATE_ON_START=true`,
      )
    }
  }
  return wire
}

/** A process that cannot start says why in plain words on standard error, and fails. */
export async function orExplain(start: () => Promise<void>): Promise<void> {
  try {
    await start()
  } catch (error) {
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
