import { createException, deleteException, listExceptions } from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import { callerOf, type Guard } from '../keys/index.ts'
import { readIdempotencyKey } from '../platform/idempotency/index.ts'
import type { Metrics } from '../platform/metrics.ts'
import { route } from '../platform/route.ts'
import type { ExceptionService } from './exceptions.ts'

interface ExceptionDeps {
  exceptions: ExceptionService
  guard: Guard
  metrics: Metrics
}

export async function exceptionRoutes(
  app: FastifyInstance,
  { exceptions, guard, metrics }: ExceptionDeps,
): Promise<void> {
  route(app, createException, {
    guard: guard.before(createException, 'sanctions-manage'),
    async handler(request, reply) {
      const caller = callerOf(request)
      const repeat = readIdempotencyKey(request, createException.operationId, caller.livemode)
      const { record, replayed } = await exceptions.create(caller, request.body, repeat)
      if (replayed) {
        metrics.idempotentReplays.count(createException.operationId)
        reply.header('idempotency-replayed', 'true')
      }
      return reply.code(201).send(record)
    },
  })
  route(app, listExceptions, {
    guard: guard.before(listExceptions, 'sanctions-manage'),
    handler: (request) => exceptions.list(callerOf(request), request.query),
  })
  route(app, deleteException, {
    guard: guard.before(deleteException, 'sanctions-manage'),
    async handler(request, reply) {
      await exceptions.delete(callerOf(request), request.params.id)
      return reply.code(204).send()
    },
  })
}
