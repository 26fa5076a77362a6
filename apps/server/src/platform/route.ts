import type { Operation, Part } from '@ostiary/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { withFacts } from './request-facts.ts'
import { createRequestSlot } from './request-slot.ts'

/** A request whose parts have the types of the operation's schemas: they were checked before the handler runs. */
export type RequestOf<O extends Operation> = FastifyRequest<{
  Params: Part<O, 'params'>
  Querystring: Part<O, 'query'>
  Body: Part<O, 'body'>
}>

/** A hook of a route. It throws the refusal. */
export type Check = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

interface RouteOptions<O extends Operation> {
  /** Authenticates and authorises the caller, before the body is read. */
  guard?: Check
  /** The same for areas that accept the key in the body: runs after the body is parsed and before it is validated. */
  guardAfterBody?: Check
  /** False where the room parses the body itself, because each fault has an answer of its own. */
  checkBody?: boolean
  bodyLimitBytes?: number
  handler(request: RequestOf<O>, reply: FastifyReply): unknown
}

/** Serves one operation of the contract. The success schemas are an allow-list: a field they do not name cannot leave. */
export function route<O extends Operation>(app: FastifyInstance, op: O, options: RouteOptions<O>): void {
  const { guard, guardAfterBody, checkBody = true, bodyLimitBytes, handler } = options
  const response: Record<string, TSchema> = {}
  for (const [status, reply] of Object.entries(op.success)) if (reply.schema) response[status] = reply.schema
  const name = named(op.operationId)
  app.route({
    method: op.method,
    url: op.path,
    schema: {
      ...(op.params && { params: op.params }),
      ...(op.query && { querystring: op.query }),
      ...(op.body && checkBody && { body: op.body }),
      response,
    },
    onRequest: guard ? [name, guard] : name,
    ...(guardAfterBody && { preValidation: guardAfterBody }),
    ...(bodyLimitBytes !== undefined && { bodyLimit: bodyLimitBytes }),
    handler: (request, reply) => withFacts(request, () => handler(request as RequestOf<O>, reply)),
  })
}

const operations = createRequestSlot<string>('operation')

/** Sets the operation of a request for log and metrics, where no operation of the contract does. */
export function named(operation: string): Check {
  return async (request) => {
    operations.set(request, operation)
  }
}

/** The operation of a request, for log and metrics. */
export const operationOf = operations.get
