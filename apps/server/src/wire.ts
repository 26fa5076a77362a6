import { VERSION } from '@ostiary/contract'
import { createAgeFlow, createAgeService, createEnding } from './age/index.ts'
import {
  createEnrolment,
  createGallery,
  createGroups,
  createNodeMetrics,
  createRecognition,
  createShelves,
  createTransport,
  watchSizes,
} from './biometrics/index.ts'
import type { Config } from './config.ts'
import {
  createAccessTokens,
  createClientCache,
  createClientGate,
  createClientService,
  createGuard,
  createKeyCache,
  createKeyService,
} from './keys/index.ts'
import { createLaunch, createPageUse } from './launch/index.ts'
import { createPasskeys } from './passkeys/index.ts'
import { createCells } from './platform/cells.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import { createDb } from './platform/db.ts'
import { createHealthMonitor } from './platform/health.ts'
import { createLabelledCounter } from './platform/hot-metrics.ts'
import { createIds } from './platform/ids.ts'
import { createKeyRing } from './platform/key-ring.ts'
import { createKeyVault } from './platform/key-vault.ts'
import { createLog, type Log } from './platform/log.ts'
import { createMetrics, watchPools } from './platform/metrics.ts'
import { createOutbound } from './platform/outbound/index.ts'
import { createPooledOutbound } from './platform/outbound/pooled.ts'
import { createRateLimiter } from './platform/rate-limit.ts'
import { createKeyedMutex } from './platform/keyed-mutex.ts'
import {
  createDatasetFiles,
  createExceptionService,
  createImporter,
  createLibrary,
  createPool,
  createRefresher,
  createSanctionsMetrics,
  createSanctionsService,
  ensureDemo,
} from './sanctions/index.ts'
import { createSandbox } from './sandbox/index.ts'
import { createSessionSecrets, createSessions, watchSessions } from './sessions/index.ts'
import { createSettings, createTokenVerifier } from './settings/index.ts'
import { createStringService } from './strings/index.ts'
import {
  createLocalKeys,
  createLockouts,
  createVerificationEnding,
  createVerificationFlow,
  createVerificationService,
  createWork,
  removePersonMarks,
} from './verification/index.ts'
import { createDispatcher, createWebhookMetrics, createWebhookService, watchWebhookQueue } from './webhooks/index.ts'

export interface WireOptions {
  role: 'api' | 'worker' | 'cli' | 'test'
  clock?: Clock
  log?: Log
}

