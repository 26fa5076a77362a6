import { completeRun, createRun, deleteRun, getRun, listRunHits, listRuns } from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import { callerOf, type Guard } from '../keys/index.ts'
import { route } from '../platform/route.ts'
import type { RunService } from './runs.ts'

interface RunDeps {
  runs: RunService
  guard: Guard
}

export async function runRoutes(app: FastifyInstance, { runs, guard }: RunDeps): Promise<void> {
  route(app, createRun, {
    guard: guard.before(createRun, 'sanctions-manage'),
    handler: async (request, reply) => reply.code(201).send(await runs.create(callerOf(request), request.body)),
  })
  route(app, completeRun, {
    guard: guard.before(completeRun, 'sanctions-manage'),
    handler: (request) => runs.complete(callerOf(request), request.params.id, request.body.parts),
  })
  route(app, listRuns, {
    guard: guard.before(listRuns, 'sanctions-manage'),
    handler: (request) => runs.list(callerOf(request), request.query),
  })
  route(app, getRun, {
    guard: guard.before(getRun, 'sanctions-manage'),
    handler: (request) => runs.get(callerOf(request), request.params.id),
  })
  route(app, deleteRun, {
    guard: guard.before(deleteRun, 'sanctions-manage'),
    async handler(request, reply) {
      await runs.delete(callerOf(request), request.params.id)
      return reply.code(204).send()
    },
  })
  route(app, listRunHits, {
    guard: guard.before(listRunHits, 'sanctions-manage'),
    handler: (request) => runs.hits(callerOf(request), request.params.id, request.query),
  })
}
