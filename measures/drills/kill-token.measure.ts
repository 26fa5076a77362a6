/**
 * kill -9 of the API and of the key holder in the middle of enrolments and sign-ins by token, at moments that are spread over the calls. The
 * devices repeat their calls as the launch page does, and the host starts again when a session failed. Afterwards nobody may be enrolled by
 * half, everybody whose ENROLL succeeded signs in, nobody passes with a wrong face, every evaluation was counted, and what waited at
 * either service is deleted after an hour. Some sign-ins renew the token. One tenant stores tokens, another leaves them on the devices. One kill of each kind; --full: 50.
 */
import type { LaunchState, VerificationType } from '@ostiary/contract'
import { DeviceError } from '@ostiary/device'
import { createFaces } from '@ostiary/server/measure'
import { type Figure, type Measure, median } from '@ostiary/testkit/measuring/figure'
import type { Host } from '@ostiary/testkit/measuring/sessions-load'
import {
  createTokenSession,
  newTokenPerson,
  readWebhook,
  startTokenSite,
  type TokenPerson,
  type TokenSite,
  visitSession,
} from '@ostiary/testkit/measuring/token-site'
import { sleep } from '@ostiary/testkit/run'
import { inParallel } from './enrols.ts'
import { seeded } from './malformed.ts'
import { Left, repeating } from './repeating-device.ts'
import { openTokenDatabases, type TokenDatabases } from './token-census.ts'

const WARM_UPS = 4
const LANES = 3
/** How often a host starts again before it gives up. */
const SESSIONS = 6
/** In one of so many enrolments the person leaves when the connection breaks. */
const LEAVES_EVERY = 5
/** In one of so many sign-ins the device renews its token, because nearly all of its comparisons are used up. */
const RENEWS_EVERY = 3
/** Kills also come a little after the usual end. */
const SPREAD = 1.15
/** How many calls say what is usual now: the machine does other things too. */
const LATEST = 6
const REPORT_EVERY = 10
const SERVICES = ['API', 'key holder'] as const
type Service = (typeof SERVICES)[number]

interface Person extends TokenPerson {
  host: Host
  face: readonly number[]
  customerId: string
  /** Enrolled: the host knows it. */
  puid?: string
  /** The device never saw the end of the ENROLL, so it keeps no key. */
  left?: boolean
}

interface Drill {
  site: TokenSite
  hosts: readonly Host[]
  faces: ReturnType<typeof createFaces>
  random(): number
  /** How long the calls about a token take, from the first to the verdict. */
  usualMs: Record<'ENROLL' | 'SIGN-IN', number[]>
  counts: Record<'kills' | 'inside' | 'again' | 'left' | 'lost' | 'wrongPasses' | 'wrongTries', number>
  say(text: string): void
}

export const measure: Measure = async ({ full, say }) => {
  const kills = full ? 50 : 1
  const site = await startTokenSite({ name: 'drill-kill-token' })
  const databases = await openTokenDatabases(site.databaseUrl, site.keyHolder.databaseUrl)
  try {
    const drill: Drill = {
      ...{ site, say, faces: createFaces(41), random: seeded(17) },
      hosts: [await site.newHost('Stored', 'token'), await site.newHost('On devices', 'token_on_device')],
      usualMs: { ENROLL: [], 'SIGN-IN': [] },
      counts: { kills: 0, inside: 0, again: 0, left: 0, lost: 0, wrongPasses: 0, wrongTries: 0 },
    }
    const newPerson = createPersons(drill)
    const people = Array.from({ length: WARM_UPS }, newPerson)
    for (const person of people) await enrol(drill, person)
    for (const person of people) await signIn(drill, person)
    for (const service of SERVICES) {
      for (let n = 0; n < kills; n++) {
        const person = newPerson()
        const leaves = n % LEAVES_EVERY === LEAVES_EVERY - 1
        await withKill(drill, service, { type: 'ENROLL', share: (n + drill.random()) / kills }, (onToken) =>
          enrol(drill, person, { onToken, leaves }),
        )
        if (person.puid) people.push(person)
      }
      report(drill, `${kills} kills of the ${service} during enrolments`)
    }
    const present = people.filter(({ left }) => !left)
    await inParallel(present.length, LANES, (n) => signIn(drill, present[n] ?? missing()))
    // Wrong faces lock a person for a while, so these people are not the ones who sign in.
    const [owners, victims] = [0, 1].map((rest) => present.filter((_, n) => n % 2 === rest)) as [Person[], Person[]]
    for (const service of SERVICES) {
      for (let n = 0; n < kills; n++) {
        const owner = owners[n % owners.length] ?? missing()
        if (n % RENEWS_EVERY === 0) await databases.useUp(owner.puid ?? missing())
        await withKill(drill, service, { type: 'SIGN-IN', share: (n + drill.random()) / kills }, (onToken) =>
          Promise.all([signIn(drill, owner, onToken), tryWrongFace(drill, victims[n % victims.length] ?? missing())]),
        )
      }
      report(drill, `${kills} kills of the ${service} during sign-ins`)
    }
    await inParallel(owners.length, LANES, (n) => signIn(drill, owners[n] ?? missing()))
    return await judge(drill, databases, people, kills)
  } finally {
    await databases.close()
    await site.close()
  }
}

