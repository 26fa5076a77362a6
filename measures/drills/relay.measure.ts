/**
 * Relays: an attacker starts a sign-in at the host and has a victim complete it, on the same kind of device, by QR code, in a popup, in a
 * frame, with a reload under another key, and with the back button; with and without a passkey. None may give the attacker's browser a
 * result that the host accepts. Beside them honest people sign in, by handoff, with reloads, in popups and frames: all must get in.
 * The host is the one of docs/api/verification.md. 100 relays and 100 honest flows; --full: 300 of each.
 */
import type { LaunchState } from '@ostiary/contract'
import { DeviceError } from '@ostiary/device'
import { type BindingHost, startBindingHost } from '@ostiary/testkit/binding-host'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { PRODUCT_LIMITS } from '@ostiary/testkit/limits'
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import { createHost, openWire } from '@ostiary/testkit/measuring/sessions-load'
import { startApi, startServices, startWorker } from '@ostiary/testkit/run'
import { inParallel } from './enrols.ts'
import {
  type Browser,
  complete,
  createBrowser,
  createPeople,
  messageTo,
  type Person,
  type Tab,
} from './relay-people.ts'

const LAUNCH_ORIGIN = 'https://launch.example'
const SHOP = 'https://shop.example'
const EVIL = 'https://evil.example'
const LANES = 4
const VICTIMS = 10

const RELAYS = ['same device', 'QR code', 'popup', 'frame', 'another key', 'back button'] as const
type Relay = (typeof RELAYS)[number]
/** Of each ten honest flows: three by handoff, two with a reload, one in a popup, one in a frame. */
const HONEST = [
  'plain',
  'handoff',
  'reload',
  'popup',
  'handoff',
  'plain',
  'reload',
  'frame',
  'handoff',
  'plain',
] as const
type Honest = (typeof HONEST)[number]

interface Scene {
  baseUrl: string
  host: BindingHost
  people: readonly Person[]
  newBrowser(kind?: 'phone' | 'desktop'): Browser
}

export const measure: Measure = async ({ full, say }) => {
  const count = full ? 300 : 100
  const database = await createDatabase(startServices(), 'relay')
  const settings = {
    ...testSettings(database.url),
    OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8',
    TRUST_PROXY: '127.0.0.1',
    LAUNCH_URL: `${LAUNCH_ORIGIN}/launch/`,
  }
  const running: { stop(): Promise<unknown> }[] = [{ stop: () => database.drop() }]
  try {
    const api = await startApi({ env: { ...settings, ...PRODUCT_LIMITS }, logName: 'drill-relay-api' })
    running.unshift(api)
    running.unshift(await startWorker({ env: settings, logName: 'drill-relay-worker' }))
    const scene = await setScene(api.url, settings, running)
    say(`${scene.people.length} people are enrolled with a face and a passkey`)
    const relays: Outcome<Relay>[] = []
    await inParallel(count, LANES, async (n) => void relays.push(await relay(scene, n)))
    const honest: Outcome<Honest>[] = []
    await inParallel(count, LANES, async (n) => void honest.push(await honestly(scene, n)))
    for (const name of RELAYS) {
      const tried = relays.filter((one) => one.name === name)
      const finished = tried.filter((one) => one.finished).length
      say(`${name}: ${tried.length} relays, ${finished} completed by the victim`)
    }
    for (const { name, why } of honest.filter(({ accepted }) => !accepted)) say(`refused: ${name}, ${why}`)
    for (const { name } of relays.filter(({ accepted }) => accepted)) say(`ACCEPTED: ${name}`)
    return [
      figure('relay.relays', relays.length, count, 'least'),
      figure('relay.shapes', new Set(relays.map(({ name }) => name)).size, RELAYS.length, 'least'),
      figure(
        'relay.finished-by-the-victim',
        relays.filter(({ finished }) => finished).length,
        Math.floor((count * 5) / 6),
        'least',
      ),
      figure('relay.accepted', relays.filter(({ accepted }) => accepted).length, 0, 'most'),
      figure('relay.honest', honest.length, count, 'least'),
      figure('relay.honest-accepted', honest.filter(({ accepted }) => accepted).length, count, 'least'),
      figure('relay.number-said-by-the-attacker', (await sayNumber(scene)) ? 1 : 0, 1, 'least'),
    ]
  } finally {
    for (const one of running) await one.stop()
  }
}

