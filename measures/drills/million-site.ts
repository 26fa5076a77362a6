import { type ChildProcess, fork } from 'node:child_process'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { testSettings } from '@ostiary/testkit/databases'
import { PRODUCT_LIMITS } from '@ostiary/testkit/limits'
import { createHost, type Host, openWire } from '@ostiary/testkit/measuring/sessions-load'
import {
  freePorts,
  isFree,
  ROOT,
  type Started,
  sleep,
  startApi,
  startServices,
  startWorker,
} from '@ostiary/testkit/run'
import { RECEIVERS, TENANTS } from './million-plan.ts'
import type { ReceiverOrder, ReceiverWord } from './million-receiver.ts'
import { killPostgres, restartPostgres } from './postgres-kill.ts'

export const DEFAULT_DIR = `${ROOT}.reports/million`
const WORKERS = 2
/** Processes of receivers: while one is dead, the other takes its own. */
const RECEIVER_PROCESSES = 2
/** Pieces may lie days apart. What a receiver has not taken must wait that long. */
const RETENTION_SECONDS = 30 * 86_400
/** After a kill PostgreSQL reads its log again, for longer than it may take to start. */
const RECOVERY_TRIES = 20

/** What stays the same over all pieces. It has secrets of an installation that nobody uses, and is readable for its owner only. */
export interface Site {
  run: string
  events: number
  kills: number
  masterKey: string
  hosts: Host[]
  /** Sessions have these in their callbacks. */
  receiverPorts: number[]
}

const siteFile = (dir: string) => join(dir, 'site.json')
export const findSite = (dir: string): Site | undefined =>
  existsSync(siteFile(dir)) ? (JSON.parse(readFileSync(siteFile(dir), 'utf8')) as Site) : undefined

/** Each folder has a cluster of its own. */
export function clusterOf(dir: string): string {
  if (dir === DEFAULT_DIR) return 'drill-million'
  return `drill-million-${createHash('sha256').update(dir).digest('hex').slice(0, 8)}`
}

/** Starts the cluster, with its data in the folder where the user of PostgreSQL can enter it. */
export function startCluster(dir: string): string {
  const cluster = clusterOf(dir)
  const state = `${ROOT}.services/${cluster}`
  if (!existsSync(state) && isOpenToAll(dir)) {
    mkdirSync(state, { recursive: true })
    writeFileSync(`${state}/data-folder`, `${dir}/postgres\n`)
  }
  return startServices(cluster)
}

function isOpenToAll(folder: string): boolean {
  const others = 0o001
  const parent = dirname(folder)
  return (statSync(folder).mode & others) !== 0 && (parent === folder || isOpenToAll(parent))
}

export async function createSite(
  dir: string,
  databaseUrl: string,
  wanted: Pick<Site, 'events' | 'kills'>,
): Promise<Site> {
  const masterKey = randomBytes(32).toString('base64')
  // A tenant needs the tables, and those come with the first start.
  const api = await startApi({ env: settingsOf(dir, masterKey, databaseUrl), logName: 'drill-million-api' })
  const wire = openWire(settingsOf(dir, masterKey, databaseUrl))
  const hosts: Host[] = []
  try {
    for (let n = 0; n < TENANTS; n++) {
      const host = await createHost(wire, `Million ${n}`)
      await wire.settings.service.set(host.tenantId, { retentionSeconds: RETENTION_SECONDS })
      hosts.push(host)
    }
  } finally {
    await wire.close()
    await api.stop()
  }
  const site: Site = { run: randomUUID(), ...wanted, masterKey, hosts, receiverPorts: await freePorts(RECEIVERS) }
  writeFileSync(siteFile(dir), JSON.stringify(site), { mode: 0o600 })
  return site
}

/** How a piece recognises processes that a killed one has left: it names the run's folder. */
const MARK = 'OSTIARY_DRILL_DIR'

function settingsOf(dir: string, masterKey: string, databaseUrl: string): Record<string, string> {
  return {
    ...testSettings(databaseUrl),
    ...PRODUCT_LIMITS,
    MASTER_KEY: masterKey,
    OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8',
    TRUST_PROXY: '127.0.0.1',
    // A line per request would fill the disk.
    LOG_LEVEL: 'warn',
    [MARK]: dir,
  }
}

