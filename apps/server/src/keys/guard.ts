import { AREA_LETTERS, BURST_SECONDS, LIMITS, type Operation, RATES, type Rate, type RateName } from '@ostiary/contract'
import type { FastifyReply, FastifyRequest, onRequestHookHandler, preValidationHookHandler } from 'fastify'
import type { Clock } from '../platform/clock.ts'
import { AppError } from '../platform/errors.ts'
import type { FailureLimits } from '../platform/failure-limits/index.ts'
import type { Metrics } from '../platform/metrics.ts'
import { networksOf } from '../platform/networks.ts'
import type { RateLimiter } from '../platform/rate-limit.ts'
import { createRequestSlot } from '../platform/request-slot.ts'
import { boundTenantOf } from './host-gate.ts'
import { ANONYMOUS, type Caller } from './key.ts'
import type { KeyService } from './service.ts'
import { hasStrayCredential } from './stray-credential.ts'

interface Deps {
  keys: KeyService
  limiter: RateLimiter
  addressLimiter: RateLimiter
  failureLimits: FailureLimits
  clock: Clock
  metrics: Metrics
  authRequiredAreas: ReadonlySet<string>
}

export interface Guard {
  /** The hook before a route. It identifies the caller and checks the scope and the rate limit. */
  before(op: Operation, rate: RateName): onRequestHookHandler
  /** The same for an area that also accepts the key in the body field `api_key`. It runs after the body is read. */
  afterBody(op: Operation, rate: RateName): preValidationHookHandler
  /** For such an area, before the body is read: refuses a wrong key in the header without reading a megabyte. */
  headerFirst(op: Operation, kind: 'afterBody' | 'keyCheck'): onRequestHookHandler
  /** The same for the operation that checks a key. An address that tries many wrong keys is blocked for a while. */
  keyCheck(op: Operation, rate: RateName): preValidationHookHandler
  /** For routes that need no key: refuses a wrong key. */
  refuseWrongKey: onRequestHookHandler
}

const callers = createRequestSlot<Caller>('caller')

const presentedKeys = createRequestSlot<string>('presented key')

/** The key in clear, for computations with it. Only available behind `afterBody`. */
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

