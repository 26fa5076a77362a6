/**
 * Area D with real faces: people are enrolled from one portrait and sign in from another, strangers try as well. The feature
 * vectors are made by the page's own code; the sessions run over HTTP against a real service, with a scripted device that
 * moves as asked. --full: everybody who has two portraits. --people N: so many, and as many strangers.
 */
import { parseArgs } from 'node:util'
import type { ApiKeyRecord, CreatedVerification, VerificationType, VerificationWebhook } from '@ostiary/contract'
import { createDevice } from '@ostiary/device'
import { createSimulatedClock, runFlow, seededRandom } from '@ostiary/device/simulated'
import { cosine, createFaceEngine, type FaceEngine } from '@ostiary/faces'
import { loadNetFromDisk } from '@ostiary/models/node-nets'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { ostiary, startApi, startServices } from '@ostiary/testkit/run'
import { loadPortraits, missingPortraits, type Portrait, readPicture } from '@ostiary/testkit/samples/portraits'

/** Two portraits that are more similar than this are the same photograph, cropped again: recognising it proves nothing. */
const SAME_PHOTOGRAPH = 0.95
const OPTIONS = { people: { type: 'string', default: '20' }, full: { type: 'boolean' } } as const

interface Person {
  name: string
  enrolled: Float32Array
  later: Float32Array
}

export const measure: Measure = async ({ full, say }) => {
  const missing = missingPortraits()
  if (missing !== undefined) {
    say(`skipped: there are no portraits at ${missing}`)
    return []
  }
  const wanted = Number(parseArgs({ args: process.argv.slice(4), options: OPTIONS }).values.people)
  const { people, strangers } = await findPeople({ most: full ? Number.POSITIVE_INFINITY : wanted, wanted, say })
  say(`${people.length} people with two portraits, ${strangers.length} strangers`)
  const database = await createDatabase(startServices(), 'sign_in')
  const settings = {
    ...testSettings(database.url),
    OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8',
    // Each device has its own address, as real devices do.
    TRUST_PROXY: '127.0.0.1',
  }
  const api = await startApi({ env: settings, logName: 'accuracy-sign-in' })
  try {
    const { id } = ostiary<{ id: string }>(settings, 'tenants', 'create', 'Sign-in')
    const made = ostiary<ApiKeyRecord>(settings, 'keys', 'create', '--tenant', id, '--test', '--plan', 'unmetered')
    const visit = createVisits(api.url, made.api_key)
    return await judge({ visit, people, strangers, wanted, say })
  } finally {
    await api.stop()
    await database.drop()
  }
}

type Visit = (type: VerificationType, vector: Float32Array) => Promise<VerificationWebhook>

interface Trial {
  visit: Visit
  people: readonly Person[]
  strangers: readonly Float32Array[]
  wanted: number
  say(line: string): void
}

async function judge({ visit, people, strangers, wanted, say }: Trial) {
  const puids = new Map<string, string>()
  for (const { name, enrolled } of people) {
    const { status, puid } = await visit('ENROLL', enrolled)
    if (status !== 'SUCCESS' || puid === undefined) throw new Error('A portrait was not enrolled')
    puids.set(name, puid)
  }
  say(`${new Set(puids.values()).size} persons enrolled`)
  let themselves = 0
  let somebodyElse = 0
  for (const { name, later } of people) {
    const { puid } = await visit('SIGN-IN', later)
    if (puid === puids.get(name)) themselves++
    else if (puid !== undefined) somebodyElse++
  }
  say(`${themselves} of ${people.length} recognised, ${somebodyElse} as somebody else`)
  let letIn = 0
  for (const stranger of strangers) if ((await visit('SIGN-IN', stranger)).status === 'SUCCESS') letIn++
  say(`${letIn} of ${strangers.length} strangers let in`)
  const least = (name: string, value: number, floor: number) => ({ name, value, floor, is: 'least' as const })
  const most = (name: string, value: number, floor: number) => ({ name, value, floor, is: 'most' as const })
  return [
    least('sign-in.persons', new Set(puids.values()).size, people.length),
    least('sign-in.recognised', themselves / people.length, 0.95),
    most('sign-in.as-somebody-else', somebodyElse, 0),
    least('sign-in.people', people.length, wanted),
    least('sign-in.strangers', strangers.length, wanted),
    most('sign-in.strangers-let-in', letIn, 0),
  ]
}

/** One session from its creation to the body of its webhook. */
function createVisits(baseUrl: string, key: string): Visit {
  let count = 0
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const headers = { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) }
    const response = await fetch(`${baseUrl}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }
  return async (type, vector) => {
    const seed = ++count
    // No receiver listens there. The outcome is read back from the API.
    const body = { type, redirectURL: 'https://shop.example/back', callback: { url: 'http://127.0.0.1:65001/hook' } }
    const { sessionId } = await call<CreatedVerification>('POST', '/v2/verification-session', body)
    const clock = createSimulatedClock({ nowMs: () => Date.now(), monotonicMs: () => performance.now() })
    const device = await createDevice({ baseUrl, sessionId, platform: 'mobile', clock, fetch: fromAddress(seed) })
    await runFlow(device, { clock, random: seededRandom(seed), ageYears: null, vector })
    return call<VerificationWebhook>('GET', `/v2/verification-session/${sessionId}/webhook`)
  }
}

const PHONE = 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36'

function fromAddress(seed: number): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('x-forwarded-for', `198.51.${100 + Math.floor(seed / 250)}.${seed % 250}`)
    headers.set('user-agent', PHONE)
    return fetch(input, { ...init, headers })
  }
}

async function findPeople({ most, wanted, say }: { most: number; wanted: number; say: (line: string) => void }) {
  const engine = createFaceEngine({ load: loadNetFromDisk() })
  const portraits = [...Map.groupBy(loadPortraits(), ({ person }) => person)]
  const people: Person[] = []
  const strangers: Float32Array[] = []
  for (const [name, [first, ...rest]] of portraits) {
    const last = rest.at(-1)
    if (people.length >= most && strangers.length >= wanted) break
    const isStranger = !last || people.length >= most
    if (!first || (isStranger && strangers.length >= wanted)) continue
    const enrolled = await vectorOf(engine, first)
    if (!enrolled) continue
    if (isStranger) {
      strangers.push(enrolled)
      continue
    }
    const later = await vectorOf(engine, last)
    if (!later || cosine(enrolled, later) >= SAME_PHOTOGRAPH) continue
    people.push({ name, enrolled, later })
    if (people.length % 10 === 0) say(`${people.length} people looked at`)
  }
  return { people, strangers }
}

async function vectorOf(engine: FaceEngine, { path }: Portrait): Promise<Float32Array | undefined> {
  const picture = await readPicture(path)
  engine.begin()
  const { face } = await engine.look(picture)
  return face ? engine.embedFace(picture, face, 'FACE3_3') : undefined
}
