/** For token-attacks: the API, a key holder, and people who are enrolled by token. */
import type { VerificationWebhook } from '@ostiary/contract'
import { createDevice, type Device, DeviceError } from '@ostiary/device'
import {
  createSimulatedClock,
  type KeptToken,
  runFlow,
  type SimulatedClock,
  seededRandom,
  type TokenFunctions,
} from '@ostiary/device/simulated'
import { type Caller, createCaller, type Subject, sendTo } from '@ostiary/key-holder/testing'
import { createFaces, type Wire } from '@ostiary/server/measure'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { type RunningKeyHolder, startKeyHolder } from '@ostiary/testkit/key-holder'
import { createHost, type Host, openWire } from '@ostiary/testkit/measuring/sessions-load'
import { type Started, startApi, startServices } from '@ostiary/testkit/run'
import { createProbe, createToken, type EnrolledToken } from '@ostiary/token'
import pg from 'pg'
import { COSINE_MIN } from './token-figures.ts'

/** An enrolled person with one device, and what the drill knows beside: no service has all of it. */
export interface Person {
  face: readonly number[]
  puid: string
  kept: KeptToken
  made: EnrolledToken
}

/** How a device differs from an honest one. */
export interface Changes {
  createProbe?: TokenFunctions['createProbe']
  /** Gives up after one try of three. */
  once?: boolean
}

/** `lost`: the service went away. */
export type End = { state: string; puid: string | undefined } | 'lost'

export interface Scene {
  api: Started
  databaseUrl: string
  /** The services of the API's installation. */
  wire: Wire
  keyHolder: RunningKeyHolder
  /** Calls the real key holder with the key of the matcher. */
  asMatcher: Caller
  /** Rows of the matcher's database, and of the key holder's. */
  atMatcher(text: string, values?: unknown[]): Promise<pg.QueryResult>
  atKeyHolder(text: string, values?: unknown[]): Promise<pg.QueryResult>
  /** Another picture of a face, as like the first one as this. */
  picture(face: readonly number[], cosine?: number): number[]
  enrol(): Promise<Person>
  signIn(person: Person, changes?: Changes): Promise<End>
  /** A device of the person's session, before its face is captured. */
  openDevice(): Promise<{ device: Device; clock: SimulatedClock }>
  close(): Promise<void>
}

const PHONE = 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36'

