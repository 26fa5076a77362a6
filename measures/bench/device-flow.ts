import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { backendsOf, processorMsOf } from '@ostiary/testkit/measuring/backend-time'
import { checkOut, LAST_API_FLAGS } from '@ostiary/testkit/measuring/earlier-release'
import { type Figure, median } from '@ostiary/testkit/measuring/figure'
import { processorMs } from '@ostiary/testkit/measuring/processor-time'
import { createClient, createHost, openWire, playDevice } from '@ostiary/testkit/measuring/sessions-load'
import { type Receivers, startReceivers } from '@ostiary/testkit/receivers'
import { API_FLAGS, freePorts, type Started, sleep, startProcess, startServices } from '@ostiary/testkit/run'
import pg from 'pg'
import type { Turns } from './device-api.ts'

const AT_ONCE = 8
const FLOW_LEAST = 1.8

/**
 * The whole flow in two installations on one cluster, one of an earlier commit: sessions are created, played by a device, read, and their
 * webhooks delivered. What API, worker and PostgreSQL need for each session, in turns. Only the side whose turn it is has anything to do; the
 * polling of both workers goes on.
 */
export async function compareFlow(
  commit: string,
  { warmUp, turns, sessions }: Turns,
  say: (line: string) => void,
): Promise<Figure[]> {
  const running: { stop(): Promise<unknown> }[] = []
  try {
    const before = await openSite(`${checkOut(commit)}/`, running)
    const after = await openSite('', running)
    for (const site of [before, after]) await site.play(warmUp)
    const costs = { before: [] as Cost[], after: [] as Cost[] }
    for (let turn = 0; turn < turns; turn++)
      for (const name of turn % 2 === 0 ? (['before', 'after'] as const) : (['after', 'before'] as const))
        costs[name].push(await (name === 'before' ? before : after).play(sessions))
    for (const name of ['before', 'after'] as const) {
      const middle = (read: (cost: Cost) => number) => median(costs[name].map(read)).toFixed(2)
      const parts = `API ${middle(({ api }) => api)}, PostgreSQL ${middle(({ database }) => database)}, worker ${middle(({ worker }) => worker)}`
      say(`${name}: ${parts} ms of processor time a session`)
    }
    const whole = ({ api, database, worker }: Cost) => api + database + worker
    const value = median(costs.before.map((cost, turn) => whole(cost) / whole(costs.after[turn] ?? NOTHING)))
    return [{ name: 'device.flow-before-over-after', value, floor: FLOW_LEAST, is: 'least', load: true }]
  } finally {
    for (const one of running.reverse()) await one.stop()
  }
}

/** Milliseconds of processor time for each session. */
interface Cost {
  api: number
  database: number
  worker: number
}
const NOTHING: Cost = { api: Number.NaN, database: 0, worker: 0 }

/** `root` leads to the source, from the root of the repository. */
async function openSite(root: string, running: { stop(): Promise<unknown> }[]) {
  const database = await createDatabase(startServices(), 'bench')
  running.push({ stop: database.drop })
  const settings = { ...testSettings(database.url), OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8', TRUST_PROXY: '127.0.0.1' }
  const [port = 0, adminPort = 0, workerPort = 0] = await freePorts(3)
  const name = root === '' ? 'after' : 'before'
  const apiFlags = name === 'after' ? API_FLAGS : LAST_API_FLAGS
  const start = async (main: 'api' | 'worker', env: Record<string, string>): Promise<Started> => {
    const logName = `bench-device-${name}-${main}`
    const script = `${root}apps/server/src/main-${main}.ts`
    const nodeFlags = main === 'api' ? apiFlags : []
    const started = await startProcess(script, { env: { ...settings, ...env }, logName, nodeFlags })
    running.push(started)
    return started
  }
  const api = await start('api', { PORT: String(port), ADMIN_PORT: String(adminPort) })
  const ports = { PORT: String(workerPort), WORKER_ADMIN_PORT: String(workerPort), ADMIN_PORT: String(workerPort) }
  const worker = await start('worker', ports)
  const wire = openWire(settings)
  const host = await createHost(wire, 'Device')
  await wire.close()
  const receivers: Receivers = await startReceivers([host.key])
  running.push(receivers)
  const client = createClient(api.url, AT_ONCE)
  const watch = new pg.Client(database.url)
  await watch.connect()
  running.push({ stop: () => client.close() }, { stop: () => watch.end() })
  let played = 0

  async function playOne(): Promise<void> {
    const index = played++
    const callback = { url: receivers.urls[0] ?? '' }
    const body = { redirectUrl: 'https://host.example/checked', ageThreshold: 30, callback, metadata: { order: index } }
    const { sessionId, token } = await client.create(host, body)
    if (!(await playDevice(api.url, sessionId, index))) throw new Error('The device’s flow did not end')
    await client.result(host, token)
  }

  return {
    async play(sessions: number): Promise<Cost> {
      const pids = await backendsOf(watch, new URL(database.url).pathname.slice(1))
      const used = () => ({ api: processorMs(api.pid), database: processorMsOf(pids), worker: processorMs(worker.pid) })
      const before = used()
      let left = sessions
      const player = async () => {
        while (left-- > 0) await playOne()
      }
      await Promise.all(Array.from({ length: AT_ONCE }, player))
      for (let arrived = 0; arrived < sessions; ) {
        await sleep(50)
        arrived += (await receivers.take()).length
      }
      const after = used()
      return {
        api: (after.api - before.api) / sessions,
        database: (after.database - before.database) / sessions,
        worker: (after.worker - before.worker) / sessions,
      }
    },
  }
}
