import { KEY_HOLDER_LIMITS } from '@ostiary/contract'
import { BODY_HASH_HEADER, bodyHash, type RequestSignature, SERVICE_SIGNATURE_HEADER } from '@ostiary/crypto'
import { createFairSlots } from '@ostiary/service-kit/fair-slots'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { CALL_ERRORS, CallError } from './errors.ts'
import type { Metrics } from './metrics.ts'
import type { Clock } from './platform/clock.ts'
import { UnavailableError } from './platform/db.ts'
import type { Log } from './platform/log.ts'
import type { Route } from './routes.ts'
import type { ServiceCalls } from './service-calls.ts'

interface Deps {
  routes: readonly Route[]
  calls: ServiceCalls
  clock: Clock
  log: Log
  metrics: Metrics
}

const CHECK_CONNECTIONS_MS = 5_000
const UNPROVEN_WAIT_MS = 5_000
/** Connections are few, and a stranger may have opened them. */
const IDLE_MS = 5_000
const { unprovenBodies } = KEY_HOLDER_LIMITS

/** A request that may have its body read. Without the hash of the body the signature is verified after it. */
interface Admitted {
  signed: RequestSignature
  claimedHash: string | undefined
}

/** Accepts signed requests and answers with signed replies. A reply to a request that is not signed by a known caller has no signature. */
export function buildApp({ routes, calls, clock, log, metrics }: Deps): FastifyInstance {
  const admitted = new WeakMap<FastifyRequest, Admitted>()
  const unproven = createFairSlots({ total: unprovenBodies, perOwner: unprovenBodies })
  const app = Fastify({
    logger: false,
    bodyLimit: KEY_HOLDER_LIMITS.jsonBytes,
    requestTimeout: KEY_HOLDER_LIMITS.requestTimeoutMs,
    keepAliveTimeout: IDLE_MS,
    http: {
      headersTimeout: KEY_HOLDER_LIMITS.requestTimeoutMs,
      connectionsCheckingInterval: CHECK_CONNECTIONS_MS,
    },
    exposeHeadRoutes: false,
  })
  app.server.maxConnections = KEY_HOLDER_LIMITS.connections
  // The signature is over the bytes, so nothing is parsed before it is verified.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.setErrorHandler((error, _request, reply) => send(reply, toCallError(error, log)))
  app.setNotFoundHandler((_request, reply) =>
    send(reply.header('connection', 'close'), new CallError(404, 'There is nothing here')),
  )

  for (const route of routes) {
    for (const status of [200, ...CALL_ERRORS, 500])
      metrics.requests.inc({ operation: route.operation, status: String(status) }, 0)
    app.route({
      method: route.method,
      url: route.path,
      bodyLimit: route.bodyBytes ?? KEY_HOLDER_LIMITS.jsonBytes,
      onRequest: (request, reply) => admit(route, request, reply),
      handler: (request, reply) => serve(route, request, reply),
    })
  }
  return app

  /** Refuses what no known caller signed before its body is read: strangers cost no memory. */
  async function admit({ operation, method, path }: Route, request: FastifyRequest, reply: FastifyReply) {
    try {
      const header = request.headers[SERVICE_SIGNATURE_HEADER]
      const signed = calls.read(typeof header === 'string' ? header : undefined)
      const claimed = request.headers[BODY_HASH_HEADER]
      const claimedHash = typeof claimed === 'string' ? claimed : undefined
      if (claimedHash !== undefined) await calls.verify({ method, path, bodyHash: claimedHash }, signed)
      else if (method === 'POST') await waitUnproven(reply)
      admitted.set(request, { signed, claimedHash })
    } catch (error) {
      const { status, message } = toCallError(error, log)
      metrics.requests.inc({ operation, status: String(status) })
      // Otherwise the rest of the body would be read, and thrown away.
      return send(reply.header('connection', 'close'), { status, message })
    }
  }

  /** Waits until one more body may be read that nobody has signed yet. */
  async function waitUnproven(reply: FastifyReply): Promise<void> {
    const free = await unproven.takeWithin('all', UNPROVEN_WAIT_MS)
    if (!free) throw new CallError(503, 'Try again later')
    if (reply.raw.closed) free()
    else reply.raw.once('close', free)
  }

  async function serve(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const started = clock.monotonicMs()
    const { operation } = route
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    let requestId: string | undefined
    let answer: { status: number; content: object }
    try {
      const signed = await signatureOf(route, request, body)
      requestId = signed.requestId
      // After the signature: nobody else may fill the table, or use up the id of a caller.
      await calls.useOnce(signed)
      answer = { status: 200, content: await route.handle(body) }
    } catch (error) {
      const { status, message } = toCallError(error, log)
      answer = { status, content: { message } }
    }
    const { status } = answer
    metrics.requests.inc({ operation, status: String(status) })
    const durationMs = Math.round(clock.monotonicMs() - started)
    log.info({ operation, status, durationMs, requestId }, 'request')
    const bytes = Buffer.from(JSON.stringify(answer.content))
    if (requestId !== undefined)
      reply.header(SERVICE_SIGNATURE_HEADER, await calls.signReply({ requestId, status, body: bytes }))
    return reply.code(status).type('application/json').send(bytes)
  }

  async function signatureOf(
    { method, path }: Route,
    request: FastifyRequest,
    body: Buffer,
  ): Promise<RequestSignature> {
    const { signed, claimedHash } = admitted.get(request) ?? { signed: calls.read(undefined), claimedHash: undefined }
    const hash = await bodyHash(body)
    if (claimedHash === undefined) await calls.verify({ method, path, bodyHash: hash }, signed)
    else if (hash !== claimedHash) throw new CallError(401, 'The signature is not valid')
    return signed
  }
}

/** Accepts no new connections, waits for running requests, and closes each connection when it is idle. */
export async function closeGently(app: FastifyInstance): Promise<void> {
  // Otherwise a caller that keeps its connection open after the last answer would delay the end.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50)
  await app.close().finally(() => clearInterval(sweep))
}

type Answer = Pick<CallError, 'status' | 'message'>

function send(reply: FastifyReply, { status, message }: Answer): FastifyReply {
  return reply.code(status).type('application/json').send(JSON.stringify({ message }))
}

/** Whatever went wrong, as an answer that says nothing about a token. */
function toCallError(error: unknown, log: Log): Answer {
  if (error instanceof CallError) return error
  if (error instanceof UnavailableError) {
    log.warn({ err: error }, 'database unreachable')
    return new CallError(503, 'Try again later')
  }
  // Fastify's own: a body that is too large, a length that is wrong.
  const status = (error as { statusCode?: unknown }).statusCode
  if (status === 413) return new CallError(413, 'The body is too large')
  if (typeof status === 'number' && status < 500) return new CallError(400, 'The request is malformed')
  log.error({ err: error }, 'unexpected error')
  return { status: 500, message: 'Internal error' }
}
