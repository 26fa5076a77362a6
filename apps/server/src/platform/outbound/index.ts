import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import { pipeline } from 'node:stream/promises'
import { isAllowedAddress, parseNetworks } from './address.ts'
import { createResolver, type Lookup } from './resolver.ts'
import { addressIn, checkTarget, type TargetPolicy, type TargetVerdict } from './target.ts'

export type OutboundReason =
  | 'forbidden_target'
  | 'forbidden_address'
  | 'dns'
  | 'timeout'
  | 'too_large'
  | 'tls'
  | 'refused'
  | 'status'
  | 'redirect'

const MESSAGES: Readonly<Record<OutboundReason, string>> = {
  forbidden_target: 'The URL may not be called',
  forbidden_address: 'The host has an address that may not be called',
  dns: 'The host has no address',
  timeout: 'The other side took too long',
  too_large: 'The answer is too large',
  tls: 'No trustworthy encrypted connection could be made',
  refused: 'The connection could not be made, or broke',
  status: 'The other side answered with a status other than 200',
  redirect: 'The answer is a redirect that is not followed',
}

/** The code of a `forbidden_address` that a name resolved to: unlike one in a URL it may be another the next time. */
export const RESOLVED = 'resolved'

/** Why a call failed. Holds nothing that the other side sent but its status: no cause, since parser errors quote bytes. */
export class OutboundError extends Error {
  readonly reason: OutboundReason
  /** Which rule refused it, or what the system calls the failure. */
  readonly code: string | undefined
  readonly status: number | undefined

  constructor(reason: OutboundReason, extra: { code?: string | undefined; status?: number | undefined } = {}) {
    super(MESSAGES[reason])
    this.name = 'OutboundError'
    this.reason = reason
    this.code = extra.code
    this.status = extra.status
  }
}

export interface OutboundOptions {
  /** For the User-Agent. */
  version: string
  /** Networks that may be called although they are not public. */
  allowNetworks: readonly string[]
  allowHttp?: boolean
  /** All addresses of a name. Called once per target. */
  lookup?: Lookup
  /** Certificate authorities to trust instead of the usual ones. */
  ca?: string
}

interface Limits {
  /** For everything together: names, connections, redirects, and until the body has been read. */
  timeoutMs: number
  maxBytes: number
  /** Ends the call with the signal's own reason. */
  signal?: AbortSignal
  /** 0, unless said otherwise, to 3; for GET and HEAD only. Another origin gets none of the caller's headers but Accept. */
  maxRedirects?: number
  headers?: Readonly<Record<string, string>>
}

export interface OutboundRequest extends Limits {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  body?: Uint8Array | string
}

export interface OutboundResponse {
  status: number
  headers: IncomingHttpHeaders
  /** The bytes as sent, never unpacked. Holds a connection until it is read, discarded or late. */
  body: AsyncIterable<Uint8Array>
  /** For those who want no body. */
  discard(): void
}

export interface Outbound {
  /** What can be said about a URL without asking for its addresses: for when someone enters one. */
  check(url: string): TargetVerdict
  /** Rejects with an OutboundError, also while the body is read. A 4xx or 5xx is an answer like any other. */
  request(request: OutboundRequest): Promise<OutboundResponse>
  /** GETs a file. It appears under its name only when it is complete. */
  download(url: string, options: Limits & { to: string }): Promise<{ headers: IncomingHttpHeaders; bytes: number }>
}

