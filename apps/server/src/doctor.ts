import { createServer } from 'node:net'
import { AREA_LETTERS, RELEASED_MODELS, VERSION } from '@ostiary/contract'
import { type Config, ConfigError, type Environment, loadConfig } from './config.ts'
import type { Check } from './doctor-check.ts'
import { checkKeyHolder } from './doctor-key-holder.ts'
import { checkReplication, checkStoring, explainAway } from './doctor-replication.ts'
import { findPageModels, listPageFiles } from './launch/index.ts'
import type { Cell } from './platform/cells.ts'
import { findConnectionProblem } from './platform/connection-check.ts'
import { type DatabaseFacts, readDatabaseFacts } from './platform/database-facts.ts'
import { AppError } from './platform/errors.ts'
import { migrationState, readMigrations } from './platform/migrate.ts'
import { PACKAGE_NAMES, PACKAGES_FOLDER, readPackages } from './platform/package-files.ts'
import { countNetworks, NETWORK_LISTS } from './risk/index.ts'
import { DEMO } from './sanctions/index.ts'
import { createSecrets } from './secrets.ts'
import { createWire, type Wire } from './wire.ts'

export type { Check } from './doctor-check.ts'

const MAX_CLOCK_DIFFERENCE_MS = 2_000
/** Checks everything a process needs to start and work, and says how to correct each fault. Keeps nothing that it writes. */
export async function diagnose(env: Environment, isOurs: (url: string) => Promise<boolean>): Promise<Check[]> {
  let config: Config
  try {
    config = loadConfig({ ...env, LOG_LEVEL: 'fatal' })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map((problem) => ({
      name: 'settings',
      state: 'failed',
      finding: problem,
      remedy: 'See docs/configuration.md',
    }))
  }
  const wire = createWire(config, { role: 'cli' })
  try {
    const checks: Check[] = [{ name: 'settings', state: 'ok', finding: 'complete and valid' }]
    const isApiUp = await isOurs(addressOf(config.http.host, config.http.port))
    for (const cell of wire.platform.cells.all()) checks.push(...(await checkCell(cell, wire, isApiUp)))
    const reachable = !checks.some(({ name, state }) => /^(database|connections)/.test(name) && state === 'failed')
    const migrated = !checks.some((check) => check.name.startsWith('migrations') && check.state !== 'ok')
    checks.push(await checkMasterKey(wire, reachable && migrated))
    checks.push(await checkPort('API port', config.http.host, config.http.port, isOurs))
    checks.push(await checkPort('admin port', config.admin.host, config.admin.port, isOurs))
    checks.push(checkAuth(config))
    checks.push(
      checkLaunchUrl(config),
      await checkLaunchPage(config),
      await checkPackages(),
      await checkNetworkLists(config),
    )
    checks.push(await checkSanctionsLists(wire), await checkKeyHolder(config, wire))
    return checks
  } finally {
    await wire.close()
  }
}

async function checkCell(cell: Cell, wire: Wire, isApiUp: boolean): Promise<Check[]> {
  const { name, db } = cell
  const label = (what: string) => (wire.platform.cells.all().length > 1 ? `${what} (cell ${name})` : what)
  const connection = await checkConnection(label('connections'), db)
  if (connection.state === 'failed') return [connection]
  let facts: DatabaseFacts | undefined
  const before = wire.platform.clock.now()
  try {
    facts = await readDatabaseFacts(db)
  } catch (error) {
    return [explainAway(label('database'), error)]
  }
  if (!facts) throw new Error('The database answered nothing')
  return [
    checkDatabase(label('database'), facts),
    connection,
    checkDurability(label('durability'), facts),
    checkReplication(label('replication'), facts),
    checkVector(label('pgvector'), facts),
    await checkMigrations(label('migrations'), db),
    checkClock(label('clock'), facts, before, wire.platform.clock.now()),
    // A standby has no leases of workers: their table is not replicated.
    ...(facts.isStandby ? [] : [await checkWorker(label('worker'), cell, wire, isApiUp)]),
    // The last one: what it finds closes this process to the database.
    await checkStoring(label('storing'), db),
  ]
}