/** Ends API and workers of a piece that was killed itself. Only they carry the mark. */
export function endLeftovers(dir: string): number {
  const mark = `\0${MARK}=${dir}\0`
  let ended = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!`\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(mark)) continue
      process.kill(Number(pid), 'SIGKILL')
      ended++
    } catch {
      // It belongs to somebody else, or is gone.
    }
  }
  return ended
}

export interface Running {
  apiUrl: string
  receiverUrls: readonly string[]
  /** Both workers at once, or the one with this number; resolves when they are back. */
  killWorkers(which: 'both' | number): Promise<void>
  killApi(): Promise<void>
  killPostgres(): Promise<void>
  killReceivers(process: number): Promise<void>
  /** Resolves when a request is at one of the receivers; false if none comes in time. */
  nextRequest(withinMs: number): Promise<boolean>
  /** Requests that receivers have taken in this piece, as they last said. */
  taken(): number
  /** Names of processes that ended without having been killed. */
  died: string[]
  workerAdminUrls(): string[]
  stop(): Promise<void>
}

interface StartOptions {
  dir: string
  site: Site
  databaseUrl: string
  /** Ctrl-C reaches all processes: then it is no fault when one ends. */
  isStopped(): boolean
}

/** Starts everything but PostgreSQL. */
export async function startSite({ dir, site, databaseUrl, isStopped }: StartOptions): Promise<Running> {
  const taken = await Promise.all(site.receiverPorts.map(async (port) => ((await isFree(port)) ? [] : [port])))
  if (taken.flat().length > 0) throw new Error(`Another process listens on the port of a receiver: ${taken.flat()}`)
  const settings = settingsOf(dir, site.masterKey, databaseUrl)
  const died: string[] = []
  const noteDeath = (name: string) => {
    if (!isStopped()) died.push(name)
  }
  const supervise = (name: string, start: () => Promise<Started>) => createSupervised(start, () => noteDeath(name))
  const [port = 0, adminPort = 0] = await freePorts(2)
  const apiSettings = { ...settings, PORT: String(port), ADMIN_PORT: String(adminPort) }
  const api = supervise('API', () => startApi({ env: apiSettings, logName: 'drill-million-api' }))
  const workers = Array.from({ length: WORKERS }, (_, n) =>
    supervise(`worker ${n}`, () => startWorker({ env: settings, logName: `drill-million-worker-${n}` })),
  )
  const groups = Array.from({ length: RECEIVER_PROCESSES }, (_, n) =>
    createReceivers(dir, site, n, () => noteDeath(`receivers ${n}`)),
  )
  const stop = async () => {
    await Promise.all([api, ...workers].map((one) => one.stop()))
    await Promise.all(groups.map((group) => group.stop()))
  }
  try {
    await Promise.all([...groups, api, ...workers].map((one) => one.start()))
  } catch (error) {
    await stop()
    throw error
  }
  return {
    apiUrl: `http://127.0.0.1:${port}`,
    receiverUrls: site.receiverPorts.map((each) => `http://127.0.0.1:${each}/webhook`),
    async killWorkers(which) {
      await Promise.all(workers.filter((_, n) => which === 'both' || which === n).map((worker) => worker.kill()))
    },
    killApi: () => api.kill(),
    async killPostgres() {
      await killPostgres(clusterOf(dir))
      await restartForSure(clusterOf(dir))
    },
    async killReceivers(process) {
      await groups[process % groups.length]?.kill()
    },
    nextRequest: (withinMs) => Promise.race(groups.map((group) => group.nextRequest(withinMs))),
    taken: () => groups.reduce((sum, group) => sum + group.taken(), 0),
    died,
    workerAdminUrls: () => workers.flatMap((worker) => worker.adminUrl() ?? []),
    stop,
  }
}

async function restartForSure(cluster: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await restartPostgres(cluster)
      return
    } catch (error) {
      if (tries === RECOVERY_TRIES) throw error
      await sleep(1_000)
    }
  }
}

/** A process that starts again when it was killed, and also when it ended by itself, which is a fault. */
function createSupervised(start: () => Promise<Started>, onDeath: () => void) {
  let current: Started | undefined
  let isWanted = false
  let isKilled = false

  async function begin(): Promise<void> {
    const started = await start()
    current = started
    void started.exited.then(async () => {
      if (!isWanted || isKilled || current !== started) return
      onDeath()
      await begin().catch(onDeath)
    })
    if (!isWanted) await started.stop('SIGKILL')
  }

  return {
    async start(): Promise<void> {
      isWanted = true
      await begin()
    },
    async kill(): Promise<void> {
      isKilled = true
      await current?.stop('SIGKILL')
      isKilled = false
      await begin()
    },
    async stop(): Promise<void> {
      isWanted = false
      await current?.stop('SIGTERM')
    },
    adminUrl: () => current?.adminUrl,
  }
}

export const arrivalFiles = (dir: string): string[] =>
  Array.from({ length: RECEIVER_PROCESSES }, (_, n) => join(dir, `arrivals-${n}.bin`))

function createReceivers(dir: string, { hosts, receiverPorts }: Site, group: number, onDeath: () => void) {
  const places = receiverPorts
    .map((port, number) => ({ number, port, key: hosts[number % hosts.length]?.key ?? '' }))
    .filter(({ number }) => number % RECEIVER_PROCESSES === group)
  let child: ChildProcess | undefined
  let takenBefore = 0
  let takenNow = 0
  let onRequest = () => {}

  function start(): Promise<void> {
    const started = fork(`${ROOT}measures/drills/million-receiver.ts`, { env: { PATH: process.env.PATH } })
    child = started
    takenBefore += takenNow
    takenNow = 0
    return new Promise((resolve, reject) => {
      started.once('exit', () => {
        reject(new Error('The process of the receivers ended'))
        if (child !== started) return
        onDeath()
        start().catch(onDeath)
      })
      started.on('message', (word: ReceiverWord) => {
        if (word === 'open') resolve()
        else if (word === 'request') onRequest()
        else takenNow = word.taken
      })
      tell({ do: 'open', file: arrivalFiles(dir)[group] ?? '', places })
    })
  }
  const tell = (order: ReceiverOrder) => child?.send(order)

  async function stop(): Promise<void> {
    const stopped = child
    child = undefined
    if (!stopped || stopped.exitCode !== null || stopped.signalCode !== null) return
    const exited = new Promise((resolve) => stopped.once('exit', resolve))
    if (stopped.kill('SIGKILL')) await exited
  }

  return {
    start,
    stop,
    async kill(): Promise<void> {
      await stop()
      await sleep(Math.random() * 2_000)
      await start()
    },
    nextRequest(withinMs: number): Promise<boolean> {
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(false), withinMs)
        onRequest = () => {
          clearTimeout(timer)
          resolve(true)
        }
        tell({ do: 'watch' })
      })
    },
    taken: () => takenBefore + takenNow,
  }
}
