import { advanceClock, failDelivery, setOutcome } from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import { callerOf, type Guard } from '../keys/index.ts'
import { route } from '../platform/route.ts'
import type { Sandbox } from './service.ts'

export async function sandboxRoutes(
  app: FastifyInstance,
  { sandbox, guard }: { sandbox: Sandbox; guard: Guard },
): Promise<void> {
  route(app, setOutcome, {
    guard: guard.before(setOutcome, 'sandbox'),
    async handler(request, reply) {
      await sandbox.setOutcome(callerOf(request), request.params.id, request.body)
      return reply.code(204).send()
    },
  })
  route(app, advanceClock, {
    guard: guard.before(advanceClock, 'sandbox'),
    async handler(request, reply) {
      await sandbox.advance(callerOf(request), request.body.seconds)
      return reply.code(204).send()
    },
  })
  route(app, failDelivery, {
    guard: guard.before(failDelivery, 'sandbox'),
    handler: (request) => sandbox.failDelivery(callerOf(request), request.params.id, request.query.times ?? 1),
  })
}
