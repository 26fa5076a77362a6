import { randomUUID } from 'node:crypto'
import type { LaunchState, TemplateKind, VerificationType, VerificationWebhook } from '@ostiary/contract'
import { createDevice, type Device } from '@ostiary/device'
import {
  createSimulatedClock,
  createTokenKeeper,
  runFlow,
  seededRandom,
  type TokenKeeper,
} from '@ostiary/device/simulated'
import type { Wire } from '@ostiary/server/measure'
import { createProbe, createToken } from '@ostiary/token'
import { createDatabase, testSettings } from '../databases.ts'
import { type RunningKeyHolder, startKeyHolder } from '../key-holder.ts'
import { freePorts, type Started, startApi, startServices } from '../run.ts'
import { createHost, type Host, openWire } from './sessions-load.ts'

/** An installation with a key holder: both services are processes of their own, each with its own database. */
export interface TokenSite {
  databaseUrl: string
  settings: Readonly<Record<string, string>>
  keyHolder: RunningKeyHolder
  wire: Wire
  api(): Started
  /** Starts the API again on the same port, after it was stopped. */
  restartApi(changes?: Readonly<Record<string, string>>): Promise<void>
  newHost(name: string, templates: TemplateKind): Promise<Host>
  close(): Promise<void>
}

interface SiteOptions {
  name: string
  /** Another way to the key holder. */
  reach?: (keyHolderUrl: string) => Promise<string>
}

export async function startTokenSite({ name, reach = async (url) => url }: SiteOptions): Promise<TokenSite> {
  const database = await createDatabase(startServices(), 'token')
  const keyHolder = await startKeyHolder({ logName: name })
  const [port = 0, adminPort = 0] = await freePorts(2)
  const settings = {
    ...testSettings(database.url),
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    TRUST_PROXY: '127.0.0.1',
    OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8',
    KEY_HOLDER_URL: await reach(keyHolder.url),
    KEY_HOLDER_KEY: keyHolder.published.serviceKey,
    KEY_HOLDER_CLIENT_KEY: keyHolder.matcherSeed,
  }
  let starts = 0
  const launch = (changes: Readonly<Record<string, string>> = {}) =>
    startApi({ env: { ...settings, ...changes }, logName: `${name}-api-${++starts}` })
  let api = await launch()
  const wire = openWire(settings)
  for (const cell of wire.platform.cells.all()) {
    await wire.sessions.prepare(cell)
    await wire.webhooks.prepare(cell)
  }
  return {
    databaseUrl: database.url,
    settings,
    keyHolder,
    wire,
    api: () => api,
    async restartApi(changes) {
      api = await launch(changes)
    },
    async newHost(title, templates) {
      const host = await createHost(wire, title)
      await wire.settings.service.set(host.tenantId, { templates })
      return host
    },
    async close() {
      await wire.close()
      await api.stop('SIGKILL')
      await keyHolder.remove()
      await database.drop()
    },
  }
}

/** One call of a device. */
export interface DeviceCall {
  path: string
  startMs: number
  endMs: number
  /** Of the bodies. */
  sentBytes: number
  receivedBytes: number
}

/** A person with a device of their own, which keeps a token. */
export interface TokenPerson {
  /** Its address. */
  number: number
  keeper: TokenKeeper
}

export const newTokenPerson = (number: number): TokenPerson => ({ number, keeper: createTokenKeeper() })

export interface Visit {
  host: Host
  type: VerificationType
  person: TokenPerson
  /** What the camera sees. */
  face: ArrayLike<number>
  customerId?: string
  onCall?(call: DeviceCall): void
  /** Changes what the device does, such as to repeat its calls. */
  change?(device: Device): Device
}

/** Creates a session at the API. */
export async function createTokenSession(
  baseUrl: string,
  { host, type, customerId }: Pick<Visit, 'host' | 'type' | 'customerId'>,
): Promise<string> {
  const response = await fetch(`${baseUrl}/v2/verification-session`, {
    method: 'POST',
    headers: { 'x-api-key': host.key, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify({
      type,
      redirectURL: 'https://shop.example/back',
      callback: { url: 'http://127.0.0.1:65001/hook' },
      ...(customerId !== undefined && { customerId }),
    }),
  })
  const answer = (await response.json()) as { sessionId: string }
  if (response.status !== 201) throw new Error(`A creation was answered ${response.status} ${JSON.stringify(answer)}`)
  return answer.sessionId
}

/** A person goes through a session, from opening it to its end. Time passes only in the claims of the device. */
export async function visitSession(baseUrl: string, sessionId: string, visit: Visit): Promise<LaunchState> {
  const { person, face, onCall, change = (device) => device } = visit
  const clock = createSimulatedClock({ nowMs: () => Date.now(), monotonicMs: () => performance.now() })
  const device = await createDevice({
    ...{ baseUrl, sessionId, clock, platform: 'mobile', userAgent: PHONE },
    fetch: fetchFrom(person.number, onCall),
  })
  const tokens = { functions: { createToken, createProbe }, keeper: person.keeper }
  const random = seededRandom(person.number)
  return runFlow(change(device), { clock, random, ageYears: null, vector: face, tokens })
}

/** What the host learns of a session that has ended; undefined before. */
export async function readWebhook(baseUrl: string, host: Host, sessionId: string) {
  const response = await fetch(`${baseUrl}/v2/verification-session/${sessionId}/webhook`, {
    headers: { 'x-api-key': host.key },
  })
  return response.ok ? ((await response.json()) as VerificationWebhook) : undefined
}

/** Each person has an address of their own; the API trusts this machine as its proxy. */
function fetchFrom(number: number, onCall: Visit['onCall']): typeof fetch {
  const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
  return async (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('x-forwarded-for', address)
    const startMs = performance.now()
    const response = await fetch(input, { ...init, headers })
    if (!onCall) return response
    const bytes = await response.arrayBuffer()
    onCall({
      path: new URL(String(input)).pathname,
      ...{ startMs, endMs: performance.now() },
      sentBytes: init?.body instanceof Uint8Array ? init.body.length : 0,
      receivedBytes: bytes.byteLength,
    })
    return new Response(bytes, response)
  }
}

const PHONE = 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36'
