import { validateHeaderName, validateHeaderValue } from 'node:http'
import { BoundedMap } from '../bounded-map.ts'
import { OutboundError } from './errors.ts'
import { createGuard } from './guard.ts'
import { Origin, type PooledAnswer } from './origin.ts'
import type { Lookup } from './resolver.ts'

export type { PooledAnswer } from './origin.ts'

/**
 * Many small calls to the same origins: webhooks. It uses the same guard (guard.ts) as `createOutbound` and is much cheaper, because
 * connections are kept. No redirects, no proxies, no cookies. It reads the response body to its end and keeps nothing of it.
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
  /** Name, value, name, value. Those that say where a request ends, or to whom it goes, are refused. */
  headers: string[]
  body: Buffer
}

export interface PooledOptions {
  /** Networks that are not public but may be called. */
  allowNetworks: readonly string[]
  /** For everything together: name, connection, request and answer to its end. */
  timeoutMs?: number
  /** A longer body ends the connection, and is no success. */
  answerBytes?: number
  /** Enough for all that one worker can send while others rest. */
  connectionsPerOrigin?: number
  /** Origins that may have connections at once. */
  maxOrigins?: number
  /** All addresses of a name. */
  lookup?: Lookup
  /** Certificate authorities to trust instead of the usual ones. */
  ca?: string
}

interface Target {
  origin: string
  path: string
  isHttp: boolean
}

const IDLE_ORIGIN_MS = 60_000
const IDLE_EVERY_MS = 5_000
const MAX_TARGETS = 5_000
/** How long one address is tried when the name has several. Short, because a delivery that waits occupies its lane. */
const ADDRESS_MS = 250
/** Headers that say where a request ends, or to whom it goes. They are ours to set. */
const OWN_HEADERS =
  /^(host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/i

export function createPooledOutbound(options: PooledOptions): PooledOutbound {
  const { timeoutMs = 10_000, answerBytes = 1_048_576, connectionsPerOrigin = 512, maxOrigins = 2_000 } = options
  const guard = createGuard({ ...options, allowHttp: true })
  const limits = { timeoutMs, answerBytes, connections: connectionsPerOrigin }
  /** In the order of the last use. */
  const origins = new Map<string, Origin>()
  const targets = new BoundedMap<string, Target>(MAX_TARGETS)

  function targetOf(url: string): Target {
    const known = targets.get(url)
    if (known) return known
    const { origin, pathname, search, protocol } = guard.allow(url)
    const target = { origin, path: pathname + search, isHttp: protocol === 'http:' }
    targets.set(url, target)
    return target
  }

  function originOf(url: string, owner: string): Origin {
    const name = `${owner} ${url}`
    let origin = origins.get(name)
    origins.delete(name)
    if (!origin) {
      if (origins.size >= maxOrigins) dropIdle(Number.POSITIVE_INFINITY, 1)
      origin = new Origin(url, guard.connector({ timeoutMs, addressMs: ADDRESS_MS, owner }), limits)
    }
    origins.set(name, origin)
    return origin
  }

  /** Closes origins without a call under way that were last used before `beforeMs`, the least recently used ones first. */
  function dropIdle(beforeMs: number, atMost: number): void {
    let left = atMost
    for (const [name, origin] of origins) {
      if (left === 0) return
      if (origin.isActive() || origin.lastUsedMs > beforeMs) continue
      origins.delete(name)
      origin.close()
      left--
    }
  }

  const idle = setInterval(
    () => dropIdle(performance.now() - IDLE_ORIGIN_MS, Number.POSITIVE_INFINITY),
    IDLE_EVERY_MS,
  ).unref()

  return {
    async post({ owner, url, allowHttp, headers, body }) {
      const { origin, path, isHttp } = targetOf(url)
      if (isHttp && !allowHttp) throw new OutboundError('forbidden_target', { code: 'scheme' })
      checkHeaders(headers)
      return originOf(origin, owner).post(path, headers, body)
    },
    async close() {
      clearInterval(idle)
      for (const origin of origins.values()) origin.close()
      origins.clear()
    },
    origins: () => origins.size,
  }
}

/** A line break in one of them would begin a header, or a request, of somebody else. */
function checkHeaders(headers: readonly string[]): void {
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? ''
    validateHeaderName(name)
    validateHeaderValue(name, headers[at + 1] ?? '')
    if (OWN_HEADERS.test(name)) throw new TypeError(`the header ${name} is not the caller’s`)
  }
}
