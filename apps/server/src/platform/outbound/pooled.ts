import { BoundedMap } from '../bounded-map.ts'
import type { PooledAnswer } from './answer-reader.ts'
import type { Connection, Exchange } from './connection.ts'
import { OutboundError } from './errors.ts'
import { createGuard } from './guard.ts'
import { Origin } from './origin.ts'
import { requestBytes, requestStart } from './request-bytes.ts'
import type { Lookup } from './resolver.ts'

export type { PooledAnswer } from './answer-reader.ts'

/**
 * Many small calls to the same origins: webhooks. It uses the same guard (guard.ts) as `createOutbound` and is much cheaper, because
 * connections are kept. No redirects, no proxies, no cookies. It reads only as much of a response body as is needed to reuse the
 * connection.
 */
export interface PooledOutbound {
  /** Rejects with an OutboundError. Every status is an answer; redirects are not followed. */
  post(request: PooledRequest): Promise<PooledAnswer>
  /** The same without a promise, for very many calls. Throws if the URL may not be called; otherwise calls `done` once, and never before it returns. */
  send(request: PooledRequest, done: Done): void
  /** Ends all running calls. */
  close(): Promise<void>
  /** Origins with connections, counted for each owner. */
  origins(): number
}

/** An answer, or else an error. */
export type Done = (error: OutboundError | undefined, answer: PooledAnswer | undefined) => void

export interface PooledRequest {
  /** Whose call it is. Calls of different owners share no connection and take turns at the name servers. */
  owner: string
  url: string
  allowHttp: boolean
  /** Name, value, name, value. The caller checks their characters; `host` is refused. */
  headers: string[]
  body: Buffer
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

interface Target {
  url: URL
  /** Scheme, host and port. */
  originName: string
  /** The beginning of the request. */
  start: string
  isHttp: boolean
  /** Where the last call of this URL went: most URLs have one owner. */
  last: { owner: string; origin: Origin } | undefined
}

const LATE_EVERY_MS = 50
const IDLE_ORIGIN_MS = 60_000
const IDLE_EVERY_MS = 1_000
const MAX_TARGETS = 5_000
/** How long one address is tried when the name has several. Short, because a delivery that waits occupies its lane. */
const ADDRESS_MS = 250

export function createPooledOutbound(options: PooledOptions): PooledOutbound {
  const { timeoutMs = 10_000, answerBytes = 4_096, connectionsPerOrigin = 64, maxOrigins = 2_000 } = options
  const guard = createGuard({ ...options, allowHttp: true })
  const origins = new Map<string, Origin>()
  const targets = new BoundedMap<string, Target>(MAX_TARGETS)
  // In the order of their start, and all have the same time limit: the first is the first to be late.
  const exchanges = new Set<PooledExchange>()
  const limits = { connections: connectionsPerOrigin, openMs: timeoutMs, answerBytes }

  function targetOf(url: string): Target {
    const known = targets.get(url)
    if (known) return known
    const checked = guard.allow(url)
    const target: Target = {
      url: checked,
      originName: checked.origin,
      start: requestStart(checked),
      isHttp: checked.protocol === 'http:',
      last: undefined,
    }
    targets.set(url, target)
    return target
  }

  function originOf(target: Target, owner: string): Origin {
    const { last } = target
    if (last?.owner === owner && !last.origin.isClosed) return last.origin
    const origin = openOrigin(target, owner)
    target.last = { owner, origin }
    return origin
  }

  function openOrigin({ url, originName }: Target, owner: string): Origin {
    const name = `${owner} ${originName}`
    const known = origins.get(name)
    if (known) return known
    if (origins.size >= maxOrigins) dropLeastRecent()
    const origin = new Origin(guard.dialer({ url, addressMs: ADDRESS_MS, owner }), limits)
    origins.set(name, origin)
    return origin
  }

  function drop(name: string, origin: Origin): void {
    origins.delete(name)
    origin.close()
  }

  /** Closes the origin that was not used for the longest time, if there is one without a call under way. */
  function dropLeastRecent(): void {
    let least: [string, Origin] | undefined
    for (const one of origins) {
      if (one[1].active === 0 && one[1].lastUsedMs < (least?.[1].lastUsedMs ?? Number.POSITIVE_INFINITY)) least = one
    }
    if (least) drop(...least)
  }

  /** Closes origins without a call under way that were last used before `beforeMs`. */
  function dropIdle(beforeMs: number): void {
    for (const [name, origin] of origins) if (origin.active === 0 && origin.lastUsedMs <= beforeMs) drop(name, origin)
  }

  // One timer for all calls: a timer per call would cost more than the rest of its bookkeeping.
  const late = setInterval(() => {
    const overdueMs = performance.now() - timeoutMs
    for (const exchange of exchanges) {
      if (exchange.startedMs > overdueMs) return
      exchange.stop(new OutboundError('timeout'))
    }
  }, LATE_EVERY_MS).unref()
  const idle = setInterval(() => {
    const nowMs = performance.now()
    dropIdle(nowMs - IDLE_ORIGIN_MS)
    for (const origin of origins.values()) origin.closeUnused(nowMs)
  }, IDLE_EVERY_MS).unref()

  function send({ owner, url, allowHttp, headers, body }: PooledRequest, done: Done): void {
    const target = targetOf(url)
    if (target.isHttp && !allowHttp) throw new OutboundError('forbidden_target', { code: 'scheme' })
    const bytes = requestBytes(target.start, headers, body)
    const origin = originOf(target, owner)
    const exchange = new PooledExchange(bytes, { origin, exchanges, done })
    origin.active++
    exchanges.add(exchange)
    origin.start(exchange)
  }

  return {
    send,
    post: (request) =>
      new Promise((resolve, reject) => {
        send(request, (error, answer) => (answer ? resolve(answer) : reject(error)))
      }),
    async close() {
      clearInterval(late)
      clearInterval(idle)
      for (const exchange of exchanges) exchange.stop(new OutboundError('refused', { code: 'ENDED' }))
      for (const origin of origins.values()) origin.close()
      origins.clear()
    },
    origins: () => origins.size,
  }
}

/** A class, because thousands exist at once and closures would cost more memory. */
class PooledExchange implements Exchange {
  readonly startedMs = performance.now()
  readonly bytes: Buffer
  connection: Connection | undefined
  readonly #origin: Origin
  readonly #exchanges: Set<PooledExchange>
  #done: Done | undefined

  constructor(
    bytes: Buffer,
    { origin, exchanges, done }: { origin: Origin; exchanges: Set<PooledExchange>; done: Done },
  ) {
    this.bytes = bytes
    this.#origin = origin
    this.#exchanges = exchanges
    this.#done = done
  }

  end(error: OutboundError | undefined, answer: PooledAnswer | undefined): void {
    const done = this.#done
    if (!done) return
    this.#done = undefined
    this.#exchanges.delete(this)
    this.#origin.active--
    this.#origin.lastUsedMs = performance.now()
    done(answer ? undefined : (error ?? new OutboundError('refused')), answer)
  }

  /** Ends the call now. A status that has arrived is still the answer. */
  stop(error: OutboundError): void {
    const answer = this.connection?.answer()
    this.#origin.drop(this)
    this.end(error, answer)
  }
}