function report({ counts, say }: Drill, title: string): void {
  const { inside, kills, again, left, lost } = counts
  say(
    `${title}. So far ${inside} of ${kills} hit open calls, ${again} sessions were started again, ${left} people left, ${lost} lost`,
  )
}

function createPersons({ faces, hosts }: Drill): () => Person {
  let number = 0
  return () => {
    const face = faces.person()
    const host = hosts[number % hosts.length] ?? missing()
    return { ...newTokenPerson(++number), host, face, customerId: `customer-${number}` }
  }
}

/** Kills a service at this share of the usual time after the first call about a token, and starts it again at once. */
async function withKill(
  drill: Drill,
  service: Service,
  { type, share }: { type: 'ENROLL' | 'SIGN-IN'; share: number },
  work: (onToken: () => void) => Promise<unknown>,
): Promise<void> {
  const { site, usualMs, counts } = drill
  let killing: Promise<void> | undefined
  let isOver = false
  const kill = async () => {
    await sleep(share * SPREAD * median(usualMs[type].slice(-LATEST)))
    counts.kills++
    if (!isOver) counts.inside++
    if (service === 'API') {
      await site.api().stop('SIGKILL')
      await site.restartApi()
    } else {
      await site.keyHolder.kill()
      await site.keyHolder.start()
    }
  }
  await work(() => {
    killing ??= kill()
  })
  isOver = true
  await killing
  if (counts.kills % REPORT_EVERY === 0) report(drill, `${counts.kills} kills`)
}

interface Visit {
  type: VerificationType
  face: readonly number[]
  customerId?: string
  onToken?: (() => void) | undefined
  leaves?: boolean | undefined
}

/** One session. Undefined when the person has left, or when the device got no answer. */
async function visit({ site, usualMs, counts }: Drill, person: Person, how: Visit) {
  const { host } = person
  const killsBefore = counts.kills
  const { type, face, customerId, onToken, leaves = false } = how
  const baseUrl = site.api().url
  const named = { host, type, ...(customerId !== undefined && { customerId }) }
  const sessionId = await untilAnswered(() => createTokenSession(baseUrl, named))
  let startedMs = Number.NaN
  const state = await visitSession(baseUrl, sessionId, {
    ...{ host, type, person, face },
    change: (device) =>
      repeating(device, {
        onToken() {
          startedMs = performance.now()
          onToken?.()
        },
        stays: () => !leaves,
      }),
  }).catch(unanswered)
  const isUsual = state?.state === 'SUCCESS' && counts.kills === killsBefore
  if (isUsual && type !== 'VERIFY') usualMs[type].push(performance.now() - startedMs)
  return { state, webhook: await untilAnswered(() => readWebhook(baseUrl, host, sessionId)) }
}

function unanswered(error: unknown): LaunchState | undefined {
  if (error instanceof Left || error instanceof DeviceError) return undefined
  throw error
}

async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof TypeError) || tries > 300) throw error
      await sleep(100)
    }
  }
}

