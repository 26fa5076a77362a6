import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { Client, type Dispatcher } from 'undici'
import { OutboundError, toOutboundError } from './errors.ts'
import { CLIENT_LIMITS, createGuard } from './guard.ts'
import type { Lookup } from './resolver.ts'
import type { TargetVerdict } from './target.ts'

export { OutboundError, type OutboundReason, RESOLVED } from './errors.ts'

export interface OutboundOptions {
  /** For the User-Agent. */
  version: string
  /** Networks that are not public but may be called. */
  allowNetworks: readonly string[]
  allowHttp?: boolean
  /** All addresses of a name. Called once for each connection. */
  lookup?: Lookup
  /** Certificate authorities to trust instead of the usual ones. */
  ca?: string
}

interface Limits {
  /** For everything together: names, connections, redirects and the whole body. */
  timeoutMs: number
  maxBytes: number
  /** Ends the call with the signal's own reason. */
  signal?: AbortSignal
  /** 0 (the default) to 3, for GET and HEAD only. Of the caller's headers another origin gets Accept alone. */
  maxRedirects?: number
  headers?: Readonly<Record<string, string>>
}

export interface OutboundRequest extends Limits {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  body?: Uint8Array | string
}

/** By lower-case name; of a repeated header the first value. */
export type OutboundHeaders = Readonly<Record<string, string | undefined>>

export interface OutboundResponse {
  status: number
  headers: OutboundHeaders
  /** The bytes as sent, never decompressed. Holds a connection until it is read or discarded, or until the deadline. */
  body: AsyncIterable<Uint8Array>
  /** For callers that need no body. */
  discard(): void
}

export interface Outbound {
  /** Checks a URL without a DNS query, when a person enters it. */
  check(url: string): TargetVerdict
  /** Rejects with an OutboundError, also while the body is read. A 4xx or 5xx is an answer like any other. */
  request(request: OutboundRequest): Promise<OutboundResponse>
  /** GETs a file. It appears under its name only when it is complete. */
  download(url: string, options: Limits & { to: string }): Promise<{ headers: OutboundHeaders; bytes: number }>
}

const MAX_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** How long one address is tried when the name has several. */
const ADDRESS_MS = 5_000
/** Headers that are ours to set, or that would carry something from one call to another. */
const OWN_HEADERS =
  /^(host|user-agent|accept-encoding|cookie|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i

/**
 * Single calls of any method, with redirects where the caller permits them. Every connection goes through the guard (guard.ts), is used
 * for one request, and nothing is kept between calls. For many small calls to the same places there is pooled.ts.
 */
export function createOutbound(options: OutboundOptions): Outbound {
  const guard = createGuard({ ...options, allowHttp: options.allowHttp ?? false })
  const agent = `Ostiary/${options.version}`

  async function request(asked: OutboundRequest): Promise<OutboundResponse> {
    checkLimits(asked)
    const exchange = startExchange(asked)
    try {
      const { statusCode, headers, body } = await follow(asked, exchange)
      const declared = Number(headers['content-length'] ?? 0)
      if (asked.method !== 'HEAD' && declared > asked.maxBytes) throw new OutboundError('too_large')
      return {
        status: statusCode,
        headers: firstValues(headers),
        body: bodyOf(body, exchange, asked.maxBytes),
        discard: exchange.end,
      }
    } catch (error) {
      const failure = exchange.explain(error)
      exchange.end()
      throw failure
    }
  }

  async function follow(asked: OutboundRequest, exchange: Exchange): Promise<Dispatcher.ResponseData> {
    let url = guard.allow(asked.url)
    let headers = asked.headers ?? {}
    for (let left = asked.maxRedirects ?? 0; ; left--) {
      const client = open(url, asked, exchange)
      const response = await client.request({
        method: asked.method,
        path: url.pathname + url.search,
        headers: { ...headers, 'user-agent': agent, 'accept-encoding': 'identity' },
        body: asked.body ?? null,
        // One request per connection.
        reset: true,
      })
      // The listener stays: a connection that breaks after its response began must not end the process.
      response.body.on('error', () => {})
      if (!REDIRECTS.has(response.statusCode)) return response
      close(client)
      const next = nextTarget(url, firstValues(response.headers).location)
      if (left === 0 || !next || !/^(GET|HEAD)$/.test(asked.method))
        throw new OutboundError('redirect', { status: response.statusCode })
      if (next.origin !== url.origin) headers = onlyAccept(headers)
      url = guard.allow(next.href)
    }
  }

  /** A client for one request, which ends with the exchange. */
  function open(url: URL, { timeoutMs }: Limits, exchange: Exchange): Client {
    if (exchange.signal.aborted) throw exchange.signal.reason
    const sockets: Socket[] = []
    const onSocket = (socket: Socket) => void sockets.push(socket)
    const connect = guard.connector({ timeoutMs, addressMs: ADDRESS_MS, owner: url.hostname })
    const client = new Client(url.origin, { ...CLIENT_LIMITS, connect: connect(onSocket) })
    const end = () => {
      close(client)
      // undici does not end a connection that is still being opened.
      for (const socket of sockets) socket.destroy()
    }
    exchange.signal.addEventListener('abort', end, { once: true })
    return client
  }

  return {
    check: guard.check,
    request,
    async download(url, { to, ...limits }) {
      const response = await request({ ...limits, method: 'GET', url })
      if (response.status !== 200) {
        response.discard()
        throw new OutboundError('status', { status: response.status })
      }
      // In the same folder, so that the rename is atomic, and under a name that no other download has.
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

/** A wrong limit is a bug in our code, and some would switch the limit off: nothing is larger than NaN. */
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

function nextTarget(from: URL, location: string | undefined): URL | undefined {
  if (!location || !URL.canParse(location, from.href)) return undefined
  const next = new URL(location, from)
  return from.protocol === 'https:' && next.protocol !== 'https:' ? undefined : next
}

function onlyAccept(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() === 'accept'))
}

/** The first value of each header, as Node takes it for headers that must not be repeated. */
function firstValues(headers: Readonly<Record<string, string | string[] | undefined>>): OutboundHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  )
}

function close(client: Client): void {
  client.destroy().catch(() => {})
}

/** One call with all its redirects, from its start to the end of its body. */
interface Exchange {
  /** Aborts at the deadline, when the caller's signal does, and at the end. */
  signal: AbortSignal
  /** What to throw for an error: the reason why the call was stopped, if it was, or a translation of the error. */
  explain(error: unknown): unknown
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
  return {
    signal: stop.signal,
    explain: (error) => (stop.signal.aborted ? stop.signal.reason : toOutboundError(error)),
    end: () => stop.abort(new OutboundError('refused', { code: 'ENDED' })),
  }
}

async function* bodyOf(body: AsyncIterable<Buffer>, exchange: Exchange, maxBytes: number): AsyncGenerator<Uint8Array> {
  let received = 0
  try {
    for await (const chunk of body) {
      received += chunk.length
      if (received > maxBytes) throw new OutboundError('too_large')
      yield chunk
    }
    // A stream that was stopped can look like one that ended.
    if (exchange.signal.aborted) throw new OutboundError('refused', { code: 'INCOMPLETE' })
  } catch (error) {
    throw exchange.explain(error)
  } finally {
    exchange.end()
  }
}
