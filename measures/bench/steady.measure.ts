/**
 * How many sessions a second this machine holds: each is made, ends, its result is read, and its webhook arrives. Everything is
 * on one machine: database, API, worker, receiver and the load itself. Steady means that memory and the age of the queue stay
 * where they are.
 *
 *   npm run bench -- steady --rate 40 --seconds 20      holds a rate; these are the defaults
 *   npm run bench -- steady --find --seconds 600        climbs until it does not hold, then holds the best below for so long
 *   … --device                                          a simulated telephone plays the flow, instead of the sandbox's one call
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { type Figure, type Measure, median } from '@ostiary/testkit/measuring/figure'
import { percentile } from '@ostiary/testkit/measuring/node-bench'
import { atRate } from '@ostiary/testkit/measuring/pace'
import {
  type Client,
  createClient,
  createHost,
  type Host,
  openWire,
  playDevice,
} from '@ostiary/testkit/measuring/sessions-load'
import { type Receivers, startReceivers } from '@ostiary/testkit/receivers'
import { type Started, sleep, startApi, startServices, startWorker } from '@ostiary/testkit/run'

const FIRST_RATE = 40
const CLIMB = 1.25
const CLIMB_SECONDS = 15
/** New processes compile for a while and would miss rates that they can hold afterwards. */
const WARM_UP = { rate: 25, seconds: 40 }
/** A webhook older than this had to wait. A queue that keeps up never comes near it. */
const QUEUE_AGE_MOST_MS = 1_000
const MEMORY_GROWTH_MOST = 1.2
const RECEIVERS = 8

