import { AREA_LETTERS, BURST_SECONDS, LIMITS, type Operation, RATES, type Rate, type RateName } from '@ostiary/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../platform/clock.ts'
import { AppError } from '../platform/errors.ts'
import type { FailureLimits } from '../platform/failure-limits/index.ts'
import type { Metrics } from '../platform/metrics.ts'
import { networksOf } from '../platform/networks.ts'
import type { RateLimiter } from '../platform/rate-limit.ts'
import { createRequestSlot } from '../platform/request-slot.ts'
import type { Check } from '../platform/route.ts'
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
  before(op: Operation, rate: RateName): Check
  /** The same for an area that also accepts the key in the body field `api_key`. It runs after the body is read. */
  afterBody(op: Operation, rate: RateName): Check
  /** For such an area, before the body is read: refuses a wrong key in the header without reading a megabyte. */
  headerFirst(op: Operation, kind: 'afterBody' | 'keyCheck'): Check
  /** The same for the operation that checks a key. An address that tries many wrong keys is blocked for a while. */
  keyCheck(op: Operation, rate: RateName): Check
  /** For routes that need no key: refuses a wrong key. */
  refuseWrongKey: Check
  /** Gives back what a refused request cost of its rate, within an allowance for refusals: else they would cost nothing at all. */
  giveBack(request: FastifyRequest, rate: RateName, refusals: Rate): void
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
  async function identify(request: FastifyRequest, op: Access, presented: unknown): Promise<Caller> {
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
    const caller = await keys.check(presented, { scope: op.scope, address: request.ip })
    const tenantId = boundTenantOf(request)
    // At a host name that belongs to a tenant, a key of another one is as wrong as one that does not exist.
    if (tenantId !== undefined && caller.tenantId !== tenantId) {
      throw new AppError('unauthenticated', 'INVALID_API_KEY', 'Invalid API key')
    }
    return caller
  }

  /** What a request counts against: its key, or the networks of its address. */
  function allowanceOf(request: FastifyRequest, rate: RateName, caller: Caller) {
    const kind = caller.keyId === undefined ? 'anonymous' : caller.livemode ? 'live' : 'test'
    const rates: { live: Rate; test: Rate; anonymous?: Rate } = RATES[rate]
    const { perSecond, burstSeconds = BURST_SECONDS }: Rate = rates[kind] ?? { perSecond: 0 }
    const shares = (name: string) =>
      caller.keyId === undefined ? networksOf(request.ip, name) : [{ name: `${name}/${caller.keyId}`, factor: 1 }]
    const table = caller.keyId === undefined ? addressLimiter : limiter
    return { table, shares, perSecond: perSecond * caller.rateFactor, burstSeconds }
  }

  /** Lets the caller in, unless the rate limit is exceeded. Counts the request and sets the rate-limit headers. */
  function admit(request: FastifyRequest, reply: FastifyReply, op: Operation, rate: RateName, caller: Caller): void {
    callers.set(request, caller)
    const { table, shares, perSecond, burstSeconds } = allowanceOf(request, rate, caller)
    if (perSecond === Number.POSITIVE_INFINITY) return
    const verdict = table.take(shares(rate), perSecond, clock.monotonicMs(), burstSeconds)
    reply.header('ratelimit-policy', `"${rate}";q=${Math.round(perSecond * burstSeconds)};w=${burstSeconds}`)
    reply.header('ratelimit', `"${rate}";r=${verdict.remaining};t=${verdict.resetSeconds}`)
    if (verdict.allowed) return
    metrics.rateLimited.count(op.operationId)
    const { retryAfterSeconds } = verdict
    const details = op.rateNote === undefined ? {} : { details: [{ pointer: '', message: op.rateNote }] }
    throw new AppError('rate_limited', 'RATE_LIMITED', 'Too many requests', { retryAfterSeconds, ...details })
  }

  /** The same for an operation that checks keys: a wrong one is a guess of this address. From the eleventh in a minute on the answer is 429. */
  async function identifyOrCount(request: FastifyRequest, op: Operation, presented: unknown): Promise<Caller> {
    try {
      return await identify(request, op, presented)
    } catch (error) {
      const wrong = error instanceof AppError && (error.fault === 'unauthenticated' || error.fault === 'forbidden')
      if (!wrong || error.code === 'MISSING_API_KEY') throw error
      const retryAfterSeconds = await failureLimits.count({ limit: 'key-checks', against: networksOf(request.ip) })
      if (retryAfterSeconds === 0) throw error
      metrics.rateLimited.count(op.operationId)
      throw new AppError('rate_limited', 'RATE_LIMITED', 'Too many wrong API keys', { retryAfterSeconds })
    }
  }

  function checkAfterBody(op: Operation, rate: RateName, find: typeof identifyOrCount): Check {
    return async (request, reply) => {
      const presented = keyInHeaderOrBody(request)
      const caller = await find(request, op, presented)
      presentedKeys.set(request, String(presented))
      admit(request, reply, op, rate, caller)
    }
  }

  return {
    before: (op, rate) => async (request, reply) => {
      const caller = await identify(request, op, keyInHeaders(request, op))
      admit(request, reply, op, rate, caller)
    },
    afterBody: (op, rate) => checkAfterBody(op, rate, identify),
    headerFirst: (op, kind) => async (request) => {
      const presented = request.headers['x-api-key']
      if (presented === undefined || presented === '') return
      await (kind === 'keyCheck' ? identifyOrCount : identify)(request, op, presented)
    },
    keyCheck: (op, rate) => checkAfterBody(op, rate, identifyOrCount),
    giveBack(request, rate, refusals) {
      const caller = callers.get(request)
      if (!caller) return
      const { table, shares, perSecond } = allowanceOf(request, rate, caller)
      if (perSecond === Number.POSITIVE_INFINITY) return
      const now = clock.monotonicMs()
      if (!table.take(shares(`${rate}-refused`), refusals.perSecond, now, refusals.burstSeconds).allowed) return
      for (const { name, factor } of shares(rate)) table.owe(name, -1000 / (perSecond * factor), now)
    },
    refuseWrongKey: async (request) => {
      try {
        await identify(request, KEYLESS, request.headers['x-api-key'])
      } catch (error) {
        // The key cannot be checked while the store is away, but the health check must answer then.
        if (!(error instanceof AppError && error.fault === 'unavailable')) throw error
      }
    },
  }
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
