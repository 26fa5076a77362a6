/**
 * Sessions of areas C and D, of several tenants, end in every way there is, while two workers are killed with -9 four times, the API twice and PostgreSQL once, and
 * receivers answer 500, answer too late, hang, stop half way, reset, and die. Then the receivers recover, and time passes for the
 * tenants' test data until nothing waits any more. Every session's event must have been taken by its receiver, with its one
 * delivery id and a right signature each time, and stand in the log; pictures come with every attempt and none is left behind.
 * 300 sessions; --full: 5,000.
 */

import { testSettings } from '@ostiary/testkit/databases'
import { PRODUCT_LIMITS } from '@ostiary/testkit/limits'
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import {
  type Client,
  createClient,
  createHost,
  type Host,
  openWire,
  playDevice,
} from '@ostiary/testkit/measuring/sessions-load'
import { type Behaviour, type Receivers, startReceivers } from '@ostiary/testkit/receivers'
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
import { checkAll, type Ending, type Played } from './lost-and-found.ts'
import { killPostgres, restartPostgres } from './postgres-kill.ts'

// A cluster of its own, because it is killed.
const CLUSTER = 'drill-lost'
const TENANTS = 4
const WORKERS = 2
const LANES = 8
/** Of each ten sessions. `device` plays the whole flow of a person (area D: a spoof); `outcome` is the sandbox's short way. */
const WAYS: readonly Way[] = [
  'device',
  'outcome',
  'outcome',
  'outcome',
  'cancel',
  'cancel',
  'cancel',
  'expire',
  'expire',
  'expire',
]
type Way = 'device' | 'outcome' | 'cancel' | 'expire'
/** One behaviour per receiver; halfway through, each receiver takes over its neighbour's. */
const MANNERS: readonly Behaviour[] = ['ok', 'error', 'late', 'hang', 'reset', 'dead', 'half', 'mixed']
/** Shares of the sessions at which something happens. */
type Blow = 'worker' | 'api' | 'postgres' | 'manners'
const BLOWS: readonly { at: number; what: Blow }[] = [
  { at: 0.15, what: 'worker' },
  { at: 0.22, what: 'api' },
  { at: 0.3, what: 'worker' },
  { at: 0.4, what: 'postgres' },
  { at: 0.5, what: 'manners' },
  { at: 0.65, what: 'worker' },
  { at: 0.75, what: 'api' },
  { at: 0.85, what: 'worker' },
]
/** Sessions expire after a minute, the least there is. */
const LIFETIME_SECONDS = 60
const RECOVERY_MS = 180_000
const MOVING_MS = 400
const INTO_WORK_MS = 50
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
      atLeast('worker-kills', kills.worker, 4),
      atLeast('api-kills', kills.api, 2),
      atLeast('postgres-kills', kills.postgres, 1),
      atLeast('fsync', await durability(databaseUrl), 1),
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
  const scene = { settings, say, apiUrl: api.url, killApi, client, hosts, receivers, workers, kills }
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

interface Scene {
  settings: Record<string, string>
  say(text: string): void
  apiUrl: string
  client: Client
  hosts: readonly Host[]
  receivers: Receivers
  /** Each starts again while the other one works. */
  workers: Promise<Started>[]
  /** Kills it and waits until it is back. */
  killApi(): Promise<void>
  kills: { worker: number; api: number; postgres: number }
}

function hostOf(hosts: readonly Host[], receiver: number): Host {
  const host = hosts[receiver % hosts.length]
  if (!host) throw new Error('There are no tenants')
  return host
}

function startOneWorker(settings: Record<string, string>, number: number): Promise<Started> {
  return startWorker({ env: { ...settings, ...PRODUCT_LIMITS }, logName: `drill-lost-worker-${number}` })
}

