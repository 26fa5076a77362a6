/**
 * What more cells cost: an installation of sixteen cells beside one of a single cell, on one machine and one PostgreSQL. Each has an API
 * process and a worker, and sixteen hosts: one per cell, or all in one. In a turn one host has all sessions, so that a cell has the same load on
 * both sides; in the last turns all hosts share them.
 *
 * PostgreSQL's log of every statement, with its values, shows that none names an id of another cell.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { backendsOf, processorMsOf } from '@ostiary/testkit/measuring/backend-time'
import { type Figure, type Measure, median } from '@ostiary/testkit/measuring/figure'
import { createClient, createHost, type Host, openWire, playDevice } from '@ostiary/testkit/measuring/sessions-load'
import { startReceivers } from '@ostiary/testkit/receivers'
import { ostiary, sleep, startApi, startServices, startWorker, stopServices } from '@ostiary/testkit/run'
import pg from 'pg'
import { BUCKETS, cellOfId, recordStatements } from './cell-statements.ts'

const CLUSTER = 'cells'
const CELLS = 16
/** Sessions at once: enough to keep the API busy, few for each of sixteen cells. */
const AT_ONCE = 8
const SIZES = {
  short: { warmUp: 48, turns: 2, sessions: 64, idleWindows: 2, idleMs: 2_000, recorded: 32 },
  full: { warmUp: 320, turns: 8, sessions: 320, idleWindows: 6, idleMs: 10_000, recorded: 320 },
}
const SESSION_MOST = 1.15
const IDLE_MOST = 1.15
const POOL = 4

export const measure: Measure = async ({ full, say }) => {
  const size = SIZES[full ? 'full' : 'short']
  const cluster = startServices(CLUSTER)
  const watcher = new pg.Client(cluster)
  await watcher.connect()
  const template = await createTemplate(cluster)
  const one = await startSite(cluster, watcher, template.name, 1)
  const many = await startSite(cluster, watcher, template.name, CELLS)
  const sites = [one, many] as const
  try {
    const statements = await recordStatements(watcher, many.databases, () => many.play(size.recorded, many.hosts))
    const busy = [...statements.perCell.values()].filter((count) => count > 0).length
    say(
      `${size.recorded} sessions over ${CELLS} cells: ${statements.count} statements with ${statements.ids} ids; ${busy} cells were asked, ${statements.foreign.length} statements name an id of another cell`,
    )
    for (const text of statements.foreign.slice(0, 5)) say(`of another cell: ${text.slice(0, 300)}`)
    for (const site of sites) await site.play(size.warmUp, site.hosts)
    for (const site of sites) site.idle = await site.observeIdle(size.idleWindows, size.idleMs)
    for (const { cells, idle } of sites)
      say(
        `${cells} cells, nothing to do: ${idle.toFixed(1)} ms of processor time a second, ${(idle / cells).toFixed(1)} per cell`,
      )
    /** What a session costs with sixteen cells, divided by what it costs with one, turn by turn. */
    const compare = async (hostsOf: (hosts: readonly Host[], turn: number) => readonly Host[]): Promise<number> => {
      const ratios: number[] = []
      for (let turn = 0; turn < size.turns; turn++) {
        const costs = new Map<Site, number>()
        for (const site of turn % 2 === 0 ? sites : sites.toReversed())
          costs.set(site, await site.costOf(size.sessions, hostsOf(site.hosts, turn)))
        const [ofOne, ofMany] = [costs.get(one) ?? Number.NaN, costs.get(many) ?? Number.NaN]
        say(`a session: ${ofOne.toFixed(2)} ms of processor time with one cell, ${ofMany.toFixed(2)} with ${CELLS}`)
        ratios.push(ofMany / ofOne)
      }
      return median(ratios)
    }
    const ratio = await compare((hosts, turn) => hosts.slice(turn % hosts.length, (turn % hosts.length) + 1))
    const spread = await compare((hosts) => hosts)
    say(
      `the same sessions spread over all hosts: ${spread.toFixed(3)} times one cell's cost, because fewer calls share a statement`,
    )
    const connections = await many.connections()
    say(`connections of two processes per cell: ${connections.join(' ')}`)
    return [
      { name: 'cells.foreign-statements', value: statements.foreign.length, floor: 0, is: 'most' },
      { name: 'cells.asked', value: busy, floor: CELLS, is: 'least' },
      { name: 'cells.connections-per-process', value: Math.max(...connections) / 2, floor: POOL, is: 'most' },
      { name: 'cells.session-cpu-16-to-1', value: ratio, floor: SESSION_MOST, is: 'most', load: true },
      {
        name: 'cells.idle-per-cell-16-to-1',
        value: many.idle / CELLS / one.idle,
        floor: IDLE_MOST,
        is: 'most',
        load: true,
      },
    ] satisfies Figure[]
  } finally {
    for (const site of sites) await site.stop()
    await template.drop()
    await watcher.end()
    stopServices(CLUSTER)
  }
}