/** Configuration to services: the only place where things are constructed. Opens no connection yet. */
export function createWire(
  config: Config,
  { role, clock = systemClock, log = createLog(config.logLevel) }: WireOptions,
) {
  const ids = createIds(clock)
  const metrics = createMetrics(VERSION, { processMetrics: role !== 'test' })
  const cells = createCells(config.cells, (cell, url) =>
    createDb({
      url,
      poolMax: config.database.poolMax,
      statementTimeoutMs: config.database.statementTimeoutMs,
      // A busy test machine may take its time; an API that cannot connect says so soon.
      connectTimeoutMs: role === 'test' ? 30_000 : 3_000,
      applicationName: `ostiary-${role}-${cell}`,
      sessionSettings: VECTOR_SEARCH,
      log,
    }),
  )
  watchPools(metrics, cells)
  const vault = createKeyVault(config.masterKeys)
  const keyCache = createKeyCache(cells, clock, log)
  const limiter = createRateLimiter()
  const keys = createKeyService({ cells, clock, ids, vault, cache: keyCache, limiter, metrics })
  const guard = createGuard({
    keys,
    limiter,
    clock,
    metrics,
    authRequiredAreas: config.authRequiredAreas,
  })
  const { publicUrl, masterKeys } = config
  const clientCache = createClientCache(cells, clock, log)
  const audiences = [publicUrl, `${publicUrl}/oauth/token`]
  const clients = createClientService({ cells, clock, ids, cache: clientCache, limiter, metrics, audiences })
  const accessTokens = createAccessTokens({ masterKeys, clock, ids, issuer: publicUrl })
  const monitor = createHealthMonitor(config.serviceName, VERSION, cells, clock)
  const strings = createStringService({ cells, clock, ids })
  const exceptions = createExceptionService({ cells, clock, ids })
  const pool = createPool(config.sanctions.threads, clock)
  const datasetFiles = createDatasetFiles(config.sanctions.dir)
  const prepare = () => ensureDemo(datasetFiles, { clock, ids, log })
  const library = createLibrary({ files: datasetFiles, pool, clock, log, prepare })
  const { dir, keepVersions, sourcesFile } = config.sanctions
  const importer = createImporter({ files: datasetFiles, clock, ids, keepVersions })
  const outbound = createOutbound({ version: VERSION, allowNetworks: config.outbound.allowNetworks })
  const refresher = createRefresher({ dir, sourcesFile, importer, outbound, clock, log })
  const sanctions = createSanctionsService({ library, pool, exceptions, metrics: createSanctionsMetrics(metrics) })
  const nodeMetrics = createNodeMetrics(metrics)
  const groups = createGroups({ cells, clock, ids, vault })
  const gallery = createGallery({ cells, clock, metrics: nodeMetrics })
  const withLock = createKeyedMutex()
  const searching = { cells, clock, log, groups, gallery, metrics: nodeMetrics, withLock }
  const enrolment = createEnrolment({ ...searching, ids })
  const passkeys = createPasskeys({ clock, ids, log, launchUrl: config.launch.url })
  const localKeys = createLocalKeys({ clock })
  const recognition = createRecognition({
    ...searching,
    limiter,
    onErase: async (tx, group, personId) => {
      await passkeys.deletePerson(tx, group, personId)
      await localKeys.deletePerson(tx, group, personId)
      await removePersonMarks(tx, group, personId)
    },
  })
  const transport = createTransport({ cells, clock, ids })
  const { exactMax, indexMemoryMb } = config.node
  const shelves = createShelves({ cells, clock, log, groups, exactMax, indexMemoryMb })
  if (role === 'worker') watchSizes(metrics, { cells, clock, log, shelves })
  const node = { groups, enrolment, recognition, transport, shelves }

  const settings = createSettings({ cells, clock, log, checkUrl: outbound.check })
  const clientGate = createClientGate({
    clients,
    tokens: accessTokens,
    policyOf: async (tenantId) => (await settings.get(tenantId)).clientCredentials,
  })
  const tokens = createTokenVerifier({ outbound, clock, log, settings })
  const webhooks = createWebhookService({ cells, clock, ids, vault, allowNetworks: config.outbound.allowNetworks })
  const ring = createKeyRing({ vault, clock, name: 'sessions' })
  const sessions = createSessions({ cells, clock, ids, vault, ring })
  const sessionSecrets = createSessionSecrets({ cells, vault, ring })
  const ended = createLabelledCounter('ostiary_sessions_ended_total', 'Age sessions that ended, by how', 'flow')
  const ending = createEnding({ clock, sessions, webhooks, log, metrics: metrics.add(ended) })
  const launchUrl = config.launch.url
  const verified = createLabelledCounter(
    'ostiary_verifications_ended_total',
    'ENROLL, SIGN-IN and VERIFY sessions that ended, by how',
    'outcome',
  )
  const verificationEnding = createVerificationEnding({
    clock,
    sessions,
    webhooks,
    log,
    metrics: metrics.add(verified),
  })
  const hosting = { cells, clock, sessions, settings, webhooks, launchUrl }
  const verification = createVerificationService({ ...hosting, ending: verificationEnding })
  const age = createAgeService({ ...hosting, ending })
  const work = createWork({ cells, sessions, enrolment, recognition, localKeys })
  const lockouts = createLockouts({ clock })
  const keeping = { work, passkeys, localKeys, lockouts }
  const flows = {
    C: createAgeFlow({ ending }),
    D: createVerificationFlow({ clock, ids, sessions, ending: verificationEnding, ...keeping }),
  }
  const launch = createLaunch({ sessions, settings, flows, clock, ids, launchUrl })
  const pageUse = createPageUse({ sessions, settings, limiter, clock, log })
  const sandbox = createSandbox({ cells, sessions, ending, verificationEnding, lockouts, webhooks })
  const webhookOutbound = createPooledOutbound({ allowNetworks: config.outbound.allowNetworks })
  const webhookMetrics = createWebhookMetrics(metrics)
  const dispatcher = createDispatcher({
    cells,
    clock,
    ids,
    log,
    vault,
    keys,
    outbound: webhookOutbound,
    metrics: webhookMetrics,
    version: VERSION,
  })
  if (role === 'worker') {
    watchWebhookQueue(metrics, { cells, clock, log })
    watchSessions(metrics, { cells, clock, log, sessions })
  }
  return {
    config,
    version: VERSION,
    clock,
    ids,
    log,
    metrics,
    cells,
    vault,
    keyCache,
    keys,
    clientCache,
    clients,
    clientGate,
    accessTokens,
    guard,
    monitor,
    strings,
    exceptions,
    library,
    refresher,
    pool,
    sanctions,
    node,
    passkeys,
    limiter,
    settings,
    tokens,
    sessions,
    sessionSecrets,
    webhooks,
    webhookOutbound,
    webhookMetrics,
    dispatcher,
    ending,
    age,
    verificationEnding,
    verification,
    flows,
    launch,
    pageUse,
    sandbox,
  }
}
/** How widely an HNSW index is searched: at 200 no enrolled person was missed (docs/benchmarks.md). */
const VECTOR_SEARCH = { 'hnsw.ef_search': '200', 'hnsw.iterative_scan': 'strict_order' }

export type Wire = ReturnType<typeof createWire>