/** 1 when what PostgreSQL acknowledges is on disk. */
async function durability(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<{ on: boolean }>(
    `select bool_and(setting = 'on') as on from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')`,
  )
  await client.end()
  return rows[0]?.on ? 1 : 0
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
        .then(() => strike(scene, blow.what, played.length))
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

const ENDINGS: Readonly<Record<'C' | 'D', Readonly<Record<Way, Ending>>>> = {
  C: { device: 'COMPLETED', outcome: 'COMPLETED', cancel: 'CANCELLED', expire: 'EXPIRED' },
  D: { device: 'FAILED', outcome: 'SUCCEEDED', cancel: 'CANCELLED', expire: 'EXPIRED' },
}

/** Every receiver gets both areas in turn, and every way of both. */
function playOne(scene: Scene, index: number): Promise<Played> {
  const row = Math.floor(index / MANNERS.length)
  const way = WAYS[row % WAYS.length] ?? 'outcome'
  const isAge = (row + Math.floor(row / WAYS.length)) % 2 === 0
  return isAge ? playAge(scene, index, way) : playVerification(scene, index, way)
}

async function playAge({ apiUrl, client, hosts, receivers }: Scene, index: number, way: Way): Promise<Played> {
  const receiver = index % MANNERS.length
  const host = hostOf(hosts, receiver)
  const body = {
    redirectUrl: 'https://host.example/checked',
    ageThreshold: 30,
    callback: { url: receivers.urls[receiver] ?? '' },
    metadata: { order: index },
    ...(way === 'expire' && { sessionExpiry: LIFETIME_SECONDS }),
  }
  const { sessionId, token } = await client.create(host, body, `lost-${index}`)
  const path = `/session/${token}`
  if (way === 'cancel') await client.cancel(host, path)
  // A device stops at a failed call. The sandbox then ends the session instead.
  const isEnded = way === 'device' && (await playDevice(apiUrl, sessionId, index))
  if (!isEnded && (way === 'device' || way === 'outcome')) await client.complete(host, sessionId)
  return { sessionId, area: 'C', path: `${path}/result`, receiver, ending: ENDINGS.C[way], hasPicture: false }
}

const TYPES = ['ENROLL', 'SIGN-IN'] as const

async function playVerification({ client, hosts, receivers }: Scene, index: number, way: Way): Promise<Played> {
  const receiver = index % MANNERS.length
  const host = hostOf(hosts, receiver)
  const sendImages = index % 3 > 0
  const body = {
    type: TYPES[index % 2] ?? 'ENROLL',
    redirectURL: 'https://host.example/welcome',
    callback: { url: receivers.urls[receiver] ?? '' },
    transactionID: `order ${index}`,
    sendImages,
    ...(way === 'expire' && { sessionExpiry: LIFETIME_SECONDS }),
  }
  const { sessionId } = await client.createVerification(host, body, `lost-${index}`)
  const path = `/v2/verification-session/${sessionId}`
  if (way === 'cancel') await client.cancel(host, path)
  if (way === 'device') await client.complete(host, sessionId, { outcome: 'spoof' })
  if (way === 'outcome') await client.complete(host, sessionId, { outcome: 'success' })
  // Only of a success there is a picture to send.
  const hasPicture = sendImages && way === 'outcome'
  return { sessionId, area: 'D', path: `${path}/webhook`, receiver, ending: ENDINGS.D[way], hasPicture }
}

async function strike(scene: Scene, what: Blow, done: number): Promise<void> {
  const { say, workers, kills, receivers, settings } = scene
  if (what === 'manners') {
    say(`after ${done} sessions every receiver changes its behaviour`)
    return setManners(scene, 1)
  }
  await sleep(INTO_WORK_MS)
  const { open } = await receivers.count()
  if (what === 'postgres') {
    const processes = await killPostgres(CLUSTER)
    kills.postgres++
    say(`killed PostgreSQL (${processes} processes) after ${done} sessions, ${open} webhooks under way`)
    await sleep(300)
    return restartPostgres(CLUSTER)
  }
  if (what === 'api') {
    kills.api++
    say(`killed the API after ${done} sessions, ${open} webhooks under way`)
    return scene.killApi()
  }
  const number = kills.worker % workers.length
  await (await workers[number])?.stop('SIGKILL')
  kills.worker++
  say(`killed worker ${number} after ${done} sessions, ${open} webhooks under way`)
  workers[number] = startOneWorker(settings, number)
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
