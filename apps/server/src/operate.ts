/**
 * The entry point for the command line: services that need the database and the master key on this machine. They are not reachable
 * over HTTP (decision 0004). Modules of the whole server are loaded on first use, so that other commands start without them.
 */
import { VERSION } from '@ostiary/contract'
import {
  type Environment,
  loadAllowedNetworks,
  loadConfig,
  loadSanctionsConfig,
  type SanctionsConfig,
} from './config.ts'
import type { Check } from './doctor.ts'
import { systemClock } from './platform/clock.ts'
import { createIds } from './platform/ids.ts'
import { createLog } from './platform/log.ts'
import { createOutbound } from './platform/outbound/index.ts'
import {
  createDatasetFiles,
  createEnabler,
  createImporter,
  createRefresher,
  type Enabler,
  type Importer,
} from './sanctions/index.ts'
import type { Secrets } from './secrets.ts'
import type { Wire } from './wire.ts'

export type { ModelRecord, ReindexProgress } from './biometrics/index.ts'
export { ConfigError, type Environment } from './config.ts'
export type { Check } from './doctor.ts'
export { AppError } from './platform/errors.ts'
export { contributions, dryRun, evaluateRisk, parseOverrides } from './risk/index.ts'
export {
  type BuildProgress,
  type DatasetId,
  type DatasetOverview,
  datasetNameProblem,
  describeList,
  type Enabler,
  endOfList,
  type FoundSource,
  type Importer,
  type ImportOutcome,
  isOpenSanctions,
  LIST_FORMATS,
  LIST_KINDS,
  type ListFormat,
  type ListKind,
  type ListPlace,
  PUBLISHED,
  type PublishedList,
  publishedLists,
} from './sanctions/index.ts'

/** Opens the services for one command and closes them after it. */
export async function withServices<T>(env: Environment, work: (services: OperatorServices) => Promise<T>): Promise<T> {
  const config = loadConfig({ ...env, LOG_LEVEL: 'error' })
  const { createWire } = await import('./wire.ts')
  const { createSecrets } = await import('./secrets.ts')
  const { migrate, readMigrations } = await import('./platform/migrate.ts')
  const wire = createWire(config, { role: 'cli' })
  try {
    return await work({
      keys: wire.keys.service,
      clients: wire.keys.clients,
      hosts: wire.keys.hosts,
      settings: wire.settings.service,
      webhookKeys: wire.webhooks.webhookKeys,
      secrets: createSecrets(wire),
      node: wire.biometrics.vectorPartitions,
      nodeModels: wire.biometrics.models,
      keyHolder: wire.matcher.keyHolder,
      datasets: openDatasets(config.sanctions),
      masterKeyId: wire.platform.vault.currentKeyId,
      async migrate(onApplied) {
        const files = readMigrations()
        for (const { name, db } of wire.platform.cells.all())
          await migrate(db, files, (migration) => onApplied(name, migration))
      },
    })
  } finally {
    await wire.close()
  }
}

export async function diagnose(env: Environment, isOurs: (url: string) => Promise<boolean>): Promise<Check[]> {
  const doctor = await import('./doctor.ts')
  return doctor.diagnose(env, isOurs)
}

/** Only the sanctions lists of area B: they are files, and need neither database nor master key. */
export function withDatasets<T>(env: Environment, work: (datasets: Importer) => Promise<T>): Promise<T> {
  return work(openDatasets(loadSanctionsConfig(env)))
}

/** The same, with what brings public lists by name. */
export function withPublicLists<T>(
  env: Environment,
  work: (enabler: Enabler, datasets: Importer) => Promise<T>,
): Promise<T> {
  const config = loadSanctionsConfig(env)
  const outbound = createOutbound({ version: VERSION, allowNetworks: loadAllowedNetworks(env) })
  const [files, importer] = [createDatasetFiles(config.dir), openDatasets(config)]
  const deps = { ...config, files, importer, outbound, clock: systemClock, log: createLog('fatal') }
  return work(createEnabler(files, createRefresher(deps)), importer)
}

function openDatasets({ dir, keepVersions }: SanctionsConfig): Importer {
  const [clock, files] = [systemClock, createDatasetFiles(dir)]
  return createImporter({ files, clock, ids: createIds(clock), keepVersions })
}

export interface OperatorServices {
  keys: Wire['keys']['service']
  clients: Wire['keys']['clients']
  hosts: Wire['keys']['hosts']
  settings: Wire['settings']['service']
  webhookKeys: Wire['webhooks']['webhookKeys']
  secrets: Secrets
  node: Wire['biometrics']['vectorPartitions']
  nodeModels: Wire['biometrics']['models']
  keyHolder: Pick<Wire['matcher']['keyHolder'], 'key' | 'ownPublicKey'>
  datasets: Importer
  masterKeyId: string
  migrate(onApplied: (cell: string, migration: string) => void): Promise<void>
}

export { VERSION }
