import type { judge } from '@ostiary/token'
import { buildApp } from './app.ts'
import type { Config } from './config.ts'
import { createJudgements } from './judgements.ts'
import { loadKeys } from './keys.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import type { Clock } from './platform/clock.ts'
import { createDb, type Db } from './platform/db.ts'
import { createKeyVault, type KeyVault } from './platform/key-vault.ts'
import type { Log } from './platform/log.ts'
import { migrate } from './platform/migrate.ts'
import { createRoutes } from './routes.ts'
import { createServiceCalls } from './service-calls.ts'
import { shareStore } from './shares/store.ts'

export interface StoreParts {
  config: Config
  clock: Clock
  log: Log
  /** The pool, where the caller has one already. */
  db?: Db
}

export interface Parts extends StoreParts {
  /** What was opened before. */
  store?: Store
  judge?: typeof judge
  metrics?: Metrics
}

/** The migrated database, the vault and the keys of the service: what every command needs. */
export async function openStore({ config, clock, log, ...parts }: StoreParts) {
  const { db = createDb(config.database, log) } = parts
  const vault = createKeyVault(config.masterKeys)
  try {
    await migrate(db, (migration) => log.info({ migration }, 'migration applied'))
    await refuseUnknownMasterKey(db, vault)
    return { db, vault, keys: await loadKeys(db, vault, clock.now()) }
  } catch (error) {
    if (!parts.db) await db.close()
    throw error
  }
}

export type Store = Awaited<ReturnType<typeof openStore>>

/** The whole service, not listening yet. */
export async function createWire(parts: Parts) {
  const { config, clock, log } = parts
  const { db, vault, keys } = parts.store ?? (await openStore(parts))
  const { metrics = createMetrics(db, { processMetrics: false }) } = parts
  const calls = await createServiceCalls({ db, clock, matcherKeys: config.matcherKeys, keys })
  const judgements = createJudgements()
  const judging = {
    db,
    vault,
    keys,
    clock,
    log,
    metrics,
    judge: parts.judge ?? judgements.judge,
    inTurn: judgements.inTurn,
  }
  const routes = createRoutes({ ...judging, cosineMin: config.cosineMin })
  const app = buildApp({ routes, calls, clock, log, metrics })
  return { app, db, vault, keys, metrics, stopThreads: judgements.stop }
}

/** Otherwise the people whose shares it sealed would all be rejected, as if they were somebody else. */
async function refuseUnknownMasterKey(db: Db, vault: KeyVault): Promise<void> {
  for (const { id, shares } of await shareStore.countByMasterKey(db)) {
    if (!vault.knows(id)) throw new Error(`MASTER_KEY lacks the key ${id}, which sealed ${shares} key shares`)
  }
}