const MAX_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** A name with many addresses must not make us knock at all of them. */
const MAX_ADDRESSES_TRIED = 4
const CONNECT_MS = 5_000
const MAX_HEADER_BYTES = 16_384
/** Headers that are ours to set, or that would carry something from one call to another. */
const OWN_HEADERS =
  /^(host|user-agent|accept-encoding|cookie|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i

/**
 * The only way out: every HTTP call to a URL that someone entered goes through here. A name is resolved once, all its
 * addresses must be allowed, and the connection goes to one of exactly those. Environment variables for proxies are not
 * heeded, connections are not reused, and nothing is kept between calls.
 */
export function createOutbound(options: OutboundOptions): Outbound {
  const policy: TargetPolicy = {
    allowHttp: options.allowHttp ?? false,
    allowNetworks: parseNetworks(options.allowNetworks),
  }
  const lookup = options.lookup ?? createResolver()
  const agent = `Ostiary/${options.version}`

  async function request(asked: OutboundRequest): Promise<OutboundResponse> {
    checkLimits(asked)
    const exchange = startExchange(asked)
    try {
      const response = await follow(asked, exchange)
      const declared = Number(response.headers['content-length'] ?? 0)
      if (asked.method !== 'HEAD' && declared > asked.maxBytes) throw new OutboundError('too_large')
      return {
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: bodyOf(response, exchange, asked.maxBytes),
        discard: exchange.end,
      }
    } catch (error) {
      exchange.end()
      throw error
    }
  }

  async function follow(asked: OutboundRequest, exchange: Exchange): Promise<IncomingMessage> {
    let url = allowed(checkTarget(asked.url, policy))
    let headers = asked.headers ?? {}
    for (let left = asked.maxRedirects ?? 0; ; left--) {
      const addresses = await addressesOf(url, exchange)
      // Node gives the body of a GET or DELETE no length by itself, and without one it would pass for a second request.
      const length = asked.body !== undefined && { 'content-length': String(Buffer.byteLength(asked.body)) }
      const fixed = { host: url.host, 'user-agent': agent, 'accept-encoding': 'identity', ...length }
      const response = await connect(
        addresses,
        { url, headers: { ...headers, ...fixed }, asked, ca: options.ca },
        exchange,
      )
      const status = response.statusCode ?? 0
      if (!REDIRECTS.has(status)) return response
      response.destroy()
      const next = nextTarget(url, response.headers.location)
      if (left === 0 || !next || !/^(GET|HEAD)$/.test(asked.method)) throw new OutboundError('redirect', { status })
      if (next.origin !== url.origin) headers = onlyAccept(headers)
      url = allowed(checkTarget(next.href, policy))
    }
  }

  /** The addresses to try, all of them allowed. One that is not spoils the lot: a name that has both is a trap. */
  async function addressesOf(url: URL, exchange: Exchange): Promise<readonly string[]> {
    if (exchange.signal.aborted) throw exchange.stopped()
    const literal = addressIn(url)
    if (literal !== undefined) return [literal]
    const found = await exchange.race(lookup(url.hostname)).catch((error: unknown) => {
      throw exchange.stopped() ?? new OutboundError('dns', { code: codeOf(error) })
    })
    if (found.length === 0) throw new OutboundError('dns')
    if (!found.every((address) => isAllowedAddress(address, policy.allowNetworks)))
      throw new OutboundError('forbidden_address', { code: RESOLVED })
    return found.slice(0, MAX_ADDRESSES_TRIED)
  }

  return {
    check: (url) => checkTarget(url, policy),
    request,
    async download(url, { to, ...limits }) {
      const response = await request({ ...limits, method: 'GET', url })
      if (response.status !== 200) {
        response.discard()
        throw new OutboundError('status', { status: response.status })
      }
      // Beside its place, so that the move is one step, and under a name that no other download has.
      const part = `${to}.${randomUUID()}.part`
      const file = createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true })
      try {
        await pipeline(response.body, file)
        await rename(part, to)
      } catch (error) {
        response.discard()
        await rm(part, { force: true })
        throw error
      }
      return { headers: response.headers, bytes: file.bytesWritten }
    },
  }
}

/** A mistake here is one of ours, and some would switch a limit off: nothing is larger than NaN. */
function checkLimits({ timeoutMs, maxBytes, maxRedirects = 0, headers = {} }: Limits): void {
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > 2 ** 31 - 1) throw new RangeError('timeoutMs')
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 0) throw new RangeError('maxBytes')
  if (!Number.isInteger(maxRedirects) || maxRedirects < 0 || maxRedirects > MAX_REDIRECTS)
    throw new RangeError('maxRedirects')
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    if (OWN_HEADERS.test(name)) throw new TypeError(`the header ${name} is not the caller's to set`)
  }
}

function allowed(verdict: TargetVerdict): URL {
  if (verdict.ok) return verdict.url
  throw new OutboundError(verdict.reason === 'address' ? 'forbidden_address' : 'forbidden_target', {
    code: verdict.reason,
  })
}

function nextTarget(from: URL, location: string | undefined): URL | undefined {
  if (!location || !URL.canParse(location, from.href)) return undefined
  const next = new URL(location, from)
  return from.protocol === 'https:' && next.protocol !== 'https:' ? undefined : next
}

function onlyAccept(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() === 'accept'))
}

/** One call with all its redirects, from its beginning to the end of its body: what can stop it. */
interface Exchange {
  signal: AbortSignal
  /** Why it was stopped, if it was: an OutboundError, or the reason of the caller's signal. */
  stopped(): unknown
  /** Waits for work that cannot be stopped itself. */
  race<T>(work: Promise<T>): Promise<T>
  /** Closes what is still open. */
  end(): void
}

