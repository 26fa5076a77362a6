import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createRequestSlot } from './request-slot.ts'

const PLAIN = /^[A-Za-z0-9._:-]+$/
const correlationIds = createRequestSlot<string>('correlation id')

/** The caller's own id for tracking, when its characters are safe in a log line. */
export function correlationIdOf(request: FastifyRequest): string | undefined {
  return correlationIds.get(request)
}

/** Reads `x-correlation-id` on the routes of this instance. The id is returned in the response and written to the log line. */
export function trackCorrelation(app: FastifyInstance, maxChars: number): void {
  app.addHook('onRequest', async (request, reply) => {
    const id = request.headers['x-correlation-id']
    if (typeof id === 'string' && id.length <= maxChars && PLAIN.test(id)) {
      correlationIds.set(request, id)
      reply.header('x-correlation-id', id)
    }
  })
}
