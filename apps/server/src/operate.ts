/**
 * The door through which the command line enters the server: what needs the database and the master key on this
 * machine. Nothing here is reachable over HTTP (decision 0004).
 */
import { VERSION } from '@ostiary/contract'
import { type Environment, loadConfig } from './config.ts'
import { migrate, readMigrations } from './platform/migrate.ts'
import { createSecrets, type Secrets } from './secrets.ts'
import { createWire } from './wire.ts'

export { ConfigError, type Environment } from './config.ts'
export type { ReindexProgress } from './biometrics/index.ts'
export { type Check, diagnose } from './doctor.ts'
export { AppError } from './platform/errors.ts'

/** Opens the services for one command and closes them after it. */
export async function withServices<T>(env: Environment, work: (services: OperatorServices) => Promise<T>): Promise<T> {
  const config = loadConfig({ ...env, LOG_LEVEL: 'error' })
  const wire = createWire(config, { role: 'cli' })
  try {
    return await work({
      keys: wire.keys,
      secrets: createSecrets(wire),
      node: wire.node.shelves,
      masterKeyId: wire.vault.currentKeyId,
      async migrate(onApplied) {
        const files = readMigrations()
        for (const { name, db } of wire.cells.all()) await migrate(db, files, (migration) => onApplied(name, migration))
      },
    })
  } finally {
    await wire.cells.close()
  }
}

export interface OperatorServices {
  keys: ReturnType<typeof createWire>['keys']
  secrets: Secrets
  node: ReturnType<typeof createWire>['node']['shelves']
  masterKeyId: string
  migrate(onApplied: (cell: string, migration: string) => void): Promise<void>
}

export { VERSION }