/** An empty database with all tables: sixteen migrations would take longer than the measurement. */
async function createTemplate(cluster: string): Promise<{ name: string; drop(): Promise<void> }> {
  const database = await createDatabase(cluster, 'template')
  ostiary(testSettings(database.url), 'migrate')
  return { name: new URL(database.url).pathname.slice(1), drop: database.drop }
}

type Site = Awaited<ReturnType<typeof startSite>>

/** An installation of so many cells: databases, an API process, a worker, a host for each of the sixteen ranges of buckets, and receivers. */
async function startSite(cluster: string, watcher: pg.Client, template: string, cells: number) {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-cells-'))
  const databases: Awaited<ReturnType<typeof createDatabase>>[] = []
  for (let cell = 0; cell < cells; cell++) databases.push(await createDatabase(cluster, 'cell', template))
  const names = databases.map(({ url }) => new URL(url).pathname.slice(1))
  writeFileSync(join(folder, 'cells.json'), JSON.stringify(cellMap(databases.map(({ url }) => url))))
  const { DATABASE_URL: _none, ...limits } = testSettings('')
  const env = {
    ...limits,
    CELLS_FILE: join(folder, 'cells.json'),
    OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8',
    TRUST_PROXY: '127.0.0.1',
  }
  const api = await startApi({ env, logName: `bench-cells-${cells}-api` })
  const worker = await startWorker({ env, logName: `bench-cells-${cells}-worker` })
  const hosts = await createHosts(env)
  const receivers = await startReceivers(hosts.map(({ key }) => key))
  const client = createClient(api.url, AT_ONCE)
  let played = 0

  async function playOne(of: readonly Host[]): Promise<void> {
    const index = played++
    const host = of[index % of.length]
    if (!host) throw new Error('Nobody creates the sessions')
    const callback = { url: receivers.urls[hosts.indexOf(host)] ?? '' }
    const body = { redirectUrl: 'https://host.example/checked', ageThreshold: 30, callback }
    const { sessionId, token } = await client.create(host, body)
    if (!(await playDevice(api.url, sessionId, index))) throw new Error('The device’s flow did not end')
    await client.result(host, token)
  }

  /** Plays so many sessions, and waits until each webhook has arrived. */
  async function play(sessions: number, of: readonly Host[]): Promise<void> {
    let left = sessions
    const player = async () => {
      while (left-- > 0) await playOne(of)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, player))
    while ((await receivers.count()).arrived < played) await sleep(20)
  }

  async function usedMs(): Promise<number> {
    const backends: number[] = []
    for (const name of names) backends.push(...(await backendsOf(watcher, name)))
    return processorMsOf([api.pid, worker.pid, ...backends])
  }

  /** Milliseconds of processor time that `work` takes, and its seconds. */
  async function cost(work: () => Promise<unknown>): Promise<{ ms: number; seconds: number }> {
    const [before, startedMs] = [await usedMs(), performance.now()]
    await work()
    return { ms: (await usedMs()) - before, seconds: (performance.now() - startedMs) / 1000 }
  }

  const site = {
    cells,
    databases: names,
    hosts,
    play,
    /** Milliseconds of processor time per second with nothing to do, once it is known. */
    idle: 0,
    async observeIdle(windows: number, ms: number): Promise<number> {
      const seen: number[] = []
      for (let window = 0; window < windows; window++) {
        const { ms: used, seconds } = await cost(() => sleep(ms))
        seen.push(used / seconds)
      }
      return median(seen)
    },
    /** What a session costs beyond what the installation uses anyway. */
    async costOf(sessions: number, of: readonly Host[]): Promise<number> {
      const { ms, seconds } = await cost(() => play(sessions, of))
      return (ms - site.idle * seconds) / sessions
    },
    async connections(): Promise<number[]> {
      const counts: number[] = []
      for (const name of names) counts.push((await backendsOf(watcher, name)).length)
      return counts
    },
    async stop(): Promise<void> {
      await Promise.all([api.stop('SIGKILL'), worker.stop('SIGKILL'), client.close(), receivers.stop()])
      for (const database of databases) await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return site
}

function cellMap(urls: readonly string[]): object {
  const width = BUCKETS / urls.length
  return {
    cells: Object.fromEntries(urls.map((url, index) => [`cell${index}`, url])),
    buckets: Object.fromEntries(
      urls.map((_, index) => [`${index * width}-${(index + 1) * width - 1}`, `cell${index}`]),
    ),
  }
}

/** One host for each of the sixteen ranges of buckets. A tenant’s bucket is drawn, so more are made than stay. */
async function createHosts(env: Record<string, string>): Promise<Host[]> {
  const wire = openWire(env)
  try {
    const hosts = new Map<number, Host>()
    for (let made = 0; hosts.size < CELLS; made++) {
      const host = await createHost(wire, `Cell ${made}`)
      hosts.set(cellOfId(host.tenantId, CELLS), host)
    }
    return [...hosts.values()]
  } finally {
    await wire.close()
  }
}