/** The host starts again until the person is enrolled. A person who left stays away. */
async function enrol(
  drill: Drill,
  person: Person,
  { onToken, leaves }: { onToken?: () => void; leaves?: boolean } = {},
): Promise<void> {
  const { counts, say } = drill
  const { face, customerId } = person
  for (let session = 0; session < SESSIONS; session++) {
    const first = session === 0 ? { onToken, leaves } : {}
    const { state, webhook } = await visit(drill, person, { type: 'ENROLL', face, customerId, ...first })
    const isAcknowledged = webhook?.status === 'SUCCESS' || state?.state === 'SUCCESS'
    if (isAcknowledged && webhook?.puid !== undefined) {
      person.puid = webhook.puid
      person.left = state === undefined
      return
    }
    if (isAcknowledged) say(`the device saw a success, and the host did not: ${customerId}`)
    if (leaves && !webhook) {
      counts.left++
      return
    }
    counts.again++
  }
  counts.lost++
  say(`${customerId} could not be enrolled`)
}

/** Somebody whose ENROLL was acknowledged has to get in, if need be with another session. */
async function signIn(drill: Drill, person: Person, onToken?: () => void): Promise<void> {
  const { counts, faces, say } = drill
  const seen: string[] = []
  for (let session = 0; session < SESSIONS; session++) {
    const face = faces.sample(person.face, 0.8)
    const { state, webhook } = await visit(drill, person, { type: 'SIGN-IN', face, ...(session === 0 && { onToken }) })
    if (state?.state === 'SUCCESS' && webhook?.puid === person.puid) return
    seen.push(`${state?.state} ${JSON.stringify(webhook?.errors ?? null)}`)
    counts.again++
  }
  counts.lost++
  say(`${person.customerId} cannot sign in: ${seen.join(', ')}`)
}

/** Somebody else holds the person's device. */
async function tryWrongFace(drill: Drill, person: Person): Promise<void> {
  const { counts, faces, say } = drill
  const { state, webhook } = await visit(drill, person, { type: 'SIGN-IN', face: faces.person() })
  counts.wrongTries++
  if (state?.state !== 'SUCCESS' && webhook?.status !== 'SUCCESS') return
  counts.wrongPasses++
  say(`a wrong face passed for ${person.customerId}`)
}

async function judge(
  drill: Drill,
  databases: TokenDatabases,
  people: readonly Person[],
  kills: number,
): Promise<Figure[]> {
  const { site, counts, say } = drill
  const uncounted = await databases.uncounted()
  const waiting = (await databases.orphans()).length
  await databases.letTimePass()
  await runJobs(site)
  await site.keyHolder.stop()
  // It purges when it starts, and then every minute.
  await site.keyHolder.start()
  await sleep(500)
  const acknowledged = new Set(people.flatMap(({ puid }) => (puid === undefined ? [] : [puid])))
  const half = await databases.halfEnrolled(acknowledged)
  const orphans = await databases.orphans()
  for (const one of [...half, ...orphans].slice(0, 10)) say(one)
  say(
    `${acknowledged.size} people enrolled; ${counts.left} left in the middle; ${counts.wrongTries} tries with a wrong face; ` +
      `${waiting} rows waited at either service before the hour was over`,
  )
  const most = (name: string, value: number): Figure => ({ name: `kill-token.${name}`, value, floor: 0, is: 'most' })
  return [
    { name: 'kill-token.kills', value: counts.kills, floor: 4 * kills, is: 'least' },
    { name: 'kill-token.kills-inside-calls', value: counts.inside, floor: kills, is: 'least', load: true },
    most('acknowledged-and-lost', counts.lost),
    most('half-enrolled', half.length),
    most('wrong-passes', counts.wrongPasses),
    most('uncounted-evaluations', uncounted),
    most('orphans-after-purge', orphans.length),
  ]
}

/** What the worker does every minute: ends sessions, deletes what waited too long, and asks the key holder to delete its part. */
async function runJobs({ wire }: TokenSite): Promise<void> {
  const jobs = [...wire.verification.jobs, ...wire.matcher.jobs]
  const [{ db } = missing()] = wire.platform.cells.all()
  await wire.verification.ending.expireDue(db)
  for (const name of ['discard-orphaned-enrolments', 'purge-tokens', 'erase-at-key-holder']) {
    await (jobs.find((job) => job.name === name) ?? missing()).run(db, new Date())
  }
}

function missing(): never {
  throw new Error('A list of the drill is empty')
}