function startExchange({ timeoutMs, signal: callers }: Limits): Exchange {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(new OutboundError('timeout')), timeoutMs)
  const passOn = () => stop.abort(callers?.reason)
  callers?.addEventListener('abort', passOn, { once: true })
  stop.signal.addEventListener('abort', () => {
    clearTimeout(timer)
    callers?.removeEventListener('abort', passOn)
  })
  if (callers?.aborted) passOn()
  const stopped = () => (stop.signal.aborted ? stop.signal.reason : undefined)
  return {
    signal: stop.signal,
    stopped,
    race: (work) =>
      new Promise((resolve, reject) => {
        const onStop = () => reject(stopped())
        stop.signal.addEventListener('abort', onStop, { once: true })
        work.then(resolve, reject).finally(() => stop.signal.removeEventListener('abort', onStop))
      }),
    end: () => stop.abort(new OutboundError('refused', { code: 'ENDED' })),
  }
}

interface Sending {
  url: URL
  headers: Readonly<Record<string, string>>
  asked: OutboundRequest
  ca: string | undefined
}

/** How far a connection came; tells what a failure means. */
interface Progress {
  connected: boolean
  secured: boolean
}

/** Tries the addresses in turn until one can be connected to. After that nothing is tried again: it may have arrived. */
async function connect(addresses: readonly string[], sending: Sending, exchange: Exchange): Promise<IncomingMessage> {
  for (let next = 0; ; next++) {
    const progress: Progress = { connected: false, secured: sending.url.protocol === 'http:' }
    const isLast = next >= addresses.length - 1
    try {
      return await send(addresses[next] ?? '', sending, isLast ? undefined : CONNECT_MS, progress, exchange)
    } catch (error) {
      if (isLast || progress.connected || exchange.signal.aborted) throw explain(error, progress, exchange)
    }
  }
}

function send(
  address: string,
  { url, headers, asked, ca }: Sending,
  connectMs: number | undefined,
  progress: Progress,
  exchange: Exchange,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = {
      method: asked.method,
      // The address itself: there is nothing left to resolve, so it cannot come out differently a second time.
      host: address,
      port: url.port || (url.protocol === 'https:' ? 443 : 80),
      path: url.pathname + url.search,
      headers,
      // A connection of its own, through an agent that knows no proxy.
      agent: false,
      signal: exchange.signal,
      maxHeaderSize: MAX_HEADER_BYTES,
      insecureHTTPParser: false,
    } as const
    const request =
      url.protocol === 'http:'
        ? httpRequest(options)
        : httpsRequest({
            ...options,
            // The name is what the certificate must be for. An address is never sent as one (RFC 6066).
            servername: addressIn(url) === undefined ? url.hostname : '',
            rejectUnauthorized: true,
            minVersion: 'TLSv1.2',
            ...(ca !== undefined && { ca }),
          })
    const timer =
      connectMs && setTimeout(() => request.destroy(new OutboundError('timeout', { code: 'CONNECT' })), connectMs)
    request.once('socket', (socket) => {
      socket.once('connect', () => {
        progress.connected = true
        clearTimeout(timer)
      })
      socket.once('secureConnect', () => {
        progress.secured = true
      })
    })
    // Both listeners stay for good: a connection that breaks after the answer came must not end the process.
    request.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    request.once('response', (response) => {
      response.on('error', () => {})
      resolve(response)
    })
    request.end(asked.body)
  })
}

async function* bodyOf(response: IncomingMessage, exchange: Exchange, maxBytes: number): AsyncGenerator<Uint8Array> {
  let received = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      received += chunk.length
      if (received > maxBytes) throw new OutboundError('too_large')
      yield chunk
    }
    // A stream that was stopped or cut off can look like one that ended.
    if (exchange.signal.aborted || !response.complete) throw new OutboundError('refused', { code: 'INCOMPLETE' })
  } catch (error) {
    throw explain(error, { connected: true, secured: true }, exchange)
  } finally {
    exchange.end()
  }
}

function explain(error: unknown, { connected, secured }: Progress, exchange: Exchange): unknown {
  if (exchange.signal.aborted) return exchange.stopped()
  if (error instanceof OutboundError) return error
  const code = codeOf(error)
  if (code === 'HPE_HEADER_OVERFLOW') return new OutboundError('too_large', { code })
  const isTls = (connected && !secured) || code === 'EPROTO' || code?.startsWith('ERR_SSL_')
  return new OutboundError(isTls ? 'tls' : 'refused', { code })
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : undefined
}
