/**
 * Tokens beside vectors in one run: API, key holder and PostgreSQL as processes, people with simulated devices. How long a sign-in takes, what
 * an enrolment and a sign-in cost each service, what goes over each line, what both databases store for a person, and whether other calls
 * wait while tokens are compared. --full has more people and more turns.
 */
import { createFaces } from '@ostiary/server/measure'
import { type Figure, type Measure, median } from '@ostiary/testkit/measuring/figure'
import { percentile } from '@ostiary/testkit/measuring/node-bench'
import type { Host } from '@ostiary/testkit/measuring/sessions-load'
import {
  createTokenSession,
  type DeviceCall,
  newTokenPerson,
  startTokenSite,
  type TokenPerson,
  type TokenSite,
  visitSession,
} from '@ostiary/testkit/measuring/token-site'
import { type CountingLink, startCountingLink } from './counting-link.ts'
import { type Costs, createCostMeter } from './token-costs.ts'
import { measureNeighbours } from './token-neighbours.ts'
import { pageBytes, storedBytes } from './token-sizes.ts'

interface Sizes {
  warmUps: number
  people: number
  turns: number
  rows: number
  neighbourMs: number
}
const SHORT: Sizes = { warmUps: 4, people: 6, turns: 14, rows: 200, neighbourMs: 1_000 }
const FULL: Sizes = { warmUps: 30, people: 70, turns: 250, rows: 2_000, neighbourMs: 15_000 }

/** The floor for a sign-in. */
const SIGN_IN_CPU_MS = 150
const ENROLMENT_CPU_MS = 250
/** 250 ms of it are the deadline of the key holder. */
const SIGN_IN_MS = 1_000
/** A cheap call beside sign-ins by token. */
const NEIGHBOUR_MS = 150
/** A session by token beside one by vector. */
const SESSION_RATIO = 10
/** In both databases, for one person. */
const STORED_BYTES = 250_000
/** A picture of the same person on another day. */
const SAME_PERSON = 0.8

const LANES = 3

type Say = (text: string) => void
type Kind = 'token' | 'vector'

interface Person extends TokenPerson {
  face: readonly number[]
}

interface Bench {
  site: TokenSite
  link: CountingLink
  sizes: Sizes
  hosts: Record<Kind, Host>
  people: Record<Kind, Person[]>
  look(person: Person): readonly number[]
}

export const measure: Measure = async ({ full, say }) => {
  let link: CountingLink | undefined
  const site = await startTokenSite({
    name: 'bench-token',
    async reach(url) {
      link = await startCountingLink(url)
      return link.url
    },
  })
  try {
    if (!link) throw new Error('There is no link to the key holder')
    const faces = createFaces(29)
    let number = 0
    const sizes = full ? FULL : SHORT
    const newPeople = () =>
      Array.from({ length: sizes.warmUps + sizes.people }, () => ({
        ...newTokenPerson(++number),
        face: faces.person(),
      }))
    const bench: Bench = {
      ...{ site, link, sizes },
      hosts: { token: await site.newHost('Tokens', 'token'), vector: await site.newHost('Vectors', 'vector') },
      people: { token: newPeople(), vector: newPeople() },
      look: ({ face }) => faces.sample(face, SAME_PERSON),
    }
    const enrolment = await measureEnrolments(bench, say)
    const signIn = await measureSignIns(bench, say)
    const neighbours = await measureNeighbours(site, bench.hosts.token, sizes.neighbourMs, {
      token: (n) => visit(bench, 'token', 'SIGN-IN', n),
      vector: (n) => visit(bench, 'vector', 'SIGN-IN', n),
    })
    for (const [kind, { p50, p99, perSecond }] of Object.entries(neighbours)) {
      const beside = kind === 'quiet' ? 'alone' : `beside ${perSecond.toFixed(1)} sign-ins a second by ${kind}`
      say(`a cheap call ${beside}: p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms`)
    }
    const stored = await storedBytes(site, sizes.rows)
    for (const { what, bytes } of stored) say(`stored for one person, ${what}: ${Math.round(bytes)} bytes`)
    say(pageBytes())
    return [
      ...costFigures('enrolment', enrolment, ENROLMENT_CPU_MS),
      ...costFigures('sign-in', signIn.costs, SIGN_IN_CPU_MS),
      { name: 'token.sign-in.p50-ms', value: signIn.p50Ms, floor: SIGN_IN_MS, is: 'most', load: true },
      { name: 'token.sign-in.session-ratio', value: signIn.ratio, floor: SESSION_RATIO, is: 'most', load: true },
      { name: 'token.neighbour.p99-ms', value: neighbours.token.p99, floor: NEIGHBOUR_MS, is: 'most', load: true },
      {
        name: 'token.stored.bytes',
        value: stored.reduce((sum, { bytes }) => sum + bytes, 0),
        floor: STORED_BYTES,
        is: 'most',
      },
    ]
  } finally {
    await site.close()
    await link?.stop()
  }
}

function costFigures(name: string, { apiMs, keyHolderMs }: Costs, most: number): Figure[] {
  return [
    { name: `token.${name}.matcher-cpu-ms`, value: apiMs, floor: most, is: 'most', load: true },
    { name: `token.${name}.key-holder-cpu-ms`, value: keyHolderMs, floor: most, is: 'most', load: true },
  ]
}

