import type { CreatedSession, CreatedVerification, CreateSessionBody, CreateVerificationBody } from '@ostiary/contract'
import { createDevice, DeviceError } from '@ostiary/device'
import { createSimulatedClock, runFlow, seededRandom } from '@ostiary/device/simulated'
import { createWire, loadConfig, type Wire } from '@ostiary/server/measure'
import { Pool } from 'undici'
import { sleep } from '../run.ts'

/** A customer: one tenant and its test key. */
export interface Host {
  tenantId: string
  keyId: string
  key: string
}

/** The services of the installation under test, in this process, for actions that the API does not offer. */
export function openWire(settings: Record<string, string>): Wire {
  return createWire(loadConfig({ ...settings, LOG_LEVEL: 'error' }), { role: 'cli' })
}

/** Uses the services: one CLI process per tenant would take longer than the measurement. */
export async function createHost({ keys }: Pick<Wire, 'keys'>, name: string): Promise<Host> {
  const { tenantId } = await keys.service.createTenant(name)
  const wanted = {
    livemode: false,
    name: 'measure',
    scopes: ['age:write', 'age:read', 'verify:write', 'verify:read'],
    allowedIps: [],
    usagePlanId: 'unmetered',
  } as const
  const { id, api_key } = await keys.service.createKey(tenantId, wanted)
  return { tenantId, keyId: id, key: api_key }
}

export interface Reply {
  status: number
  bytes: Buffer
}

interface Call {
  method: 'GET' | 'POST'
  path: string
  key: string
  body?: object
  repeat?: string
}

const GIVE_UP_MS = 180_000
const AGAIN_MS = 50
/** What a limit of calls asks for at least. */
const LIMITED_MS = 1_000
const TIMEOUT_MS = 10_000

/** A host that calls the API over persistent connections. */
export function createClient(baseUrl: string, connections = 32) {
  const pool = new Pool(baseUrl, { connections, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS })
  let failures = 0

  async function call({ method, path, key, body, repeat }: Call): Promise<Reply> {
    const response = await pool.request({
      method,
      path,
      headers: {
        'x-api-key': key,
        ...(body && { 'content-type': 'application/json' }),
        ...(repeat && { 'idempotency-key': repeat }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.statusCode, bytes: Buffer.from(await response.body.arrayBuffer()) }
  }

  /** Repeats the call until the status is one of these. Anything else but 503, a limit of calls or a broken connection is an error. */
  async function callForSure(wanted: Call, accepted: readonly number[]): Promise<Reply> {
    const giveUpAt = performance.now() + GIVE_UP_MS
    for (;;) {
      const reply = await call(wanted).catch(() => undefined)
      if (reply && accepted.includes(reply.status)) return reply
      if (reply && reply.status !== 503 && reply.status !== 429) {
        throw new Error(`${wanted.method} ${wanted.path} was answered ${reply.status} ${reply.bytes}`)
      }
      if (performance.now() > giveUpAt)
        throw new Error(`${wanted.method} ${wanted.path} was not answered in ${GIVE_UP_MS / 1000} s`)
      failures++
      await sleep(reply?.status === 429 ? LIMITED_MS : AGAIN_MS)
    }
  }

  return {
    /** Calls that failed and were repeated. */
    failures: () => failures,
    async create({ key }: Host, body: CreateSessionBody, repeat?: string): Promise<CreatedSession> {
      const wanted = { method: 'POST', path: '/session', key, body, ...(repeat && { repeat }) } as const
      return JSON.parse((await callForSure(wanted, [201])).bytes.toString()) as CreatedSession
    },
    async createVerification(
      { key }: Host,
      body: CreateVerificationBody,
      repeat: string,
    ): Promise<CreatedVerification> {
      const wanted = { method: 'POST', path: '/v2/verification-session', key, body, repeat } as const
      return JSON.parse((await callForSure(wanted, [201])).bytes.toString()) as CreatedVerification
    },
    /** 409 means that an earlier attempt ended it, and its answer was lost. */
    async complete({ key }: Host, sessionId: string, outcome: { outcome?: string } = {}): Promise<void> {
      await callForSure({ method: 'POST', path: `/test/sessions/${sessionId}/outcome`, key, body: outcome }, [204, 409])
    },
    /** The result of the session at this path. */
    async cancel({ key }: Host, path: string): Promise<void> {
      await callForSure({ method: 'POST', path: `${path}/cancel`, key }, [200, 409])
    },
    async advance({ key }: Host, seconds: number): Promise<void> {
      await callForSure({ method: 'POST', path: '/test/clock/advance', key, body: { seconds } }, [204])
    },
    async result({ key }: Host, token: string): Promise<Buffer> {
      return (await callForSure({ method: 'GET', path: `/session/${token}/result`, key }, [200])).bytes
    },
    async bytes({ key }: Host, path: string): Promise<Buffer> {
      return (await callForSure({ method: 'GET', path, key }, [200])).bytes
    },
    async read<T>({ key }: Host, path: string): Promise<T> {
      return JSON.parse((await callForSure({ method: 'GET', path, key }, [200])).bytes.toString()) as T
    },
    close: () => pool.destroy(),
  }
}
export type Client = ReturnType<typeof createClient>

/**
 * Plays the whole flow of a person with a phone. Returns whether the flow reached its end: a failed call, for example while the
 * database is down, stops it. Each device has its own address; the API must trust this machine as its proxy.
 */
export async function playDevice(baseUrl: string, sessionId: string, seed: number): Promise<boolean> {
  const address = `198.51.100.${seed % 250}`
  const clock = createSimulatedClock({ nowMs: () => Date.now(), monotonicMs: () => performance.now() })
  const throughProxy: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('x-forwarded-for', address)
    return fetch(input, { ...init, headers })
  }
  const device = await createDevice({
    baseUrl,
    sessionId,
    platform: 'mobile',
    clock,
    userAgent: PHONE,
    fetch: throughProxy,
  })
  try {
    const { flowStatus } = await runFlow(device, { clock, random: seededRandom(seed), ageYears: 41 })
    return flowStatus !== null
  } catch (error) {
    if (error instanceof DeviceError) return false
    throw error
  }
}

const PHONE = 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36'
