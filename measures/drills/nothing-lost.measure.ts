/**
 * Sessions of areas C and D, of several tenants, end in every way there is, while two workers are killed with -9 four times, once both together, the API and
 * PostgreSQL twice each, aimed at every step: a creation, a device's call, an end, a delivery, the sweep of what has expired. Meanwhile
 * receivers answer 500, answer too late, hang, stop half way, reset, and die. Then the receivers recover, and time passes for the
 * tenants' test data until nothing waits any more. Every session's event must have been taken by its receiver, with its one
 * delivery id and a right signature each time, and stand in the log; pictures come with every attempt and none is left behind. Sessions without
 * a callback that nobody opened must have expired.
 * 300 sessions; --full: 5,000.
 */

import { testSettings } from '@ostiary/testkit/databases'
import { PRODUCT_LIMITS } from '@ostiary/testkit/limits'
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import { createClient, createHost, type Host, openWire } from '@ostiary/testkit/measuring/sessions-load'
import { startReceivers } from '@ostiary/testkit/receivers'
import {
  freePorts,
  type Started,
  sleep,
  startApi,
  startServices,
  startWorker,
  stopServices,
} from '@ostiary/testkit/run'
import pg from 'pg'
import { inParallel } from './enrols.ts'
import { createMoments } from './kill-moments.ts'
import { checkAll, type Played } from './lost-and-found.ts'
import {
  countOpen,
  hostOf,
  LIFETIME_SECONDS,
  MANNERS,
  playOne,
  SILENT_EVERY,
  type Stage,
  STEPS,
  type Step,
} from './nothing-lost-sessions.ts'
import { isDurable, killPostgres, restartPostgres } from './postgres-kill.ts'

// A cluster of its own, because it is killed.
const CLUSTER = 'drill-lost'
const TENANTS = 4
const WORKERS = 2
const LANES = 8
/** Shares of the sessions at which something happens, and the step that it shall meet. */
interface Blow {
  at: number
  what: 'worker' | 'workers' | 'api' | 'postgres' | 'manners'
  step?: Step
}
const BLOWS: readonly Blow[] = [
  { at: 0.15, what: 'worker', step: 'delivery' },
  { at: 0.22, what: 'api', step: 'creation' },
  { at: 0.3, what: 'worker', step: 'sweep' },
  { at: 0.4, what: 'postgres', step: 'device' },
  { at: 0.5, what: 'manners' },
  { at: 0.6, what: 'postgres', step: 'end' },
  { at: 0.7, what: 'workers', step: 'delivery' },
  { at: 0.78, what: 'api', step: 'device' },
  { at: 0.86, what: 'worker', step: 'sweep' },
]
/** How long a kill waits for its step before it comes anyway. */
const STEP_WITHIN_MS = 3_000
const RECOVERY_MS = 180_000
const MOVING_MS = 400
const INTO_WORK_MS = 50
const INTO_CALL_MS = 15
const RETRY_SECONDS = 120
const REST_SECONDS = 30

export const measure: Measure = async ({ full, say }) => {
  const count = full ? 5_000 : 300
  stopServices(CLUSTER, 'wipe')
  const databaseUrl = startServices(CLUSTER)
  const settings = {
    ...testSettings(databaseUrl),
    OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8',
    TRUST_PROXY: '127.0.0.1',
  }
  const running: { stop(): Promise<unknown> }[] = []
  try {
    const scene = await setScene(settings, say, running)
    const { client, hosts, receivers, kills } = scene
    say(`the API, ${WORKERS} workers and ${MANNERS.length} receivers are up`)
    const played = await playAll(scene, count)
    say(`${count} sessions made and ended; ${client.failures()} calls failed on the way and were repeated`)
    await recover(scene)
    const found = await checkAll({ client, hosts, played, arrivals: await receivers.take() })
    say(
      `${found.arrivals} requests arrived for ${count} events, ${found.repeats} of them after their event had been taken; ` +
        `${found.attemptsLogged} attempts in the log`,
    )
    for (const line of found.examples) say(line)
    return [
      atLeast('sessions', found.ended, count),
      atLeast('verification-sessions', played.filter(({ area }) => area === 'D').length, Math.floor(count * 0.4)),
      atLeast('pictures', played.filter(({ hasPicture }) => hasPicture).length, Math.floor(count * 0.05)),
      atMost('pictures-left', await picturesLeft(databaseUrl)),
      atLeast('ways-to-end', found.ways, 7),
      atMost('lost', found.lost),
      atMost('bad-signatures', found.badSignatures),
      atMost('ids-that-changed', found.changedIds),
      atMost('bodies-that-differ', found.changedBodies),
      atMost('not-in-log', found.notInLog),
      atMost('left-open', await countOpen(scene)),
      atLeast('silent-sessions', scene.silent.length, Math.floor(count / SILENT_EVERY)),
      atLeast('worker-kills', kills.worker, 4),
      atLeast('api-kills', kills.api, 2),
      atLeast('postgres-kills', kills.postgres, 2),
      { ...atLeast('steps-met', scene.stepsMet.size, STEPS.length), load: true },
      atLeast('fsync', Number(await isDurable(databaseUrl)), 1),
    ]
  } finally {
    await Promise.all(running.map((one) => one.stop()))
    stopServices(CLUSTER, 'wipe')
  }
}