const figure = (name: string, value: number, floor: number, is: Figure['is']): Figure => ({ name, value, floor, is })

async function setScene(
  baseUrl: string,
  settings: Record<string, string>,
  running: { stop(): Promise<unknown> }[],
): Promise<Scene> {
  const wire = openWire(settings)
  const tenant = await createHost(wire, 'Relay')
  await wire.settings.service.set(tenant.tenantId, { embedOrigins: [SHOP] })
  await wire.close()
  const host = await startBindingHost({ baseUrl, key: tenant.key })
  running.unshift({ stop: () => host.close() })
  let browsers = 0
  const newBrowser = (kind?: 'phone' | 'desktop') => createBrowser(baseUrl, ++browsers, kind)
  const newPerson = createPeople(LAUNCH_ORIGIN)
  const people = Array.from({ length: VICTIMS }, newPerson)
  for (const [seed, person] of people.entries()) await enrol({ baseUrl, key: tenant.key, newBrowser }, person, seed)
  return { baseUrl, host, people, newBrowser }
}

async function enrol(
  { baseUrl, key, newBrowser }: { baseUrl: string; key: string; newBrowser(): Browser },
  person: Person,
  seed: number,
): Promise<void> {
  const response = await fetch(`${baseUrl}/v2/verification-session`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({
      type: 'ENROLL',
      redirectURL: `${SHOP}/welcome`,
      callback: { url: 'http://127.0.0.1:65001/hook' },
      requirements: ['face', 'passkey'],
    }),
  })
  const { sessionId } = (await response.json()) as { sessionId: string }
  const { state } = await complete(await newBrowser().newTab(sessionId), person, { seed })
  if (state !== 'SUCCESS') throw new Error(`An enrolment ended as ${state}`)
}

/** A browser asks the host for a sign-in. */
async function start({ host }: Scene, browser: Browser, query: string): Promise<{ sessionId: string }> {
  const { body } = await browser.call(`${host.url}/start?${query}`)
  return { sessionId: String(body.sessionId) }
}

const personOf = ({ people }: Scene, n: number) => people[n % people.length] ?? missing()
const passkeyIn = (n: number) => (n % 2 === 0 ? 'passkey' : '')

interface Outcome<Name> {
  name: Name
  accepted: boolean
  /** The victim has completed the flow. */
  finished?: boolean
  why?: unknown
}

async function relay(scene: Scene, n: number): Promise<Outcome<Relay>> {
  const name = RELAYS[n % RELAYS.length] ?? missing()
  const attacker = scene.newBrowser('desktop')
  const victim = scene.newBrowser('phone')
  const person = personOf(scene, n)
  const query = `${passkeyIn(Math.floor(n / RELAYS.length))}${name === 'QR code' ? '&desktop-waits' : ''}`
  const { sessionId } = await start(scene, attacker, query)
  const loot: string[] = []
  const take = (state: LaunchState) => {
    if (state.code !== undefined) loot.push(state.code)
    if (state.redirectUrl !== null) loot.push(new URL(state.redirectUrl).searchParams.get('code') ?? '')
  }
  const own = name === 'QR code' ? await attacker.newTab(sessionId) : undefined
  const finished = own
    ? await overQr(scene, own, { victim, person, sessionId, n, take })
    : await overLink(scene, name, { victim, person, sessionId, n, take })
  // Every door that is left: the page under a new key, the attacker's own key, and the stream of states.
  for (const tab of [await attacker.newTab(sessionId), ...(own ? [own] : [])]) {
    await quietly(async () => take(await tab.device.open()))
    if (finished) await quietly(() => tab.device.watch(take, AbortSignal.timeout(5_000)))
  }
  return { name, finished, accepted: await isLetIn(scene, attacker, sessionId, loot) }
}

interface Attack {
  victim: Browser
  person: Person
  sessionId: string
  n: number
  take(state: LaunchState): void
}

