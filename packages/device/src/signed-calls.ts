import { bodyHash, DEVICE_PROOF_HEADER, signProof } from '@ostiary/crypto'
import type { DeviceClock } from './event-log.ts'

/** A WebCrypto key, by a type name that exists in both browser and Node types. */
export type DeviceCryptoKey = Parameters<typeof signProof>[0]

/** An error answer of the service, or no answer (`status` 0). */
export class DeviceError extends Error {
  readonly status: number
  readonly code: string
  readonly retryAfterSeconds: number | undefined
  /** The service names the places of the request that are wrong. */
  readonly hasDetails: boolean

  constructor(
    status: number,
    body: { code?: unknown; message?: unknown; retryAfter?: unknown; details?: unknown },
    cause?: unknown,
  ) {
    const message = typeof body.message === 'string' ? body.message : `The service answered ${status}`
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'DeviceError'
    this.status = status
    this.code = typeof body.code === 'string' ? body.code : status === 0 ? 'NETWORK_LOST' : 'UNKNOWN'
    this.retryAfterSeconds = typeof body.retryAfter === 'number' ? body.retryAfter : undefined
    this.hasDetails = Array.isArray(body.details)
  }
}

export interface SignedCallsOptions {
  baseUrl: string
  sessionId: string
  privateKey: DeviceCryptoKey
  clock: DeviceClock
  /** Counter of the last call, for a device that continues after a reload. */
  counter: number
  timeoutMs: number
  headers: Readonly<Record<string, string>>
  fetch: typeof globalThis.fetch
}

/**
 * Sends calls with the device's proof. The server refuses a counter that is not above the last one, so calls must be sent one at
 * a time: wrap them in `withLock`.
 */
export function createSignedCalls(options: SignedCallsOptions) {
  const { baseUrl, sessionId, privateKey, clock, timeoutMs, fetch } = options
  let { counter } = options
  let last: Promise<unknown> = Promise.resolve()

  async function send(
    method: 'GET' | 'POST',
    path: string,
    how: { body?: object; query?: string; signal: AbortSignal },
  ) {
    const bytes = how.body && new TextEncoder().encode(JSON.stringify({ sessionId, ...how.body }))
    counter += 1
    const proof = await signProof(privateKey, {
      sessionId,
      method,
      path,
      bodyHash: await bodyHash(bytes),
      counter,
      issuedAt: Math.floor(clock.nowMs() / 1000),
    })
    const headers: Record<string, string> = { ...options.headers, [DEVICE_PROOF_HEADER]: proof }
    if (bytes) headers['content-type'] = 'application/json'
    try {
      const url = `${baseUrl.replace(/\/+$/, '')}${path}${how.query ?? ''}`
      return await fetch(url, { method, headers, signal: how.signal, ...(bytes && { body: bytes }) })
    } catch (error) {
      throw new DeviceError(0, { message: 'The service could not be reached' }, error)
    }
  }

  return {
    /** Runs the task when all earlier ones have settled. */
    withLock<T>(task: () => Promise<T>): Promise<T> {
      const run = last.then(task)
      last = run.catch(() => {})
      return run
    },
    /** Adds the session id to the body. */
    async post<T>(path: string, body: object = {}): Promise<T> {
      const response = await send('POST', path, { body, signal: AbortSignal.timeout(timeoutMs) })
      const answer = await readJson(response)
      if (!response.ok) throw new DeviceError(response.status, answer)
      return answer as T
    },
    /** The response body as a stream, until the signal aborts it. */
    async stream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
      const response = await send('GET', path, { query: `?sessionId=${encodeURIComponent(sessionId)}`, signal })
      if (!response.ok) throw new DeviceError(response.status, await readJson(response))
      if (!response.body) throw new DeviceError(0, { message: 'The answer has no content' })
      return response.body
    },
    counter: () => counter,
  }
}

async function readJson(response: Response): Promise<object> {
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    throw new DeviceError(0, { message: 'The connection was lost during the answer' }, error)
  }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Falls through to the same refusal.
  }
  throw new DeviceError(response.status, { message: 'The answer is not JSON: is baseUrl the address of Ostiary?' })
}