/** Starts everything; what runs is put into `running` at once, so that it is stopped whatever happens. */
async function setScene(
  settings: Record<string, string>,
  say: (text: string) => void,
  running: { stop(): Promise<unknown> }[],
): Promise<Scene> {
  // It restarts on the same port, as under a supervisor.
  const [port = 0, adminPort = 0] = await freePorts(2)
  const apiSettings = { ...settings, ...PRODUCT_LIMITS, PORT: String(port), ADMIN_PORT: String(adminPort) }
  const startTheApi = () => startApi({ env: apiSettings, logName: 'drill-lost-api' })
  let api = await startTheApi()
  running.push({ stop: () => api.stop('SIGKILL') })
  const killApi = async () => {
    await api.stop('SIGKILL')
    api = await startTheApi()
  }
  const workers: Promise<Started>[] = []
  running.push({ stop: () => Promise.all(workers.map(async (worker) => (await worker).stop('SIGKILL'))) })
  for (let n = 0; n < WORKERS; n++) {
    workers.push(startOneWorker(settings, n))
    await workers[n]
  }
  const wire = openWire(settings)
  const hosts: Host[] = []
  for (let n = 0; n < TENANTS; n++) hosts.push(await createHost(wire, `Lost ${n}`))
  await wire.close()
  const receivers = await startReceivers(MANNERS.map((_, n) => hostOf(hosts, n).key))
  running.push(receivers)
  const client = createClient(api.url)
  running.push({ stop: () => client.close() })
  const kills = { worker: 0, api: 0, postgres: 0 }
  const scene: Scene = {
    ...{ settings, say, apiUrl: api.url, killApi, client, hosts, receivers, workers, kills },
    ...{ silent: [], moments: createMoments(), stepsMet: new Set() },
  }
  await setManners(scene, 0)
  return scene
}

const atLeast = (name: string, value: number, floor: number): Figure => ({
  name: `nothing-lost.${name}`,
  value,
  floor,
  is: 'least',
})
const atMost = (name: string, value: number): Figure => ({ name: `nothing-lost.${name}`, value, floor: 0, is: 'most' })

interface Scene extends Stage {
  settings: Record<string, string>
  say(text: string): void
  /** Each starts again while the other one works. */
  workers: Promise<Started>[]
  /** Kills it and waits until it is back. */
  killApi(): Promise<void>
  kills: { worker: number; api: number; postgres: number }
  /** Steps that were under way when a kill came. */
  stepsMet: Set<Step>
}

function startOneWorker(settings: Record<string, string>, number: number): Promise<Started> {
  return startWorker({ env: { ...settings, ...PRODUCT_LIMITS }, logName: `drill-lost-worker-${number}` })
}

/** Bodies with pictures that still lie in the database. */
async function picturesLeft(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query('select count(*)::int as count from webhook_queue where once_sealed is not null')
  await client.end()
  return rows[0].count
}

/** Receiver n behaves as the n-th, moved on by so many. */
async function setManners({ receivers }: Scene, shift: number): Promise<void> {
  await Promise.all(MANNERS.map((_, n) => receivers.behave(n, MANNERS[(n + shift) % MANNERS.length] ?? 'ok')))
}

