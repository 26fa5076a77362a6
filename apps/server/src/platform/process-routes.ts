import { getLivez, getReadyz } from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import type { HealthMonitor } from './health.ts'
import { route } from './route.ts'

/** For orchestrators and load balancers; the admin port has the same two. */
export async function processRoutes(app: FastifyInstance, { monitor }: { monitor: HealthMonitor }): Promise<void> {
  route(app, getLivez, { handler: () => ({ status: 'ok' }) })
  route(app, getReadyz, {
    async handler(_request, reply) {
      const status = await monitor.readiness()
      return reply.code(status === 'ok' ? 200 : 503).send({ status })
    },
  })
}
