import type { LookupFunction } from 'node:net'
import { type Dispatcher, Pool } from 'undici'
import { isAllowedAddress, parseNetworks } from './address.ts'
import { OutboundError, type OutboundReason, RESOLVED } from './index.ts'
import { createResolver, type Lookup } from './resolver.ts'
import { checkTarget, type TargetVerdict } from './target.ts'

/**
 * The way out for many small calls to the same places: webhooks. As guarded as `createOutbound` and much cheaper,
 * because connections are kept. The text of every URL is checked, and every connection goes to an address that was checked when its name was resolved.
 * No redirects, no proxies, no cookies; of an answer's body only so much is read that the connection can be used again.
 */
export interface PooledOutbound {
  /** Rejects with an OutboundError. Every status is an answer; nothing is followed. */
  post(request: PooledRequest): Promise<PooledAnswer>
  /** Ends everything that is under way. */
  close(): Promise<void>
  /** Origins with connections. */
  origins(): number
}

export interface PooledRequest {
  url: string
  allowHttp: boolean
  /** Names and values in turn. Their characters and the rules about them are the caller's to check; `host` is refused. */
  headers: string[]
  body: Buffer
}

export interface PooledAnswer {
  status: number
  retryAfter: string | undefined
}

export interface PooledOptions {
  /** Networks that may be called although they are not public. */
  allowNetworks: readonly string[]
  /** For everything together: name, connection, request, and as much of the body as is read. */
  timeoutMs?: number
  /** A longer body ends the connection; its status counts all the same. */
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
const MAX_HEADER_BYTES = 16_384

export function createPooledOutbound(options: PooledOptions): PooledOutbound {
  const { timeoutMs = 10_000, answerBytes = 4_096, connectionsPerOrigin = 64, maxOrigins = 2_000 } = options
  const policy = { allowHttp: true, allowNetworks: parseNetworks(options.allowNetworks) }
  const origins = new Map<string, Origin>()
  const targets = new Map<string, Target>()
  // In the order of their beginning, and all have the same time: the first is the first to be late.
  const exchanges = new Set<Exchange>()
  const connect = {
    lookup: guardedLookup(options.lookup ?? createResolver(), (address) =>
      isAllowedAddress(address, policy.allowNetworks),
    ),
    timeout: timeoutMs,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2' as const,
    ...(options.ca !== undefined && { ca: options.ca }),
  }

  function targetOf(url: string): Target {
    const known = targets.get(url)
    if (known) return known
    const checked = allowed(checkTarget(url, policy))
    const target = {
      origin: checked.origin,
      path: checked.pathname + checked.search,
      isHttp: checked.protocol === 'http:',
    }
    // The oldest goes: URLs that are in use come back at once.
    if (targets.size >= MAX_TARGETS) deleteFirst(targets)
    targets.set(url, target)
    return target
  }

  /** The map is kept in the order of the last use. */
  function originOf(name: string): Origin {
    const known = origins.get(name)
    if (known) {
      origins.delete(name)
      origins.set(name, known)
      return known
    }
    if (origins.size >= maxOrigins) dropIdle(Number.POSITIVE_INFINITY, 1)
    const pool = new Pool(name, {
      connect,
      connections: connectionsPerOrigin,
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      // One clock for all, below: these would cost a timer each.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const origin = { pool, active: 0, lastUsedMs: performance.now() }
    origins.set(name, origin)
    return origin
  }

  /** Closes what nobody uses and nobody has used since a moment, those that were used longest ago first. */
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
    post({ url, allowHttp, headers, body }) {
      return new Promise((resolve, reject) => {
        const target = targetOf(url)
        if (target.isHttp && !allowHttp) throw new OutboundError('forbidden_target', { code: 'scheme' })
        refuseHost(headers)
        const origin = originOf(target.origin)
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

/** One request from its beginning to its end. What undici calls; a class, because there are many and all are alike. */
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

  /** Ends it now. A status that has arrived counts, whatever became of the rest. */
  stop(error: OutboundError): void {
    this.#end(error)
    this.#controller?.abort(error)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // It waited for a connection for too long.
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
    // 100 to 199 announce an answer that is still to come.
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
    this.#end(explain(error))
  }

  #end(error: OutboundError | undefined): void {
    const settle = this.#settle
    this.#settle = undefined
    settle?.(error, this.#answer)
  }
}

/** All addresses must be allowed: a name that has both kinds is a trap. What comes out is what the connection goes to. */
function guardedLookup(lookup: Lookup, isAllowed: (address: string) => boolean): LookupFunction {
  // A name that is asked for already is not asked for again.
  const asking = new Map<string, Promise<readonly string[]>>()

  function addressesOf(host: string): Promise<readonly string[]> {
    let asked = asking.get(host)
    if (!asked) {
      asked = lookup(host).finally(() => asking.delete(host))
      asking.set(host, asked)
    }
    return asked
  }

  return (host, options, callback) => {
    const refuse = (error: OutboundError) => callback(error, [])
    addressesOf(host).then(
      (found) => {
        const [first] = found
        if (first === undefined) return refuse(new OutboundError('dns'))
        if (!found.every(isAllowed)) return refuse(new OutboundError('forbidden_address', { code: RESOLVED }))
        if (options.all) callback(null, found.map(withFamily))
        else callback(null, first, withFamily(first).family)
      },
      () => refuse(new OutboundError('dns')),
    )
  }
}

function withFamily(address: string): { address: string; family: number } {
  return { address, family: address.includes(':') ? 6 : 4 }
}

function allowed(verdict: TargetVerdict): URL {
  if (verdict.ok) return verdict.url
  const reason = verdict.reason === 'address' ? 'forbidden_address' : 'forbidden_target'
  throw new OutboundError(reason, { code: verdict.reason })
}

/** Another host in the header would be another name in the certificate's check. */
function refuseHost(headers: readonly string[]): void {
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') throw new TypeError('the header host is not the caller’s')
  }
}

const TLS_CODES = /^(?:CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|EPROTO)/

/** Nothing of what the other side sent: errors of parsers quote bytes. */
function explain(error: Error & { code?: unknown }): OutboundError {
  if (error instanceof OutboundError) return error
  const code = typeof error.code === 'string' ? error.code : undefined
  return new OutboundError(reasonOf(code), { code })
}

function reasonOf(code: string | undefined): OutboundReason {
  if (code === undefined) return 'refused'
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'timeout'
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'too_large'
  return TLS_CODES.test(code) ? 'tls' : 'refused'
}

function deleteFirst(entries: Map<string, unknown>): void {
  const [first] = entries.keys()
  if (first !== undefined) entries.delete(first)
}