/** An unreachable database is the finding of the next check. */
async function checkConnection(name: string, db: Cell['db']): Promise<Check> {
  const problem = await findConnectionProblem(db).catch(() => undefined)
  if (problem) return { name, ...problem }
  return { name, state: 'ok', finding: `${db.isPooled ? 'through a pooler' : 'direct'}, limits in force` }
}

function checkDatabase(name: string, facts: DatabaseFacts): Check {
  if (facts.version >= 150_000)
    return { name, state: 'ok', finding: `PostgreSQL ${facts.versionText}, ${facts.maxConnections} connections` }
  return {
    name,
    state: 'failed',
    finding: `PostgreSQL ${facts.versionText} is too old`,
    remedy: 'Use PostgreSQL 15 or newer',
  }
}

function checkDurability(name: string, facts: DatabaseFacts): Check {
  if (facts.fsync === 'on' && facts.synchronousCommit !== 'off')
    return { name, state: 'ok', finding: `fsync on, synchronous_commit ${facts.synchronousCommit}` }
  return {
    name,
    state: 'failed',
    finding: `fsync ${facts.fsync}, synchronous_commit ${facts.synchronousCommit}: acknowledged data can be lost`,
    remedy: 'Set both to on in postgresql.conf',
  }
}

function checkVector(name: string, facts: DatabaseFacts): Check {
  const version = facts.vector ?? facts.vectorAvailable
  if (version === null)
    return {
      name,
      state: 'failed',
      finding: 'not installed on the database server',
      remedy: 'Install pgvector 0.8 (tools/bootstrap does), or use the image pgvector/pgvector',
    }
  if (!isAtLeast(version, 0, 8))
    return {
      name,
      state: 'failed',
      finding: `${version} is too old`,
      remedy: 'Install pgvector 0.8 or newer, then: alter extension vector update',
    }
  return { name, state: 'ok', finding: facts.vector ? `${version} in use` : `${version} available` }
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [a = 0, b = 0] = version.split('.').map(Number)
  return a > major || (a === major && b >= minor)
}

async function checkMigrations(name: string, db: Cell['db']): Promise<Check> {
  const state = await migrationState(db, readMigrations())
  if (state.changed.length > 0)
    return {
      name,
      state: 'failed',
      finding: `edited after they were applied: ${state.changed.join(', ')}`,
      remedy: 'Use the release that made this database',
    }
  if (state.unknown.length > 0 && state.incompatible.length === 0)
    return {
      name,
      state: 'warning',
      finding: `made by a newer version that keeps this one working: ${state.unknown.join(', ')}`,
      remedy: 'Fine during an upgrade or after a rollback. Otherwise start the newer version',
    }
  if (state.unknown.length > 0)
    return {
      name,
      state: 'failed',
      finding: `made by a newer version: ${state.unknown.join(', ')}`,
      remedy: 'Start that version, or restore the backup from before the upgrade',
    }
  if (state.pending.length > 0)
    return {
      name,
      state: 'warning',
      finding: `${state.pending.length} pending`,
      remedy: MIGRATE,
    }
  return { name, state: 'ok', finding: `all ${state.applied.length} applied` }
}

function checkClock(name: string, facts: DatabaseFacts, before: Date, after: Date): Check {
  const difference = Math.max(before.getTime() - facts.now.getTime(), facts.now.getTime() - after.getTime(), 0)
  if (difference <= MAX_CLOCK_DIFFERENCE_MS) return { name, state: 'ok', finding: 'agrees with the database server' }
  return {
    name,
    state: 'failed',
    finding: `${Math.round(difference / 1000)} s apart from the database server`,
    remedy: 'Run a time service (chrony, systemd-timesyncd) on both machines',
  }
}

