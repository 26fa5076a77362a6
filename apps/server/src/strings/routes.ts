import {
  AREAS,
  createString,
  deleteString,
  describeService,
  getHealth,
  getString,
  listStrings,
} from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import { callerOf, type Guard } from '../keys/index.ts'
import type { HealthMonitor } from '../platform/health.ts'
import { acceptText } from '../platform/http.ts'
import { readIdempotencyKey } from '../platform/idempotency/index.ts'
import type { Metrics } from '../platform/metrics.ts'
import { route } from '../platform/route.ts'
import type { StringService } from './service.ts'

interface StringDeps {
  strings: StringService
  guard: Guard
  metrics: Metrics
}

/** Registered twice: at the root and under `/v1`, which is the same version by its full name. */
export async function stringRoutes(app: FastifyInstance, { strings, guard, metrics }: StringDeps): Promise<void> {
  acceptText(app, (value) => ({ value }))

  route(app, createString, {
    guard: guard.before(createString, 'strings'),
    async handler(request, reply) {
      const caller = callerOf(request)
      const repeat = readIdempotencyKey(request, createString.operationId, caller.livemode)
      const { record, replayed } = await strings.create(caller, request.body, repeat)
      if (replayed) {
        metrics.idempotentReplays.count(createString.operationId)
        reply.header('idempotency-replayed', 'true')
      }
      return reply.code(201).header('location', `${app.prefix}/strings/${record.id}`).send(record)
    },
  })
  route(app, listStrings, {
    guard: guard.before(listStrings, 'strings'),
    handler: (request) => strings.list(callerOf(request), request.query),
  })
  route(app, getString, {
    guard: guard.before(getString, 'strings'),
    handler: (request) => strings.get(callerOf(request), request.params.id),
  })
  route(app, deleteString, {
    guard: guard.before(deleteString, 'strings'),
    async handler(request, reply) {
      await strings.delete(callerOf(request), request.params.id)
      return reply.code(204).send()
    },
  })
}

/** The descriptor and the health check belong to area A; they need no key. */
export async function serviceRoutes(
  app: FastifyInstance,
  { service, version, monitor, guard }: { service: string; version: string; monitor: HealthMonitor; guard: Guard },
): Promise<void> {
  const named = [getHealth, createString, listStrings, getString, deleteString]
  const [health = '', create = '', list = '', get = '', remove = ''] = named.map((op) => `${op.method} ${op.path}`)
  const descriptor = {
    service,
    version,
    endpoints: { health, createString: create, listStrings: list, getString: get, deleteString: remove },
    areas: [...AREAS],
  }

  route(app, describeService, { guard: guard.refuseWrongKey, handler: () => descriptor })
  route(
    app,
    { ...describeService, path: '/.well-known/service.json' },
    { guard: guard.refuseWrongKey, handler: () => descriptor },
  )
  route(app, getHealth, {
    guard: guard.refuseWrongKey,
    async handler(_request, reply) {
      const health = await monitor.health()
      return reply.code(health.status === 'ok' ? 200 : 503).send(health)
    },
  })
}
