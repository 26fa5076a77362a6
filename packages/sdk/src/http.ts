import { type ErrorBody, type ErrorDetail, VERSION } from '@ostiary/contract'
import { parseApiKey } from '@ostiary/crypto'

export interface ClientOptions {
  /** Address of the service, such as `https://ostiary.example.com`. */
  baseUrl: string
  /** Checked when the client is created, so that a truncated key is found before the first call. */
  apiKey?: string
  /** Area D: client credentials. The SDK fetches a token when it needs one and uses it until it expires. */
  clientId?: string
  clientSecret?: string
  /** Per attempt. Default 10 seconds. */
  timeoutMs?: number
  /** Further attempts after a lost connection, 429 or 503. Default 2. */
  maxRetries?: number
  fetch?: typeof globalThis.fetch
}

/** Error bodies of all areas. Area E has a `status`; the token endpoint has the fields of OAuth. */
type AnyErrorBody = Partial<ErrorBody> & { status?: number; error?: string; error_description?: string }

/** An error that the service returned, or the reason why no answer came (`status` 0). */
export class OstiaryError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined
  readonly details: readonly ErrorDetail[]
  /** From the body, or else from the header `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** The `status` in a body of area E; undefined elsewhere. */
  readonly nodeStatus: number | undefined

  constructor(status: number, body: AnyErrorBody, cause?: unknown) {
    super(
      body.message ?? body.error_description ?? `The service answered ${status}`,
      cause === undefined ? undefined : { cause },
    )
    this.name = 'OstiaryError'
    this.status = status
    this.code = body.code ?? body.error ?? (status === 0 ? 'CONNECTION_FAILED' : 'UNKNOWN')
    this.requestId = body.requestId
    this.details = body.details ?? []
    this.retryAfterSeconds = body.retryAfter
    this.nodeStatus = body.status
  }
}

export interface Call {
  method: string
  path: string
  query?: Record<string, string | number | undefined>
  /** Sent as JSON; FormData and URLSearchParams are sent as forms. */
  body?: unknown
  /** Instead of `body`, when each attempt needs a new one. */
  makeBody?: () => Promise<unknown>
  headers?: Record<string, string>
  /** Statuses besides 2xx that are not errors. */
  alsoOk?: readonly number[]
  /** Replaces the client's time-out for this call. */
  timeoutMs?: number
  /** Replaces the client's number of further attempts for this call. */
  maxRetries?: number
  /** Called with the error before each further attempt. */
  onRetry?: (failure: OstiaryError) => void
  /** Stops the call and its retries; the call then rejects with the signal's reason. */
  signal?: AbortSignal
}

export type Send = <T>(call: Call) => Promise<T>

const FIRST_DELAY_MS = 200
const MAX_DELAY_MS = 20_000

/** Sends calls with retries. Every call is safe to repeat: creates carry an idempotency key. */
export function createSend(options: ClientOptions): Send {
  const { baseUrl, apiKey, timeoutMs = 10_000, maxRetries = 2, fetch = globalThis.fetch } = options
  if (apiKey !== undefined && !parseApiKey(apiKey)) {
    throw new OstiaryError(0, { message: 'This is not an Ostiary API key: was it copied completely?' })
  }

  async function attempt<T>(call: Call): Promise<T> {
    const headers: Record<string, string> = {
      accept: 'application/json',
      'x-client': `ostiary-sdk/${VERSION}`,
      ...call.headers,
    }
    if (apiKey !== undefined) headers['x-api-key'] = apiKey
    const sent = call.makeBody ? await call.makeBody() : call.body
    // fetch sets the type of a form, which for FormData includes the boundary.
    const isForm = sent instanceof FormData || sent instanceof URLSearchParams
    if (sent !== undefined && !isForm) headers['content-type'] = 'application/json'
    const timeout = AbortSignal.timeout(call.timeoutMs ?? timeoutMs)
    const init = {
      method: call.method,
      headers,
      signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout,
      ...(sent !== undefined && { body: isForm ? sent : JSON.stringify(sent) }),
    }
    const response = await fetch(urlOf(baseUrl, call), init)
    const text = await response.text()
    const hint = retryAfterOf(response)
    const body: unknown = text === '' ? undefined : parse(text, response.status, hint)
    if (response.ok || call.alsoOk?.includes(response.status)) return body as T
    throw new OstiaryError(response.status, { ...hint, ...(body as AnyErrorBody | undefined) })
  }

  return async (call) => {
    for (let tried = 0; ; tried++) {
      try {
        return await attempt(call)
      } catch (error) {
        call.signal?.throwIfAborted()
        const failure =
          error instanceof OstiaryError
            ? error
            : new OstiaryError(0, { message: 'The service could not be reached' }, error)
        // An earlier attempt may have deleted it, and only the answer was lost.
        if (tried > 0 && call.method === 'DELETE' && [404, 410].includes(failure.status)) return undefined as never
        if (tried >= (call.maxRetries ?? maxRetries) || ![0, 429, 503].includes(failure.status)) throw failure
        const wait =
          failure.retryAfterSeconds === undefined ? FIRST_DELAY_MS * 2 ** tried : failure.retryAfterSeconds * 1000
        if (wait > MAX_DELAY_MS) throw failure
        await pause(wait, call.signal)
        call.signal?.throwIfAborted()
        call.onRetry?.(failure)
      }
    }
  }
}

/** Ends early when the signal does. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}

function urlOf(baseUrl: string, call: Call): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(call.query ?? {})) if (value !== undefined) query.set(name, String(value))
  const text = query.toString()
  return `${baseUrl.replace(/\/+$/, '')}${call.path}${text === '' ? '' : `?${text}`}`
}

/** Bodies of area E have no field for the wait, and a proxy sends its own body. */
function retryAfterOf({ headers }: Response): { retryAfter?: number } {
  const text = headers.get('retry-after') ?? ''
  return /^\d{1,9}$/.test(text) ? { retryAfter: Number(text) } : {}
}

function parse(text: string, status: number, hint: { retryAfter?: number }): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = 'The answer is not JSON: is baseUrl the address of Ostiary?'
    throw new OstiaryError(status, { message, ...hint }, error)
  }
}