/** Before the first start there is no worker either: its absence is a fault beside an API that runs. */
async function checkWorker(name: string, cell: Cell, { platform }: Wire, isApiUp: boolean): Promise<Check> {
  const found = await platform.cellStates.of(cell).catch(() => undefined)
  if (!found) return { name, state: 'warning', finding: 'cannot be asked for before the migrations', remedy: MIGRATE }
  if (found.workers > 0) return { name, state: 'ok', finding: `${found.workers} at work` }
  const seconds = Math.floor(found.withoutWorkerSeconds)
  const isClockOff = found.idle > 0
  return {
    name,
    state: isApiUp || isClockOff ? 'failed' : 'warning',
    finding: `none${seconds > 0 ? ` for ${seconds} s` : ''}${isClockOff ? WRONG_CLOCK : ''}: no session expires, no webhook leaves, nothing is deleted`,
    remedy: isClockOff
      ? 'Run a time service (chrony, systemd-timesyncd) on the machine of the worker'
      : 'Start one: npm run worker -w apps/server (in the image: apps/server/src/main-worker.ts). Its log says why it ended',
  }
}
const WRONG_CLOCK =
  ' but one that looks for no work, because its clock and that of the database server are 5 s or more apart'
const MIGRATE = 'Run: ostiary migrate (or start a process with MIGRATE_ON_START=true)'

const addressOf = (host: string, port: number) =>
  `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host}:${port}`

async function checkMasterKey(wire: Wire, canLook: boolean): Promise<Check> {
  const name = 'master key'
  const current = wire.platform.vault.currentKeyId
  if (!canLook) return { name, state: 'ok', finding: `${current} can be read; stored keys not compared` }
  const secrets = createSecrets(wire)
  const counts = await secrets.countByMasterKey().catch((error: unknown) => {
    if (error instanceof AppError && error.fault === 'unavailable') return undefined
    throw error
  })
  if (!counts)
    return {
      name,
      state: 'warning',
      finding: `${current} can be read; stored secrets could not be counted in time`,
      remedy: 'Keep older master keys in MASTER_KEY_FILE until: ostiary reseal has ended, and 40 days have passed',
    }
  const lost = [...counts].filter(([id]) => !wire.platform.vault.knows(id))
  if (lost.length > 0)
    return {
      name,
      state: 'failed',
      finding: `${lost.reduce((sum, [, count]) => sum + count, 0)} stored secrets are sealed with ${lost.map(([id]) => id).join(', ')}, which is not configured`,
      remedy: 'Add that master key as a further line of MASTER_KEY_FILE, then run: ostiary reseal',
    }
  const olderOf = (all: Map<string, number>) =>
    [...all].filter(([id]) => id !== current).reduce((sum, [, count]) => sum + count, 0)
  const older = olderOf(counts)
  const messages = older > 0 ? olderOf(await secrets.countMessagesByMasterKey()) : 0
  if (older > 0 && older <= messages)
    return {
      name,
      state: 'warning',
      finding: `${messages} messages of webhooks are sealed with an older master key, and nothing else`,
      remedy: 'Keep that master key in MASTER_KEY_FILE until they are deleted with their sessions, within 30 days',
    }
  if (older > 0)
    return {
      name,
      state: 'warning',
      finding: `${older} stored secrets are sealed with an older master key`,
      remedy: 'Run: ostiary reseal',
    }
  return { name, state: 'ok', finding: `${current} opens all ${counts.get(current) ?? 0} stored secrets` }
}

async function checkPort(
  name: string,
  host: string,
  port: number,
  isOurs: (url: string) => Promise<boolean>,
): Promise<Check> {
  const code = await tryPort(host, port)
  if (code === undefined) return { name, state: 'ok', finding: `${port} is free` }
  if (code === 'EADDRINUSE' && (await isOurs(addressOf(host, port))))
    return { name, state: 'ok', finding: `${port} is served by Ostiary` }
  const remedy =
    code === 'EADDRINUSE'
      ? 'Stop what uses it, or choose another port'
      : 'Choose a port above 1023 and an address of this machine'
  return { name, state: 'failed', finding: `${host}:${port} cannot be used (${code})`, remedy }
}

function tryPort(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
    probe.listen(port, host, () => probe.close(() => resolve(undefined)))
  })
}

function checkAuth(config: Config): Check {
  const open = [AREA_LETTERS.strings, AREA_LETTERS.sanctions].filter((area) => !config.authRequiredAreas.has(area))
  if (open.length === 0) return { name: 'open areas', state: 'ok', finding: 'none: every call needs a key' }
  return {
    name: 'open areas',
    state: 'warning',
    finding: `${open.join(' and ')} answer without a key`,
    remedy: 'In production set AUTH_REQUIRED_AREAS=A,B',
  }
}

