import { type Dispatcher, Pool } from 'undici'
import { BoundedMap } from '../bounded-map.ts'
import { OutboundError, toOutboundError } from './errors.ts'
import { CLIENT_LIMITS, createGuard } from './guard.ts'
import type { Lookup } from './resolver.ts'

/**
 * Many small calls to the same origins: webhooks. It uses the same guard (guard.ts) as `createOutbound` and is much cheaper, because
 * connections are kept. No redirects, no proxies, no cookies. It reads only as much of a response body as is needed to reuse the
 * connection.
 */
export interface PooledOutbound {
  /** Rejects with an OutboundError. Every status is an answer; redirects are not followed. */
  post(request: PooledRequest): Promise<PooledAnswer>
  /** Ends all running calls. */
  close(): Promise<void>
  /** Origins with connections, counted for each owner. */
  origins(): number
}

export interface PooledRequest {
  /** Whose call it is. Calls of different owners share no connection and take turns at the name servers. */
  owner: string
  url: string
  allowHttp: boolean
  /** Name, value, name, value. The caller checks their characters; `host` is refused. */
  headers: string[]
  body: Buffer
}

export interface PooledAnswer {
  status: number
  retryAfter: string | undefined
}

export interface PooledOptions {
  /** Networks that are not public but may be called. */
  allowNetworks: readonly string[]
  /** For everything together: name, connection, request and the part of the body that is read. */
  timeoutMs?: number
  /** A longer body ends the connection. Its status is still the answer. */
  answerBytes?: number
  connectionsPerOrigin?: number
  /** Origins that may have connections at once. */
  maxOrigins?: number
  /** All addresses of a name. */
  lookup?: Lookup
  /** Certificate authorities to trust instead of the usual ones. */
  ca?: string
}

interface Origin {
  pool: Pool
  active: number
  lastUsedMs: number
}

interface Target {
  origin: string
  path: string
  isHttp: boolean
}

const LATE_EVERY_MS = 50
const IDLE_ORIGIN_MS = 60_000
const IDLE_EVERY_MS = 5_000
const MAX_TARGETS = 5_000
/** How long one address is tried when the name has several. Short, because a delivery that waits occupies its lane. */
const ADDRESS_MS = 250

export function createPooledOutbound(options: PooledOptions): PooledOutbound {
  const { timeoutMs = 10_000, answerBytes = 4_096, connectionsPerOrigin = 64, maxOrigins = 2_000 } = options
  const guard = createGuard({ ...options, allowHttp: true })
  const origins = new Map<string, Origin>()
  const targets = new BoundedMap<string, Target>(MAX_TARGETS)
  // In the order of their start, and all have the same time limit: the first is the first to be late.
  const exchanges = new Set<Exchange>()

  function targetOf(url: string): Target {
    const known = targets.get(url)
    if (known) return known
    const checked = guard.allow(url)
    const target = {
      origin: checked.origin,
      path: checked.pathname + checked.search,
      isHttp: checked.protocol === 'http:',
    }
    targets.set(url, target)
    return target
  }

  /** Keeps the map in the order of the last use. */
  function originOf(url: string, owner: string): Origin {
    const name = `${owner} ${url}`
    const known = origins.get(name)
    if (known) {
      origins.delete(name)
      origins.set(name, known)
      return known
    }
    if (origins.size >= maxOrigins) dropIdle(Number.POSITIVE_INFINITY, 1)
    const connect = guard.connector({ timeoutMs, addressMs: ADDRESS_MS, owner })
    const pool = new Pool(url, { ...CLIENT_LIMITS, connect, connections: connectionsPerOrigin })
    const origin = { pool, active: 0, lastUsedMs: performance.now() }
    origins.set(name, origin)
    return origin
  }

  /** Closes origins without a call under way that were last used before `beforeMs`, the least recently used ones first. */
  function dropIdle(beforeMs: number, atMost: number): void {
    let left = atMost
    for (const [name, origin] of origins) {
      if (left === 0) return
      if (origin.active > 0 || origin.lastUsedMs > beforeMs) continue
      origins.delete(name)
      void origin.pool.destroy().catch(() => {})
      left--
    }
  }

  // One timer for all calls: a timer per call would cost more than the rest of its bookkeeping.
  const late = setInterval(() => {
    const overdueMs = performance.now() - timeoutMs
    for (const exchange of exchanges) {
      if (exchange.startedMs > overdueMs) return
      exchange.stop(new OutboundError('timeout'))
    }
  }, LATE_EVERY_MS).unref()
  const idle = setInterval(
    () => dropIdle(performance.now() - IDLE_ORIGIN_MS, Number.POSITIVE_INFINITY),
    IDLE_EVERY_MS,
  ).unref()

  return {
    post({ owner, url, allowHttp, headers, body }) {
      return new Promise((resolve, reject) => {
        const target = targetOf(url)
        if (target.isHttp && !allowHttp) throw new OutboundError('forbidden_target', { code: 'scheme' })
        refuseHost(headers)
        const origin = originOf(target.origin, owner)
        const exchange = new Exchange(answerBytes, (error, answer) => {
          exchanges.delete(exchange)
          origin.active--
          origin.lastUsedMs = performance.now()
          if (answer) resolve(answer)
          else reject(error ?? new OutboundError('refused'))
        })
        origin.active++
        exchanges.add(exchange)
        origin.pool.dispatch({ path: target.path, method: 'POST', headers, body }, exchange)
      })
    },
    async close() {
      clearInterval(late)
      clearInterval(idle)
      for (const exchange of exchanges) exchange.stop(new OutboundError('refused', { code: 'ENDED' }))
      const pools = [...origins.values()].map(({ pool }) => pool)
      origins.clear()
      await Promise.allSettled(pools.map((pool) => pool.destroy()))
    },
    origins: () => origins.size,
  }
}

type Settle = (error: OutboundError | undefined, answer: PooledAnswer | undefined) => void

/** One request, as undici reports its progress. A class, because thousands exist at once and closures would cost more memory. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly startedMs = performance.now()
  #controller: Dispatcher.DispatchController | undefined
  #answer: PooledAnswer | undefined
  #bytesLeft: number
  #settle: Settle | undefined

  constructor(answerBytes: number, settle: Settle) {
    this.#bytesLeft = answerBytes
    this.#settle = settle
  }

  /** Ends the call now. A status that has arrived is still the answer. */
  stop(error: OutboundError): void {
    this.#end(error)
    this.#controller?.abort(error)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The deadline passed while the call waited for a connection.
    if (!this.#settle) controller.abort(new OutboundError('timeout'))
  }

  onRequestUpgrade(controller: Dispatcher.DispatchController): void {
    controller.abort(new OutboundError('refused', { code: 'UPGRADE' }))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // A status from 100 to 199 precedes the real response.
    if (status < 200) return
    const retryAfter = headers['retry-after']
    this.#answer = { status, retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytesLeft -= chunk.length
    if (this.#bytesLeft < 0) this.stop(new OutboundError('too_large'))
  }

  onResponseEnd(): void {
    this.#end(undefined)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end(toOutboundError(error))
  }

  #end(error: OutboundError | undefined): void {
    const settle = this.#settle
    this.#settle = undefined
    settle?.(error, this.#answer)
  }
}

/** undici takes the name that the certificate must have from this header. */
function refuseHost(headers: readonly string[]): void {
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') throw new TypeError('the header host is not the caller’s')
  }
}
