import {
  cancelSession,
  confirmSession,
  createSession,
  deleteSession,
  getSession,
  getSessionResult,
  listSessions,
  RESULT_POLLS,
} from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import { callerOf, type Guard } from '../keys/index.ts'
import { abortWhenClosed } from '../platform/abort-when-closed.ts'
import type { Clock } from '../platform/clock.ts'
import { AppError } from '../platform/errors.ts'
import { keepRawBody, rawBodyOf } from '../platform/http.ts'
import { readIdempotencyKey } from '../platform/idempotency/index.ts'
import { memberTextOf } from '../platform/json-body.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { RateLimiter } from '../platform/rate-limit.ts'
import { route } from '../platform/route.ts'
import type { TokenVerifier } from '../settings/index.ts'
import { warningsOf } from './request.ts'
import type { AgeService } from './service.ts'

interface Deps {
  age: AgeService
  tokens: TokenVerifier
  guard: Guard
  addressLimiter: RateLimiter
  clock: Clock
  metrics: Metrics
}

const JSON_TYPE = 'application/json; charset=utf-8'
const POLL_AGAIN_SECONDS = '2'

/** Registered twice: at the root and under `/v1`, which is the same version by its full name. */
export async function ageRoutes(
  app: FastifyInstance,
  { age, tokens, guard, addressLimiter, clock, metrics }: Deps,
): Promise<void> {
  keepRawBody(app)
  route(app, createSession, {
    guard: guard.before(createSession, 'age-create'),
    async handler(request, reply) {
      const caller = callerOf(request)
      const { authorization } = request.headers
      const subject = authorization === undefined ? undefined : await tokens.verify(caller.tenantId, authorization)
      const repeat = readIdempotencyKey(request, createSession.operationId, caller.livemode)
      const bytes = rawBodyOf(request)
      const metadataText = bytes && request.body.metadata && memberTextOf(bytes, 'metadata')
      const creation = { body: request.body, metadataText, subjectHash: subject?.subjectHash, repeat }
      const { created, replayed, locale, unlisted } = await age.create(caller, creation)
      if (replayed) {
        metrics.idempotentReplays.count(createSession.operationId)
        reply.header('idempotency-replayed', 'true')
      }
      const warnings = warningsOf(request.body, { unlisted })
      if (warnings.length > 0) reply.header('x-config-warning', warnings.join(', '))
      if (locale !== null) reply.header('content-language', locale)
      return reply.code(201).header('location', `${app.prefix}/session/${created.token}`).send(created)
    },
  })

  route(app, getSessionResult, {
    guard: guard.before(getSessionResult, 'age-read'),
    async handler(request, reply) {
      const { token } = request.params
      const seconds = request.query.wait ?? 0
      const { perSecond } = RESULT_POLLS
      const poll = addressLimiter.take(`result/${token.slice(0, 80)}`, perSecond, clock.monotonicMs())
      if (!poll.allowed) {
        const { retryAfterSeconds } = poll
        throw new AppError('rate_limited', 'RATE_LIMITED', 'Too many reads of this result', { retryAfterSeconds })
      }
      const reading = await age.result(callerOf(request), token, { seconds, signal: abortWhenClosed(reply) })
      if (reading.open) reply.header('retry-after', POLL_AGAIN_SECONDS)
      return reply.header('content-type', JSON_TYPE).send(reading.bytes)
    },
  })
  route(app, getSession, {
    guard: guard.before(getSession, 'age-read'),
    handler: (request) => age.get(callerOf(request), request.params.token),
  })
  route(app, cancelSession, {
    guard: guard.before(cancelSession, 'session-cancel'),
    async handler(request, reply) {
      return reply.header('content-type', JSON_TYPE).send(await age.cancel(callerOf(request), request.params.token))
    },
  })
  route(app, confirmSession, {
    guard: guard.before(confirmSession, 'session-confirm'),
    async handler(request, reply) {
      const caller = callerOf(request)
      const repeat = readIdempotencyKey(request, confirmSession.operationId, caller.livemode)
      const { code } = request.body
      const { confirmed, replayed } = await age.confirm(caller, request.params.token, { code, repeat })
      if (replayed) reply.header('idempotency-replayed', 'true')
      return confirmed
    },
  })
  route(app, deleteSession, {
    guard: guard.before(deleteSession, 'age-create'),
    async handler(request, reply) {
      await age.erase(callerOf(request), request.params.token)
      return reply.code(204).send()
    },
  })
  route(app, listSessions, {
    guard: guard.before(listSessions, 'session-list'),
    handler: (request) => age.list(callerOf(request), request.query),
  })
}