/** One session of the person with this number. Returns the calls of its device and how long it took. */
async function visit(bench: Bench, kind: Kind, type: 'ENROLL' | 'SIGN-IN', n: number) {
  const { site, hosts, people, look } = bench
  const person = people[kind][n % people[kind].length]
  if (!person) throw new Error('There is nobody')
  const calls: DeviceCall[] = []
  const host = hosts[kind]
  const startMs = performance.now()
  const baseUrl = site.api().url
  const sessionId = await createTokenSession(baseUrl, { host, type })
  const face = type === 'ENROLL' ? person.face : look(person)
  const { state, errors } = await visitSession(baseUrl, sessionId, {
    host,
    type,
    person,
    face,
    onCall: (call) => calls.push(call),
  })
  if (state !== 'SUCCESS') throw new Error(`${type} by ${kind} ended as ${state} ${errors}`)
  return { calls, tookMs: performance.now() - startMs }
}

/** What is not timed. */
async function inLanes(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      while (next < count) await work(next++)
    }),
  )
}

const isTokenCall = ({ path }: DeviceCall) => /\/token/.test(path)
const isLast = ({ path }: DeviceCall) => path.endsWith('/submit')
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

async function measureEnrolments(bench: Bench, say: Say): Promise<Costs> {
  const { site, sizes, link, people } = bench
  await inLanes(sizes.warmUps, (n) => visit(bench, 'token', 'ENROLL', n))
  await inLanes(people.vector.length, (n) => visit(bench, 'vector', 'ENROLL', n))
  const meter = await createCostMeter(site)
  link.take()
  let deviceBytes = 0
  const took: number[] = []
  const all: Costs[] = []
  for (let n = 0; n < sizes.people; n++) {
    const { calls, tookMs } = await visit(bench, 'token', 'ENROLL', sizes.warmUps + n)
    all.push(await meter.take())
    deviceBytes += sum(calls.filter(isTokenCall).map(({ sentBytes, receivedBytes }) => sentBytes + receivedBytes))
    took.push(tookMs)
  }
  const costs = middleOf(all)
  say(`${sizes.people} enrolments by token: session p50 ${median(took).toFixed(0)} ms; ${describe(costs)}`)
  sayWire(say, 'enrolment', { deviceBytes, ...link.take(), count: sizes.people })
  await meter.close()
  return costs
}

/** In turns with sign-ins by vector, because other load changes from second to second. */
async function measureSignIns(bench: Bench, say: Say) {
  const { site, sizes, link } = bench
  await inLanes(sizes.warmUps * 2, (n) => visit(bench, n % 2 === 0 ? 'token' : 'vector', 'SIGN-IN', n >> 1))
  const meters = { token: await createCostMeter(site), vector: await createCostMeter(site) }
  link.take()
  const costs: Record<Kind, Costs[]> = { token: [], vector: [] }
  const decided: Record<Kind, number[]> = { token: [], vector: [] }
  const whole: Record<Kind, number[]> = { token: [], vector: [] }
  let deviceBytes = 0
  for (let n = 0; n < sizes.turns; n++) {
    for (const kind of n % 2 === 0 ? (['token', 'vector'] as const) : (['vector', 'token'] as const)) {
      await meters[kind].take()
      const { calls, tookMs } = await visit(bench, kind, 'SIGN-IN', n)
      costs[kind].push(await meters[kind].take())
      whole[kind].push(tookMs)
      const first = calls.find(isTokenCall) ?? calls.find(isLast)
      decided[kind].push((calls.findLast(isLast)?.endMs ?? 0) - (first?.startMs ?? 0))
      if (kind === 'token')
        deviceBytes += sum(calls.filter(isTokenCall).map((call) => call.sentBytes + call.receivedBytes))
    }
  }
  const middle = { token: middleOf(costs.token), vector: middleOf(costs.vector) }
  for (const kind of ['token', 'vector'] as const) {
    say(
      `${sizes.turns} sign-ins by ${kind}: from the first call about the face to the verdict p50 ${median(decided[kind]).toFixed(0)} ms, ` +
        `p95 ${percentile(decided[kind], 0.95).toFixed(0)} ms; session p50 ${median(whole[kind]).toFixed(0)} ms; ${describe(middle[kind])}`,
    )
    await meters[kind].close()
  }
  sayWire(say, 'sign-in', { deviceBytes, ...link.take(), count: sizes.turns })
  return { costs: middle.token, p50Ms: median(decided.token), ratio: median(whole.token) / median(whole.vector) }
}

/** Medians: in the first minutes of a process the compiler works too, and other load of the machine makes some sessions dear. */
function middleOf(costs: readonly Costs[]): Costs {
  const middle = (read: (cost: Costs) => number) => median(costs.map(read))
  return {
    apiMs: middle(({ apiMs }) => apiMs),
    keyHolderMs: middle(({ keyHolderMs }) => keyHolderMs),
    apiDatabaseMs: middle(({ apiDatabaseMs }) => apiDatabaseMs),
    keyHolderDatabaseMs: middle(({ keyHolderDatabaseMs }) => keyHolderDatabaseMs),
    walBytes: middle(({ walBytes }) => walBytes),
  }
}

function describe({ apiMs, keyHolderMs, apiDatabaseMs, keyHolderDatabaseMs, walBytes }: Costs): string {
  const rate = (ms: number) => `${ms.toFixed(1)} ms CPU (${(1000 / ms).toFixed(1)} per CPU second)`
  return (
    `API ${rate(apiMs)}, key holder ${rate(keyHolderMs)}, PostgreSQL ${apiDatabaseMs.toFixed(1)} and ${keyHolderDatabaseMs.toFixed(1)} ms, ` +
    `${Math.round(walBytes / 1000)} kB of write-ahead log`
  )
}

function sayWire(
  say: Say,
  name: string,
  { deviceBytes, sent, received, count }: { deviceBytes: number; sent: number; received: number; count: number },
): void {
  const kB = (bytes: number) => (bytes / count / 1000).toFixed(1)
  say(
    `on the wire for one ${name}: token calls of the device ${kB(deviceBytes)} kB both ways; API to key holder ${kB(sent)} kB, back ${kB(received)} kB`,
  )
}