/** The victim opens the link that the attacker has sent, and completes the flow on the genuine page. */
async function overLink(scene: Scene, name: Relay, { victim, person, sessionId, n, take }: Attack): Promise<boolean> {
  const tab = await victim.newTab(sessionId)
  const opened = await tab.device.open()
  if (name === 'another key') {
    // While the victim is at it, and again afterwards, the attacker opens the link under keys of their own.
    const intruder = await scene.newBrowser('desktop').newTab(sessionId)
    await quietly(async () => take(await intruder.device.open()))
  }
  const end = await complete(tab, person, { seed: n })
  if (name === 'popup' || name === 'frame') {
    const message = messageTo(EVIL, opened, end)
    take({ ...end, code: message.code, redirectUrl: message.redirectUrl ?? null } as LaunchState)
  }
  // The genuine page sends the victim's browser to the host, which knows nothing of that browser.
  if (end.redirectUrl !== null) await victim.call(end.redirectUrl)
  if (name === 'back button') {
    const again = await tab.device.open()
    if (again.redirectUrl !== null) await victim.call(again.redirectUrl)
  }
  return end.state === 'SUCCESS'
}

/** The victim scans the attacker's QR code, and types a number that is not the one on the attacker's screen. */
async function overQr(scene: Scene, own: Tab, { victim, person, sessionId, n, take }: Attack): Promise<boolean> {
  await own.device.open()
  let finished = false
  for (let tries = 0; tries < 2 && !finished; tries++) {
    const { code, number = '' } = await own.device.handoff()
    const guessed = String((Number(number) + 1 + (n % 98)) % 100).padStart(2, '0')
    const tab = await (tries === 0 ? victim : scene.newBrowser()).newTab(sessionId)
    const end = await quietly(() => complete(tab, person, { seed: n, handoffCode: code, number: guessed }))
    finished = end?.state === 'SUCCESS'
    if (end) take(end)
  }
  return finished
}

/** The attacker's browser comes to the host with everything that it has found, and with what it can make up. */
async function isLetIn(scene: Scene, attacker: Browser, sessionId: string, loot: readonly string[]): Promise<boolean> {
  const state = attacker.state()
  for (const code of new Set([...loot, '', sessionId, 'A'.repeat(43)])) {
    const query = new URLSearchParams({ state, sessionId, status: 'SUCCESS', ...(code !== '' && { code }) })
    const { status } = await attacker.call(`${scene.host.url}/back?${query}`)
    if (status === 200) return true
  }
  return false
}

async function honestly(scene: Scene, n: number): Promise<Outcome<Honest>> {
  const name = HONEST[n % HONEST.length] ?? missing()
  const person = personOf(scene, n)
  const browser = scene.newBrowser(name === 'handoff' ? 'desktop' : 'phone')
  const query = `${passkeyIn(n)}${name === 'handoff' ? '&desktop-waits' : ''}`
  const { sessionId } = await start(scene, browser, query)
  const tab = await browser.newTab(sessionId)
  const opened = await tab.device.open()
  const end = name === 'handoff' ? await byPhone(scene, tab, person, n) : await complete(tab, person, { seed: n })
  const last = name === 'reload' ? await tab.device.open() : end
  const message = name === 'popup' || name === 'frame' ? messageTo(SHOP, opened, last) : last
  if (!message.redirectUrl) return { name, accepted: false, why: last.state }
  const { status, body } = await browser.call(message.redirectUrl)
  return { name, accepted: status === 200, why: body.why }
}

/** The person scans the code of their own desktop, types its number on the phone, and goes on at the desktop. */
async function byPhone(scene: Scene, desktop: Tab, person: Person, n: number): Promise<LaunchState> {
  const { code, number = '' } = await desktop.device.handoff()
  let last: LaunchState | undefined
  const watching = desktop.device.watch((state) => {
    last = state
  }, AbortSignal.timeout(60_000))
  const phone = await scene.newBrowser().newTab(desktop.device.sessionId)
  await complete(phone, person, { seed: n, handoffCode: code, number })
  await watching
  return last ?? missing()
}

/** What is left: a victim to whom the attacker says the number passes. docs/threat-model.md says so, and this shows it. */
async function sayNumber(scene: Scene): Promise<boolean> {
  const attacker = scene.newBrowser('desktop')
  const { sessionId } = await start(scene, attacker, 'passkey&desktop-waits')
  const tab = await attacker.newTab(sessionId)
  await tab.device.open()
  const { redirectUrl } = await byPhone(scene, tab, personOf(scene, 0), 1)
  return redirectUrl !== null && (await attacker.call(redirectUrl)).status === 200
}

/** A refused call is what the attacker gets most of the time. */
async function quietly<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof DeviceError) return undefined
    throw error
  }
}

function missing(): never {
  throw new Error('A list of the drill is empty')
}
