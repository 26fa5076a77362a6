import { VERSION } from '@ostiary/contract/version'
import { randomFraction } from './clock.ts'
import { type AnyErrorBody, OstiaryError } from './error.ts'
import { type CallOptions, type ClientOptions, checkApiKey, checkBaseUrl } from './options.ts'
import { type ConfigWarning, type Created, warningsIn } from './warnings.ts'

export { OstiaryError } from './error.ts'
export type { CallOptions, ClientOptions } from './options.ts'

export interface Call extends CallOptions {
  /** The operation's name in the contract, for logs and `onRetry`. A path could hold the token of a session. */
  operation?: string
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
  /** Replaces the client's number of further attempts for this call. */
  maxRetries?: number
  /** The call does something once more with each attempt: repeat it only after 429, which certainly did nothing. */
  isOnce?: boolean
  /** Replaces the client's longest wait for this call. */
  maxWaitMs?: number | undefined
  /** Called with the error before each further attempt. */
  onRetry?: (failure: OstiaryError) => void
  /** Called with the warnings of the answer; never without one. */
  onWarnings?: (warnings: ConfigWarning[]) => void
}

export type Send = <T>(call: Call) => Promise<T>

const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 8_000
/** A caller who waits longer than this should know why. */
const SILENT_WAIT_MS = 1_000
/** 0: no answer. The others are what a service or a proxy answers for a moment: a repeat may succeed. */
const TRANSIENT = [0, 408, 429, 500, 502, 503, 504]

/** Sends calls with retries. Every call is safe to repeat: creates carry an idempotency key that all attempts share. */
export function createSend(options: ClientOptions): Send {
  const { apiKey, timeoutMs = 10_000, maxRetries = 3, maxWaitMs = 20_000 } = options
  const baseUrl = checkBaseUrl(options.baseUrl)
  checkApiKey(apiKey)
  const fetch = options.fetch ?? globalThis.fetch
  const logger = options.logger === undefined ? console : options.logger
  const logged = new Set<string>()

  function reportWarnings(warnings: ConfigWarning[], call: Call): void {
    if (warnings.length === 0) return
    call.onWarnings?.(warnings)
    for (const warning of warnings) {
      options.onWarning?.(warning, nameOf(call))
      // A busy shop gets the same warning with every session: one line says it.
      if (!logged.has(warning.message)) logger?.warn(`ostiary: ${nameOf(call)}: ${warning.message}`)
      logged.add(warning.message)
    }
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
      // The API key would go to the address that a redirect names: `fetch` takes only `Authorization` away.
      redirect: 'manual' as const,
      signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout,
      ...(sent !== undefined && { body: isForm ? sent : JSON.stringify(sent) }),
    }
    const response = await fetch(urlOf(baseUrl, call), init)
    if (isRedirect(response)) {
      await response.body?.cancel()
      throw redirected(response.status)
    }
    const text = await response.text()
    const hint = retryAfterOf(response)
    const body: unknown = text === '' ? undefined : parse(text, response.status, hint)
    if (!response.ok && !call.alsoOk?.includes(response.status)) {
      throw new OstiaryError(response.status, { ...hint, ...(body as AnyErrorBody | undefined) })
    }
    reportWarnings(warningsIn(response.headers.get('x-config-warning')), call)
    return body as T
  }

  /** Waits until the next attempt may begin. Throws the failure where no attempt is left. */
  async function waitAfter(failure: OstiaryError, call: Call, tried: number): Promise<void> {
    const isTransient = call.isOnce ? failure.status === 429 : TRANSIENT.includes(failure.status)
    if (tried >= (call.maxRetries ?? maxRetries) || !isTransient) throw failure
    const waitMs = waitAfterMs(failure, tried)
    if (waitMs > (call.maxWaitMs ?? maxWaitMs)) throw failure
    options.onRetry?.({ operation: nameOf(call), attempt: tried + 1, waitMs, error: failure })
    if (waitMs > SILENT_WAIT_MS) {
      const seconds = Math.round(waitMs / 100) / 10
      logger?.warn(`ostiary: ${nameOf(call)}: waiting ${seconds} s for attempt ${tried + 2}: ${failure.message}`)
    }
    await pause(waitMs, call.signal)
    call.signal?.throwIfAborted()
    call.onRetry?.(failure)
  }

  return async (call) => {
    for (let tried = 0; ; tried++) {
      try {
        return await attempt(call)
      } catch (error) {
        call.signal?.throwIfAborted()
        const failure = error instanceof OstiaryError ? error : noAnswer(error)
        // An earlier attempt may have deleted it, and only the answer was lost.
        if (tried > 0 && call.method === 'DELETE' && [404, 410].includes(failure.status)) return undefined as never
        await waitAfter(failure, call, tried)
      }
    }
  }
}

/** Sends a call that creates something; its result has the service's warnings. */
export async function sendCreate<T extends object>(send: Send, call: Call): Promise<Created<T>> {
  let warnings: ConfigWarning[] = []
  const onWarnings = (found: ConfigWarning[]) => {
    warnings = found
  }
  const made = await send<T>({ ...call, onWarnings })
  return { ...made, warnings }
}

/**
 * Sends a call that ends a session. When an attempt was lost and the next finds the session ended, the lost one may have ended it:
 * the answer is then what the session ended with.
 */
export async function sendOnce<T>(send: Send, { call, ended }: { call: Call; ended: () => Promise<T> }): Promise<T> {
  let mayBeDone = false
  const onRetry = ({ status }: OstiaryError) => {
    mayBeDone ||= status !== 429
  }
  try {
    return await send<T>({ ...call, onRetry })
  } catch (error) {
    if (mayBeDone && error instanceof OstiaryError && error.code === 'SESSION_NOT_OPEN') return ended()
    throw error
  }
}

/** Headers of a call that creates something. Made once, so that all attempts of the call have the same key. */
export function idempotencyHeaders(idempotencyKey: string | undefined): Record<string, string> {
  return { 'idempotency-key': idempotencyKey ?? crypto.randomUUID() }
}

/** What the service asks for and up to a tenth more; else a random part of a time that doubles, so that clients do not come back together. */
function waitAfterMs({ retryAfterSeconds }: OstiaryError, tried: number): number {
  if (retryAfterSeconds !== undefined) return Math.round(retryAfterSeconds * 1000 * (1 + randomFraction() / 10))
  return Math.round(randomFraction() * Math.min(FIRST_DELAY_MS * 2 ** tried, LONGEST_DELAY_MS))
}

function noAnswer(cause: unknown): OstiaryError {
  const isTimeout = cause instanceof Error && cause.name === 'TimeoutError'
  return isTimeout
    ? new OstiaryError(0, { code: 'TIMED_OUT', message: 'The service did not answer in time' }, cause)
    : new OstiaryError(0, { message: 'The service could not be reached' }, cause)
}

/** Browsers and workers hide the status of a redirect. */
const isRedirect = ({ status, type }: Response) =>
  type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status)

function redirected(status: number): OstiaryError {
  const message = 'The service answered with a redirect, which is not followed: give its final address as baseUrl'
  return new OstiaryError(status || 302, { code: 'REDIRECTED', message })
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

const nameOf = (call: Call): string => call.operation ?? `${call.method} ${call.path}`

function urlOf(baseUrl: string, call: Call): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(call.query ?? {})) if (value !== undefined) query.set(name, String(value))
  const text = query.toString()
  return `${baseUrl}${call.path}${text === '' ? '' : `?${text}`}`
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
    throw new OstiaryError(status, { code: 'NOT_JSON', message, ...hint }, error)
  }
}
