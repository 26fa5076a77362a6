import { BURST_SECONDS, LIMITS, type Operation, RATES, type RateName } from '@ostiary/contract'
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Clock } from '../platform/clock.ts'
import { AppError } from '../platform/errors.ts'
import type { Metrics } from '../platform/metrics.ts'
import { networkOf, type RateLimiter } from '../platform/rate-limit.ts'
import { createRequestSlot } from '../platform/request-slot.ts'
import { ANONYMOUS, type Caller } from './key.ts'
import type { KeyService } from './service.ts'

interface Deps {
  keys: KeyService
  limiter: RateLimiter
  clock: Clock
  metrics: Metrics
  authRequiredAreas: ReadonlySet<string>
}

export interface Guard {
  /** The hook that stands before a route: who is calling, may they, and how often. */
  before(op: Operation, rate: RateName): onRequestHookHandler
  /** For routes that need no key: a wrong one that is sent is refused all the same. */
  refuseWrongKey: onRequestHookHandler
}

const callers = createRequestSlot<Caller>('caller')

/** The caller that the guard let in. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = callers.get(request)
  if (!caller) throw new Error('The route has no guard')
  return caller
}

export function findCaller(request: FastifyRequest): Caller | undefined {
  return callers.get(request)
}

export function createGuard({ keys, limiter, clock, metrics, authRequiredAreas }: Deps): Guard {
  /** A key that is sent is always checked, so a wrong one is refused even where none is needed. */
  function identify(request: FastifyRequest, op: Access): Caller | Promise<Caller> {
    const presented = request.headers['x-api-key']
    if (presented === undefined || presented === '') {
      if (op.auth === 'required' || authRequiredAreas.has(op.area)) {
        throw new AppError('unauthenticated', 'MISSING_API_KEY', 'Missing API key')
      }
      return ANONYMOUS
    }
    if (typeof presented !== 'string' || presented.length > LIMITS.apiKeyHeaderChars) {
      throw new AppError('unauthenticated', 'INVALID_API_KEY', 'Invalid API key')
    }
    return keys.check(presented, { scope: op.scope, address: request.ip })
  }

  /** Counts the request and tells the caller where they stand; returns the refusal when it is one too many. */
  function limit(request: FastifyRequest, reply: FastifyReply, op: Operation, rate: RateName): AppError | undefined {
    const caller = callerOf(request)
    const kind = caller.keyId === undefined ? 'anonymous' : caller.livemode ? 'live' : 'test'
    const perSecond = RATES[rate][kind].perSecond * caller.rateFactor
    if (perSecond === Number.POSITIVE_INFINITY) return undefined
    const verdict = limiter.take(`${rate}/${caller.keyId ?? networkOf(request.ip)}`, perSecond, clock.monotonicMs())
    reply.header('ratelimit-policy', `"${rate}";q=${perSecond * BURST_SECONDS};w=${BURST_SECONDS}`)
    reply.header('ratelimit', `"${rate}";r=${verdict.remaining};t=${verdict.resetSeconds}`)
    if (verdict.allowed) return undefined
    metrics.rateLimited.count(op.operationId)
    const { retryAfterSeconds } = verdict
    return new AppError('rate_limited', 'RATE_LIMITED', 'Too many requests', { retryAfterSeconds })
  }

  /** The usual case has its answer at once; a promise for it would cost more than the check. */
  function whenIdentified(request: FastifyRequest, op: Access, then: (error?: Error, caller?: Caller) => void): void {
    let caller: Caller | Promise<Caller>
    try {
      caller = identify(request, op)
    } catch (error) {
      then(error as Error)
      return
    }
    if (!(caller instanceof Promise)) then(undefined, caller)
    else
      caller.then(
        (found) => then(undefined, found),
        (error: Error) => then(error),
      )
  }

  return {
    before: (op, rate) => (request, reply, done) => {
      whenIdentified(request, op, (error, caller) => {
        if (!caller) return done(error)
        callers.set(request, caller)
        done(limit(request, reply, op, rate))
      })
    },
    refuseWrongKey: (request, _reply, done) => {
      whenIdentified(request, KEYLESS, (error) => {
        // Whether the key is right cannot be told while the store is away; the health check must answer then.
        const cannotTell = error instanceof AppError && error.fault === 'unavailable'
        done(cannotTell ? undefined : error)
      })
    },
  }
}

type Access = Pick<Operation, 'auth' | 'area' | 'scope'>
const KEYLESS = { auth: 'none', area: '-' } as const