/** Creates and ends all sessions, and triggers each fault when its share of the sessions is reached. */
async function playAll(scene: Scene, count: number): Promise<Played[]> {
  const played: Played[] = []
  const blows = [...BLOWS]
  let holding: Promise<unknown> = Promise.resolve()
  let striking: Promise<unknown> = Promise.resolve()
  await inParallel(count, LANES, async (index) => {
    played.push(await playOne(scene, index))
    const blow = blows[0]
    if (blow && played.length >= blow.at * count) {
      blows.shift()
      holding = striking.then(() => waitForTraffic(scene))
      striking = holding
        .then(() => strike(scene, blow, played.length))
        // A running worker ends the sessions that have expired by now.
        .then(() => passTime(scene, LIFETIME_SECONDS + 1))
    }
    // All sessions wait until the fault can be triggered, and continue while it happens, so that it hits work in progress.
    await holding
  })
  await striking
  await Promise.all(scene.workers)
  await passTime(scene, LIFETIME_SECONDS + 1)
  return played
}

async function strike(scene: Scene, { what, step }: Blow, done: number): Promise<void> {
  const { say, workers, kills, receivers } = scene
  if (what === 'manners') {
    say(`after ${done} sessions every receiver changes its behaviour`)
    return setManners(scene, 1)
  }
  const isMet = await waitForStep(scene, step)
  if (step && isMet) scene.stepsMet.add(step)
  const { open } = await receivers.count()
  say(`kill ${what} at ${step} after ${done} sessions, ${open} webhooks under way${isMet ? '' : ', the step is not'}`)
  if (what === 'postgres') {
    await killPostgres(CLUSTER)
    kills.postgres++
    await sleep(300)
    return restartPostgres(CLUSTER)
  }
  if (what === 'api') {
    kills.api++
    return scene.killApi()
  }
  const number = kills.worker++ % workers.length
  await Promise.all(workers.map((_, n) => (what === 'workers' || n === number) && killWorker(scene, n)))
}

async function killWorker({ workers, settings }: Scene, number: number): Promise<void> {
  await (await workers[number])?.stop('SIGKILL')
  workers[number] = startOneWorker(settings, number)
}

/** Resolves in the middle of the step. */
async function waitForStep(scene: Scene, step: Step = 'delivery'): Promise<boolean> {
  switch (step) {
    case 'delivery':
      await sleep(INTO_WORK_MS)
      return (await scene.receivers.count()).open > 0
    case 'sweep':
      await passTime(scene, LIFETIME_SECONDS + 1)
      return true
    default: {
      const isMet = await scene.moments.next(step, STEP_WITHIN_MS)
      await sleep(Math.random() * INTO_CALL_MS)
      return isMet
    }
  }
}

/** Both workers are up and webhooks are under way: a kill while nothing is sent would prove little. */
async function waitForTraffic(scene: Scene): Promise<void> {
  await Promise.all(scene.workers)
  for (let tries = 0; tries < 100 && (await scene.receivers.count()).open === 0; tries++) {
    // The breaker pauses receivers that failed. After the pause, a hanging receiver holds a call again.
    if (tries % 25 === 10) await passTime(scene, REST_SECONDS)
    await sleep(20)
  }
}

async function passTime({ client, hosts }: Scene, seconds: number): Promise<void> {
  await Promise.all(hosts.map((host) => client.advance(host, seconds)))
}

/** Lets the receivers recover and advances time until no webhook waits. */
async function recover(scene: Scene): Promise<void> {
  const { receivers, say } = scene
  await Promise.all(MANNERS.map((_, n) => receivers.behave(n, 'ok')))
  const startedMs = performance.now()
  let pending = await countPending(scene)
  let passed = 0
  while (pending > 0 && performance.now() - startedMs < RECOVERY_MS) {
    // Advancing time also ends leases, so that webhooks in flight are sent again. Advance it only while nothing moves.
    await sleep(MOVING_MS)
    const left = await countPending(scene)
    if (left === pending) {
      await passTime(scene, RETRY_SECONDS)
      passed += RETRY_SECONDS
    }
    pending = left
  }
  say(`${pending} webhooks wait, ${(performance.now() - startedMs).toFixed(0)} ms and ${passed} s of test time later`)
}

async function countPending({ client, hosts }: Scene): Promise<number> {
  const pages = await Promise.all(hosts.map((host) => client.read<{ count: number }>(host, PENDING)))
  return pages.reduce((sum, page) => sum + page.count, 0)
}
const PENDING = '/webhooks/deliveries?state=pending&limit=200'
