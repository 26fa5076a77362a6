import {
  cancelVerification,
  clearLockout,
  confirmVerification,
  createVerification,
  deleteVerification,
  findLockout,
  getVerification,
  getVerificationWebhook,
  listVerifications,
  type Operation,
} from '@ostiary/contract'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type ClientGate, callerOf, type Guard } from '../keys/index.ts'
import { readIdempotencyKey } from '../platform/idempotency/index.ts'
import type { Metrics } from '../platform/metrics.ts'
import { type Check, route } from '../platform/route.ts'
import { ignoredFieldWarnings, NO_REDIRECT_LIST_WARNING } from '../settings/index.ts'
import type { Freeing } from './freeing.ts'
import type { VerificationService } from './service.ts'

interface Deps {
  verification: VerificationService
  freeing: Freeing
  guard: Guard
  credentials: ClientGate
  metrics: Metrics
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** The tenant stores tokens, and the host does not say whom the face is compared with. */
const NO_HINT_WARNING = 'sign-in-needs-hint'

export async function verificationRoutes(
  app: FastifyInstance,
  { verification, freeing, guard, credentials, metrics }: Deps,
): Promise<void> {
  /** The key names the account, the credentials name the caller; both are checked before the body is read. */
  function guarded(
    op: Operation,
    rate: 'verify-create' | 'verify-read' | `session-${'list' | 'confirm' | 'cancel'}`,
  ): Check {
    const before = guard.before(op, rate)
    return async (request, reply) => {
      await before(request, reply)
      await credentials.check(request, callerOf(request))
    }
  }

  route(app, createVerification, {
    guard: guarded(createVerification, 'verify-create'),
    async handler(request, reply) {
      const caller = callerOf(request)
      const repeat = readIdempotencyKey(request, createVerification.operationId, caller.livemode)
      const { created, replayed, locale, unlisted, lacksHint } = await verification.create(caller, {
        body: request.body,
        repeat,
      })
      if (replayed) {
        metrics.idempotentReplays.count(createVerification.operationId)
        reply.header('idempotency-replayed', 'true')
      }
      if (locale !== null) reply.header('content-language', locale)
      const warnings = [
        ...(unlisted ? [NO_REDIRECT_LIST_WARNING] : []),
        ...(lacksHint ? [NO_HINT_WARNING] : []),
        ...ignoredFieldWarnings(request.body),
      ]
      if (warnings.length > 0) reply.header('x-config-warning', warnings.join(', '))
      return reply.code(201).header('location', `${createVerification.path}/${created.sessionId}`).send(created)
    },
  })
  route(app, getVerification, {
    guard: guarded(getVerification, 'verify-read'),
    handler: (request) => verification.get(callerOf(request), request.params.sessionId),
  })
  route(app, listVerifications, {
    guard: guarded(listVerifications, 'session-list'),
    handler(request) {
      const { transactionID, ...query } = request.query
      return verification.list(callerOf(request), query, transactionID)
    },
  })
  route(app, getVerificationWebhook, {
    guard: guarded(getVerificationWebhook, 'verify-read'),
    handler: async (request, reply) =>
      sendBytes(reply, await verification.webhook(callerOf(request), request.params.sessionId)),
  })
  route(app, cancelVerification, {
    guard: guarded(cancelVerification, 'session-cancel'),
    handler: async (request, reply) =>
      sendBytes(reply, await verification.cancel(callerOf(request), request.params.sessionId)),
  })
  route(app, confirmVerification, {
    guard: guarded(confirmVerification, 'session-confirm'),
    async handler(request, reply) {
      const caller = callerOf(request)
      const repeat = readIdempotencyKey(request, confirmVerification.operationId, caller.livemode)
      const { code } = request.body
      const { confirmed, replayed } = await verification.confirm(caller, request.params.sessionId, { code, repeat })
      if (replayed) reply.header('idempotency-replayed', 'true')
      return confirmed
    },
  })
  route(app, findLockout, {
    guard: guarded(findLockout, 'session-list'),
    handler: (request) => freeing.find(callerOf(request), request.body),
  })
  route(app, clearLockout, {
    guard: guarded(clearLockout, 'session-list'),
    handler: (request) => freeing.clear(callerOf(request), request.body),
  })
  route(app, deleteVerification, {
    guard: guarded(deleteVerification, 'verify-create'),
    async handler(request, reply) {
      await verification.erase(callerOf(request), request.params.sessionId)
      return reply.code(204).send()
    },
  })
}

const sendBytes = (reply: FastifyReply, bytes: Buffer) => reply.header('content-type', JSON_TYPE).send(bytes)
