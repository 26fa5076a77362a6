import { NODE_LIMITS } from '@ostiary/contract'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createRequestSlot } from './request-slot.ts'

const PLAIN = new RegExp(`^[A-Za-z0-9._:-]{1,${NODE_LIMITS.correlationIdChars}}$`)
const correlationIds = createRequestSlot<string>('correlation id')

/** The caller's own id for tracking, when it is one that may stand in a log line. */
export function correlationIdOf(request: FastifyRequest): string | undefined {
  return correlationIds.get(request)
}

/** Takes `x-correlation-id` on this instance's routes: it is echoed and stands in the log line. */
export function trackCorrelation(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const id = request.headers['x-correlation-id']
    if (typeof id === 'string' && PLAIN.test(id)) {
      correlationIds.set(request, id)
      reply.header('x-correlation-id', id)
    }
    done()
  })
}