export async function openScene(): Promise<Scene> {
  const cleanUp: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const step of cleanUp.toReversed()) await step()
  }
  try {
    return await setScene(cleanUp, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function setScene(cleanUp: (() => Promise<unknown>)[], close: () => Promise<void>): Promise<Scene> {
  const clusterUrl = startServices()
  const keyHolder = await startKeyHolder({
    ...{ logName: 'drill-token', clusterUrl },
    env: { COSINE_MIN: String(COSINE_MIN) },
  })
  cleanUp.push(() => keyHolder.remove())
  const database = await createDatabase(clusterUrl, 'token')
  cleanUp.push(() => database.drop())
  const settings = {
    ...testSettings(database.url),
    ...{ TRUST_PROXY: '127.0.0.1', OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8' },
    ...{ KEY_HOLDER_URL: keyHolder.url, KEY_HOLDER_KEY: keyHolder.published.serviceKey },
    KEY_HOLDER_CLIENT_KEY: keyHolder.matcherSeed,
  }
  const api = await startApi({ env: settings, logName: 'drill-token-api' })
  cleanUp.push(() => api.stop('SIGKILL'))
  const wire = openWire(settings)
  cleanUp.push(() => wire.close())
  const host = await createHost(wire, 'Token attacks')
  await wire.settings.service.set(host.tenantId, { templates: 'token' })
  const [atMatcher, atKeyHolder] = await Promise.all(
    [database.url, keyHolder.databaseUrl].map(async (url) => {
      const pool = new pg.Pool({ connectionString: url, max: 4 })
      pool.on('error', () => {})
      cleanUp.push(() => pool.end())
      return (text: string, values: unknown[] = []) => pool.query(text, values)
    }),
  )
  if (!atMatcher || !atKeyHolder) throw new Error('A database is missing')
  const seed = Buffer.from(keyHolder.matcherSeed, 'base64url')
  return {
    ...{ api, databaseUrl: database.url, wire, keyHolder, atMatcher, atKeyHolder, close },
    asMatcher: await createCaller({ send: sendTo(keyHolder.url), seed, published: keyHolder.published }),
    ...createVisitors({ baseUrl: api.url, host, fingerprint: keyHolder.published.fingerprint }),
  }
}

class GivenUp extends Error {}

/** People and their devices, each with an address of its own. */
function createVisitors({ baseUrl, host, fingerprint }: { baseUrl: string; host: Host; fingerprint: string }) {
  const faces = createFaces(41)
  let visits = 0

  async function call(path: string, body?: object): Promise<unknown> {
    const sent = body && { method: 'POST', body: JSON.stringify(body) }
    const headers = { 'x-api-key': host.key, ...(body && { 'content-type': 'application/json' }) }
    const response = await fetch(`${baseUrl}${path}`, { headers, ...sent })
    if (!response.ok) throw new Error(`${path} was answered ${response.status} ${await response.text()}`)
    return response.json()
  }

  async function newDevice(type: 'ENROLL' | 'SIGN-IN') {
    const visit = ++visits
    const created = await call('/v2/verification-session', {
      ...{ type, redirectURL: 'https://shop.example/back', callback: { url: 'http://127.0.0.1:65001/hook' } },
    })
    const { sessionId } = created as { sessionId: string }
    const throughProxy: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set('x-forwarded-for', `10.9.${visit >> 8}.${visit & 255}`)
      return fetch(input, { ...init, headers })
    }
    const clock = createSimulatedClock({ nowMs: () => Date.now(), monotonicMs: () => performance.now() })
    const options = { baseUrl, sessionId, platform: 'mobile', clock, userAgent: PHONE, fetch: throughProxy } as const
    return { sessionId, clock, device: await createDevice(options), random: seededRandom(visit) }
  }

  async function enrol(): Promise<Person> {
    const face = faces.person()
    const { device, clock, random, sessionId } = await newDevice('ENROLL')
    let kept: KeptToken | undefined
    let made: EnrolledToken | undefined
    const keep = async (token: KeptToken) => {
      kept = token
    }
    const make = async (id: Uint8Array, vector: ArrayLike<number>) => {
      made = await createToken(id, vector)
      return made
    }
    const keeper = { find: async () => undefined, keep }
    const tokens = { functions: { createToken: make, createProbe }, keeper, fingerprints: [fingerprint] }
    const { state } = await runFlow(device, { clock, random, ageYears: null, vector: face, tokens })
    const { puid } = (await call(`/v2/verification-session/${sessionId}/webhook`)) as VerificationWebhook
    if (state !== 'SUCCESS' || !kept || !made || !puid) throw new Error(`An enrolment ended as ${state}`)
    return { face, puid, kept, made }
  }

  async function signIn(person: Person, changes: Changes = {}): Promise<End> {
    const { kept } = person
    const keep = async (renewed: KeptToken) => {
      person.kept = renewed
    }
    let tries = 0
    const make: TokenFunctions['createProbe'] = (publicKey, vector) => {
      if (changes.once && ++tries > 1) throw new GivenUp()
      return (changes.createProbe ?? createProbe)(publicKey, vector)
    }
    const functions = { createToken, createProbe: make }
    const tokens = { functions, keeper: { find: async () => kept, keep }, fingerprints: [fingerprint] }
    const vector = faces.sample(person.face)
    try {
      const { device, clock, random, sessionId } = await newDevice('SIGN-IN')
      const { state } = await runFlow(device, { clock, random, ageYears: null, vector, tokens })
      if (state !== 'SUCCESS') return { state, puid: undefined }
      const { puid } = (await call(`/v2/verification-session/${sessionId}/webhook`)) as VerificationWebhook
      return { state, puid }
    } catch (error) {
      if (error instanceof GivenUp) return { state: 'GIVEN_UP', puid: undefined }
      if (error instanceof DeviceError || error instanceof TypeError) return 'lost'
      throw error
    }
  }

  return {
    enrol,
    signIn,
    openDevice: () => newDevice('SIGN-IN'),
    picture: (face: readonly number[], cosine?: number) => faces.sample(face, cosine),
  }
}

/** The person as the tools of the key holder's tests know one. */
export function subjectOf({ kept, made }: Person): Subject {
  const { realm, account, tokenId, keys } = kept
  const secret = Uint8Array.from({ length: 32 }, (_, at) => at)
  return {
    realm,
    account,
    tokenId,
    enrolled: made,
    deviceKey: keys.publicKey,
    devicePrivateKey: keys.privateKey,
    secret,
  }
}

const idOf = ({ kept }: Person) => Buffer.from(kept.tokenId, 'base64url')

/** What the matcher and the key holder have counted for a token. */
export async function countedFor({ atMatcher, atKeyHolder }: Scene, person: Person) {
  const [matcher] = (
    await atMatcher(
      `select evaluations, day_evaluations as today, attack_events as attacks,
         (select coalesce(sum(failures), 0)::int from token_failures f where f.account = t.account) as failures
       from face_tokens t where token_id = $1`,
      [idOf(person)],
    )
  ).rows
  const [keyHolder] = (
    await atKeyHolder(
      `select evaluations, evaluations_that_day as today, attack_events as attacks, cardinality(failed_on) as failures
       from key_shares left join persons using (realm, account) where token_id = $1`,
      [person.kept.tokenId],
    )
  ).rows
  return { matcher, keyHolder } as Record<'matcher' | 'keyHolder', Counted>
}

export interface Counted {
  evaluations: number
  today: number
  attacks: number
  failures: number
}
