import {
  AREA_LETTERS,
  BURST_SECONDS,
  LIMITS,
  type Operation,
  RATES,
  type Rate,
  type RateName,
  WRONG_KEY_CHECKS,
} from '@ostiary/contract'
import type { FastifyReply, FastifyRequest, onRequestHookHandler, preValidationHookHandler } from 'fastify'
import type { Clock } from '../platform/clock.ts'
import { AppError } from '../platform/errors.ts'
import type { Metrics } from '../platform/metrics.ts'
import { networkOf, type RateLimiter } from '../platform/rate-limit.ts'
import { createRequestSlot } from '../platform/request-slot.ts'
import { ANONYMOUS, type Caller } from './key.ts'
import type { KeyService } from './service.ts'
import { hasStrayCredential } from './stray-credential.ts'

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
  /** The same for an area that takes the key in the body field `api_key` too: runs when the body is read. */
  afterBody(op: Operation, rate: RateName): preValidationHookHandler
  /** For such an area, before the body is read: a wrong key in the header is refused without reading a megabyte. */
  headerFirst(op: Operation, kind: 'afterBody' | 'keyCheck'): onRequestHookHandler
  /** The same for the check of a key itself: an address that tries many wrong ones is sent away for a while. */
  keyCheck(op: Operation, rate: RateName): preValidationHookHandler
  /** For routes that need no key: a wrong one that is sent is refused all the same. */
  refuseWrongKey: onRequestHookHandler
}

const callers = createRequestSlot<Caller>('caller')

const presentedKeys = createRequestSlot<string>('presented key')

/** The key itself, for what must be computed with it. Only behind `afterBody`. */
export function presentedKeyOf(request: FastifyRequest): string {
  const key = presentedKeys.get(request)
  if (key === undefined) throw new Error('The route has no guard')
  return key
}

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
  function identify(request: FastifyRequest, op: Access, presented: unknown): Caller | Promise<Caller> {
    if (presented === undefined || presented === '') {
      if (op.auth === 'required' || authRequiredAreas.has(op.area)) {
        throw new AppError('unauthenticated', 'MISSING_API_KEY', 'Missing API key')
      }
      if (OPEN_AREAS.has(op.area) && hasStrayCredential(request)) {
        throw new AppError(
          'unauthenticated',
          'MISSING_API_KEY',
          'Missing API key: it is read from the header x-api-key',
        )
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
    const rates: { live: Rate; test: Rate; anonymous?: Rate } = RATES[rate]
    const { perSecond: basic, burstSeconds = BURST_SECONDS }: Rate = rates[kind] ?? { perSecond: 0 }
    const perSecond = basic * caller.rateFactor
    if (perSecond === Number.POSITIVE_INFINITY) return undefined
    const who = caller.keyId ?? networkOf(request.ip)
    const verdict = limiter.take(`${rate}/${who}`, perSecond, clock.monotonicMs(), burstSeconds)
    reply.header('ratelimit-policy', `"${rate}";q=${Math.round(perSecond * burstSeconds)};w=${burstSeconds}`)
    reply.header('ratelimit', `"${rate}";r=${verdict.remaining};t=${verdict.resetSeconds}`)
    if (verdict.allowed) return undefined
    metrics.rateLimited.count(op.operationId)
    const { retryAfterSeconds } = verdict
    return new AppError('rate_limited', 'RATE_LIMITED', 'Too many requests', { retryAfterSeconds })
  }

  /** The usual case has its answer at once; a promise for it would cost more than the check. */
  function whenIdentified(
    request: FastifyRequest,
    op: Access,
    presented: unknown,
    then: (error?: Error, caller?: Caller) => void,
  ): void {
    let caller: Caller | Promise<Caller>
    try {
      caller = identify(request, op, presented)
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

  /** A wrong key is one more guess of this address; the eleventh in a minute gets another answer. */
  function countGuess(request: FastifyRequest, op: Operation, error: Error | undefined): Error | undefined {
    const wrong = error instanceof AppError && (error.fault === 'unauthenticated' || error.fault === 'forbidden')
    if (!wrong || error.code === 'MISSING_API_KEY') return error
    const { perSecond, burstSeconds } = WRONG_KEY_CHECKS
    const guesses = `key-checks/${networkOf(request.ip)}`
    const { allowed, retryAfterSeconds } = limiter.take(guesses, perSecond, clock.monotonicMs(), burstSeconds)
    if (allowed) return error
    metrics.rateLimited.count(op.operationId)
    return new AppError('rate_limited', 'RATE_LIMITED', 'Too many wrong API keys', { retryAfterSeconds })
  }

  function checkAfterBody(
    op: Operation,
    rate: RateName,
    refuse: (request: FastifyRequest, error: Error | undefined) => Error | undefined,
  ): preValidationHookHandler {
    return (request, reply, done) => {
      const presented = keyInHeaderOrBody(request)
      whenIdentified(request, op, presented, (error, caller) => {
        if (!caller) return done(refuse(request, error))
        callers.set(request, caller)
        presentedKeys.set(request, String(presented))
        done(limit(request, reply, op, rate))
      })
    }
  }

  return {
    before: (op, rate) => (request, reply, done) => {
      whenIdentified(request, op, keyInHeaders(request, op), (error, caller) => {
        if (!caller) return done(error)
        callers.set(request, caller)
        done(limit(request, reply, op, rate))
      })
    },
    afterBody: (op, rate) => checkAfterBody(op, rate, (_request, error) => error),
    headerFirst: (op, kind) => (request, _reply, done) => {
      const presented = request.headers['x-api-key']
      if (presented === undefined || presented === '') return done()
      whenIdentified(request, op, presented, (error) =>
        done(kind === 'keyCheck' ? countGuess(request, op, error) : error),
      )
    },
    keyCheck: (op, rate) => checkAfterBody(op, rate, (request, error) => countGuess(request, op, error)),
    refuseWrongKey: (request, _reply, done) => {
      whenIdentified(request, KEYLESS, request.headers['x-api-key'], (error) => {
        // Whether the key is right cannot be told while the store is away; the health check must answer then.
        const cannotTell = error instanceof AppError && error.fault === 'unavailable'
        done(cannotTell ? undefined : error)
      })
    },
  }
}

/** Area D takes the key by another spelling too. It gets lost behind some proxies, so the usual one is better. */
function keyInHeaders({ headers }: FastifyRequest, { area }: Access): unknown {
  const usual = headers['x-api-key']
  const other = area === AREA_LETTERS.verification ? headers.x_api_key : undefined
  if (other === undefined || other === '') return usual
  return usual === undefined || usual === '' || usual === other ? other : NO_KEY
}

/** Two keys that differ are refused like a wrong one: whose data is meant cannot be told. */
function keyInHeaderOrBody({ headers, body }: FastifyRequest): unknown {
  const inHeader = headers['x-api-key']
  const inBody = typeof body === 'object' && body !== null && 'api_key' in body ? body.api_key : undefined
  if (inBody === undefined || inBody === null || inBody === '') return inHeader
  if (inHeader === undefined || inHeader === '' || inHeader === inBody) return inBody
  return NO_KEY
}

/** Passes for a key that is there and is none. */
const NO_KEY = Symbol('no key')

/** Where an anonymous call stores or reads what all such callers share. In area C the token is the right to read. */
const OPEN_AREAS: ReadonlySet<string> = new Set([AREA_LETTERS.strings, AREA_LETTERS.sanctions])

type Access = Pick<Operation, 'auth' | 'area' | 'scope'>
const KEYLESS = { auth: 'none', area: '-' } as const