export const measure: Measure = async ({ say }) => {
  const wanted = readOptions()
  const database = await createDatabase(startServices(), 'bench')
  const settings = { ...testSettings(database.url), OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8', TRUST_PROXY: '127.0.0.1' }
  const running: { stop(): Promise<unknown> }[] = []
  try {
    const api = await startApi({ env: settings, logName: 'bench-steady-api' })
    running.push(api)
    const worker = await startWorker({ env: settings, logName: 'bench-steady-worker' })
    running.push(worker)
    const wire = openWire(settings)
    const host = await createHost(wire, 'Steady')
    await wire.close()
    const receivers = await startReceivers(Array.from({ length: RECEIVERS }, () => host.key))
    running.push(receivers)
    const client = createClient(api.url, 64)
    running.push({ stop: () => client.close() })
    const scene = { api, worker, host, receivers, client, device: wanted.device }
    const rate = wanted.find ? await climb(scene, say) : wanted.rate
    const held = await hold(scene, { rate, seconds: wanted.seconds })
    report(held, say)
    return figuresOf(held, rate)
  } finally {
    await Promise.all(running.map((one) => one.stop()))
    await database.drop()
  }
}

function readOptions(): { rate: number; seconds: number; find: boolean; device: boolean } {
  const { values } = parseArgs({
    args: process.argv.slice(4),
    options: {
      rate: { type: 'string', default: String(FIRST_RATE) },
      seconds: { type: 'string', default: '20' },
      find: { type: 'boolean', default: false },
      device: { type: 'boolean', default: false },
      full: { type: 'boolean' },
    },
  })
  const [rate, seconds] = [Number(values.rate), Number(values.seconds)]
  if (!(rate > 0) || !(seconds >= 4))
    throw new Error('--rate needs a number of sessions a second, --seconds at least 4')
  return { rate, seconds, find: values.find, device: values.device }
}

interface Scene {
  api: Started
  worker: Started
  host: Host
  receivers: Receivers
  client: Client
  device: boolean
}

/** The measurements of one second. */
interface Sample {
  apiMb: number
  workerMb: number
  queueAgesMs: number[]
}

interface Held {
  samples: Sample[]
  sessions: number
  tookSeconds: number
  errors: number
  undelivered: number
}

async function hold(scene: Scene, { rate, seconds }: { rate: number; seconds: number }): Promise<Held> {
  const { client } = scene
  const count = Math.round(rate * seconds)
  const arrived = new Set<string>()
  const failuresBefore = client.failures()
  let errors = 0
  let isOver = false
  const sampling = sampleEverySecond(scene, arrived, () => isOver)
  const startedMs = performance.now()
  await atRate(rate, count, async (index) => {
    await playOne(scene, index).catch(() => {
      errors++
    })
  })
  const tookSeconds = (performance.now() - startedMs) / 1000
  for (let tries = 0; tries < 50 && arrived.size < count; tries++) await sleep(100)
  isOver = true
  const samples = await sampling
  errors += client.failures() - failuresBefore
  return { samples, sessions: count, tookSeconds, errors, undelivered: count - arrived.size }
}

async function playOne({ api, client, host, receivers, device }: Scene, index: number): Promise<void> {
  const callback = { url: receivers.urls[index % RECEIVERS] ?? '' }
  const body = { redirectUrl: 'https://host.example/checked', ageThreshold: 30, callback, metadata: { order: index } }
  const { sessionId, token } = await client.create(host, body)
  if (device) {
    if (!(await playDevice(api.url, sessionId, index))) throw new Error('The device’s flow did not end')
  } else await client.complete(host, sessionId)
  await client.result(host, token)
}

/** Adds the sessions whose webhook came to `arrived`. */
async function sampleEverySecond(
  { api, worker, receivers }: Scene,
  arrived: Set<string>,
  isOver: () => boolean,
): Promise<Sample[]> {
  const samples: Sample[] = []
  while (!isOver()) {
    await sleep(1_000)
    const arrivals = await receivers.take()
    for (const { sessionId } of arrivals) arrived.add(sessionId)
    samples.push({
      apiMb: residentMb(api.pid),
      workerMb: residentMb(worker.pid),
      queueAgesMs: arrivals.map(({ atMs, endedAtMs }) => atMs - endedAtMs),
    })
  }
  return samples
}

function residentMb(pid: number): number {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

/** Raises the rate until it is not held. Returns the highest that was. */
async function climb(scene: Scene, say: (text: string) => void): Promise<number> {
  await hold(scene, WARM_UP)
  let best = FIRST_RATE / CLIMB
  for (let rate = FIRST_RATE; ; rate = Math.round(rate * CLIMB)) {
    const held = await hold(scene, { rate, seconds: CLIMB_SECONDS })
    const isHeld = figuresOf(held, rate).every(({ name, value, floor, is }) =>
      // One step is too short to judge memory.
      name.endsWith('memory-growth') ? true : is === 'least' ? value >= floor : value <= floor,
    )
    say(
      `${rate} sessions/s ${isHeld ? 'held' : 'not held'}: queue age p99 ${p99(held.samples)} ms, ${held.errors} errors`,
    )
    if (!isHeld) return best
    best = rate
  }
}

const agesOf = (samples: readonly Sample[]) => samples.flatMap(({ queueAgesMs }) => queueAgesMs)
const p99 = (samples: readonly Sample[]) => percentile(agesOf(samples), 0.99)

/** Skips the first quarter, in which code is compiled and caches are filled. */
function growthOf(samples: readonly Sample[], read: (sample: Sample) => number): number {
  const quarter = Math.floor(samples.length / 4)
  const middle = samples.slice(quarter, 2 * quarter).map(read)
  return median(samples.slice(-quarter).map(read)) / median(middle)
}

function figuresOf({ samples, sessions, tookSeconds, errors, undelivered }: Held, rate: number): Figure[] {
  const lastHalf = samples.slice(Math.floor(samples.length / 2))
  const growth = Math.max(
    growthOf(samples, ({ apiMb }) => apiMb),
    growthOf(samples, ({ workerMb }) => workerMb),
  )
  return [
    {
      name: 'steady.sessions-per-second',
      value: sessions / tookSeconds,
      floor: Math.round(rate * 97) / 100,
      is: 'least',
      load: true,
    },
    { name: 'steady.errors', value: errors, floor: 0, is: 'most' },
    { name: 'steady.undelivered', value: undelivered, floor: 0, is: 'most' },
    { name: 'steady.queue-age-p99-ms', value: p99(lastHalf), floor: QUEUE_AGE_MOST_MS, is: 'most', load: true },
    { name: 'steady.memory-growth', value: growth, floor: MEMORY_GROWTH_MOST, is: 'most', load: true },
  ]
}

function report({ samples, sessions, tookSeconds, errors }: Held, say: (text: string) => void): void {
  const third = Math.ceil(samples.length / 3)
  const [first, middle, last] = [samples[0], samples[Math.floor(samples.length / 2)], samples.at(-1)]
  const mb = (read: (sample: Sample) => number) =>
    [first, middle, last].map((sample) => (sample ? Math.round(read(sample)) : 0)).join(' / ')
  say(`${sessions} sessions in ${tookSeconds.toFixed(1)} s, ${errors} errors`)
  say(`memory at start / middle / end: API ${mb(({ apiMb }) => apiMb)} MB, worker ${mb(({ workerMb }) => workerMb)} MB`)
  for (const [name, part] of [
    ['first', samples.slice(0, third)],
    ['middle', samples.slice(third, -third)],
    ['last', samples.slice(-third)],
  ] as const) {
    say(`queue age in the ${name} third: p50 ${percentile(agesOf(part), 0.5)} ms, p99 ${p99(part)} ms`)
  }
}