export function createGuard({
  keys,
  limiter,
  addressLimiter,
  failureLimits,
  clock,
  metrics,
  authRequiredAreas,
}: Deps): Guard {
  /** A key in a request is always checked, so a wrong one is refused even where no key is required. */
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
    const caller = keys.check(presented, { scope: op.scope, address: request.ip })
    const tenantId = boundTenantOf(request)
    if (tenantId === undefined) return caller
    return caller instanceof Promise ? caller.then((found) => onlyOf(tenantId, found)) : onlyOf(tenantId, caller)
  }

  /** Counts the request and sets the rate-limit headers; returns the refusal when the limit is exceeded. */
  function limit(request: FastifyRequest, reply: FastifyReply, op: Operation, rate: RateName): AppError | undefined {
    const caller = callerOf(request)
    const kind = caller.keyId === undefined ? 'anonymous' : caller.livemode ? 'live' : 'test'
    const rates: { live: Rate; test: Rate; anonymous?: Rate } = RATES[rate]
    const { perSecond: basic, burstSeconds = BURST_SECONDS }: Rate = rates[kind] ?? { perSecond: 0 }
    const perSecond = basic * caller.rateFactor
    if (perSecond === Number.POSITIVE_INFINITY) return undefined
    const verdict =
      caller.keyId === undefined
        ? addressLimiter.take(networksOf(request.ip, rate), perSecond, clock.monotonicMs(), burstSeconds)
        : limiter.take(`${rate}/${caller.keyId}`, perSecond, clock.monotonicMs(), burstSeconds)
    reply.header('ratelimit-policy', `"${rate}";q=${Math.round(perSecond * burstSeconds)};w=${burstSeconds}`)
    reply.header('ratelimit', `"${rate}";r=${verdict.remaining};t=${verdict.resetSeconds}`)
    if (verdict.allowed) return undefined
    metrics.rateLimited.count(op.operationId)
    const { retryAfterSeconds } = verdict
    const details = op.rateNote === undefined ? {} : { details: [{ pointer: '', message: op.rateNote }] }
    return new AppError('rate_limited', 'RATE_LIMITED', 'Too many requests', { retryAfterSeconds, ...details })
  }

  /** The usual case is answered synchronously; a promise would cost more than the check. */
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

  /** Counts a wrong key as a guess of this address. From the eleventh in a minute on the answer is 429. */
  async function countGuess(
    request: FastifyRequest,
    op: Operation,
    error: Error | undefined,
  ): Promise<Error | undefined> {
    const wrong = error instanceof AppError && (error.fault === 'unauthenticated' || error.fault === 'forbidden')
    if (!wrong || error.code === 'MISSING_API_KEY') return error
    const guess = { limit: 'key-checks', against: networksOf(request.ip) } as const
    const retryAfterSeconds = await failureLimits.count(guess)
    if (retryAfterSeconds === 0) return error
    metrics.rateLimited.count(op.operationId)
    return new AppError('rate_limited', 'RATE_LIMITED', 'Too many wrong API keys', { retryAfterSeconds })
  }

  function checkAfterBody(
    op: Operation,
    rate: RateName,
    refuse: (request: FastifyRequest, error: Error | undefined, done: (error?: Error) => void) => void,
  ): preValidationHookHandler {
    return (request, reply, done) => {
      const presented = keyInHeaderOrBody(request)
      whenIdentified(request, op, presented, (error, caller) => {
        if (!caller) return refuse(request, error, done)
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
    afterBody: (op, rate) => checkAfterBody(op, rate, (_request, error, done) => done(error)),
    headerFirst: (op, kind) => (request, _reply, done) => {
      const presented = request.headers['x-api-key']
      if (presented === undefined || presented === '') return done()
      whenIdentified(request, op, presented, (error) => {
        if (kind === 'keyCheck' && error) void countGuess(request, op, error).then(done, done)
        else done(error)
      })
    },
    keyCheck: (op, rate) =>
      checkAfterBody(op, rate, (request, error, done) => void countGuess(request, op, error).then(done, done)),
    refuseWrongKey: (request, _reply, done) => {
      whenIdentified(request, KEYLESS, request.headers['x-api-key'], (error) => {
        // The key cannot be checked while the store is away, but the health check must answer then.
        const cannotCheck = error instanceof AppError && error.fault === 'unavailable'
        done(cannotCheck ? undefined : error)
      })
    },
  }
}

/** At a host name that belongs to a tenant, a key of another one is as wrong as one that does not exist. */
function onlyOf(tenantId: string, caller: Caller): Caller {
  if (caller.tenantId === tenantId) return caller
  throw new AppError('unauthenticated', 'INVALID_API_KEY', 'Invalid API key')
}

/** Area D also accepts the header `x_api_key`. Some proxies drop it, so `x-api-key` is preferred. */
function keyInHeaders({ headers }: FastifyRequest, { area }: Access): unknown {
  const usual = headers['x-api-key']
  const other = area === AREA_LETTERS.verification ? headers.x_api_key : undefined
  if (other === undefined || other === '') return usual
  return usual === undefined || usual === '' || usual === other ? other : NO_KEY
}

/** Two different keys are refused like a wrong one, because the tenant would be ambiguous. */
function keyInHeaderOrBody({ headers, body }: FastifyRequest): unknown {
  const inHeader = headers['x-api-key']
  const inBody = typeof body === 'object' && body !== null && 'api_key' in body ? body.api_key : undefined
  if (inBody === undefined || inBody === null || inBody === '') return inHeader
  if (inHeader === undefined || inHeader === '' || inHeader === inBody) return inBody
  return NO_KEY
}

/** Stands for a key that is present but never valid. */
const NO_KEY = Symbol('no key')

/** Areas where anonymous callers share their data. In area C, reading needs the session's token instead. */
const OPEN_AREAS: ReadonlySet<string> = new Set([AREA_LETTERS.strings, AREA_LETTERS.sanctions])

type Access = Pick<Operation, 'auth' | 'area' | 'scope'>
const KEYLESS = { auth: 'none', area: '-' } as const