function checkLaunchUrl({ launch }: Config): Check {
  const name = 'launch URL'
  const { protocol, hostname, origin } = new URL(launch.url)
  if (protocol === 'https:' || LOOPBACK.has(hostname)) return { name, state: 'ok', finding: origin }
  return {
    name,
    state: 'warning',
    finding: `${origin} is not encrypted, and browsers give no camera to such a page`,
    remedy: 'Put a proxy with TLS before the API, and set PUBLIC_URL (or LAUNCH_URL) to its https address',
  }
}
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

async function checkLaunchPage({ launch }: Config): Promise<Check> {
  const name = 'launch page'
  if (!launch.isOurs) return { name, state: 'ok', finding: 'on another host (LAUNCH_URL); not looked at' }
  const build = 'node models/main.ts && npm run build -w apps/launch'
  const files = await listPageFiles(launch.folder)
  if (!files)
    return {
      name,
      state: 'warning',
      finding: 'not built: users of areas C and D see a notice instead',
      remedy: `Run in the checkout: ${build} (or set LAUNCH_DIR)`,
    }
  const models = await findPageModels(launch.folder)
  const isReleased = RELEASED_MODELS.some(({ id, hash }) => id === models?.id && hash === models.hash)
  if (!isReleased)
    return {
      name,
      state: 'failed',
      finding: models ? `runs models that this version refuses (${models.id})` : 'has no models',
      remedy: `Build it from the checkout of this version: ${build}`,
    }
  const megabytes = Math.round(files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) / 1e6)
  return { name, state: 'ok', finding: `${files.length} files, ${megabytes} MB, models ${models?.id}` }
}

async function checkPackages(): Promise<Check> {
  const name = 'packages'
  const packages = await readPackages(PACKAGES_FOLDER)
  const missing = PACKAGE_NAMES.filter(
    (wanted) => !packages.some((one) => one.name === wanted && one.version === VERSION),
  )
  if (missing.length === 0) return { name, state: 'ok', finding: PACKAGE_NAMES.map((one) => `/sdk/${one}`).join(', ') }
  return {
    name,
    state: 'warning',
    finding: `not built from this version: ${missing.join(', ')}; their addresses below /sdk/ answer 404`,
    remedy: 'Run in the checkout: npm run packages, and start the API again',
  }
}

async function checkSanctionsLists({ sanctions }: Wire): Promise<Check> {
  const name = 'sanctions lists'
  const lists = (await sanctions.library.freshness()).filter(({ dataset }) => dataset !== DEMO)
  if (lists.length === 0)
    return {
      name,
      state: 'warning',
      finding: 'none but the invented one, demo',
      remedy: 'Public lists are brought with: ostiary datasets enable ofac un',
    }
  const stale = lists.filter(({ isStale }) => isStale).map(({ dataset }) => dataset)
  if (stale.length === 0) return { name, state: 'ok', finding: lists.map(({ dataset }) => dataset).join(', ') }
  return {
    name,
    state: 'warning',
    finding: `stale: ${stale.join(', ')}`,
    remedy:
      'The worker’s log says why a source fails; without a source, import the list again. See docs/ops/fresh-lists.md',
  }
}

async function checkNetworkLists({ networkListsDir: dir }: Config): Promise<Check> {
  const name = 'network lists'
  if (dir === null)
    return { name, state: 'ok', finding: 'none: flags that need one are not raised (NETWORK_LISTS_DIR)' }
  try {
    const counts = [...(await countNetworks(dir))].map(([file, count]) => `${file} with ${count} networks`)
    if (counts.length > 0) return { name, state: 'ok', finding: counts.join(', ') }
    const files = Object.values(NETWORK_LISTS).join(', ')
    return {
      name,
      state: 'warning',
      finding: 'the folder has none',
      remedy: `Put files of these names there: ${files}`,
    }
  } catch (error) {
    const remedy = 'Correct the file, or take it away. See docs/ops/network-lists.md'
    return { name, state: 'failed', finding: (error as Error).message, remedy }
  }
}
