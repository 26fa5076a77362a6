import { createHash, hash } from 'node:crypto'
import type { Server } from 'node:http'
import { LIMITS } from '@ostiary/contract'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { correlationIdOf } from './correlation.ts'
import { AppError } from './errors.ts'
import {
  type ErrorRenderer,
  type ErrorShape,
  outcomeCodeOf,
  renderCommon,
  sendError,
  toAppError,
} from './http-errors.ts'
import type { Ids } from './ids.ts'
import { decodeText, parseJsonBody } from './json-body.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { answerOddities, answerUnparsable } from './raw-errors.ts'
import { factsOf, startFacts } from './request-facts.ts'
import { createRequestSlot } from './request-slot.ts'
import { operationOf } from './route.ts'
import type { Tracing } from './tracing.ts'
import { validatorCompiler } from './validation.ts'

export interface HttpOptions {
  version: string
  trustProxy: readonly string[]
  ids: Ids
  log: Log
  metrics: Metrics
  tracing?: Tracing | undefined
  /** The error shapes of rooms that have their own. Everything else is answered in the common shape. */
  errorShapes?: readonly ErrorShape[]
  /** Whether a request is refused because of the host name that it came to. The answer has the common shape, whatever the path. */
  hostGate?: (request: FastifyRequest) => AppError | undefined
  /** The caller, once it is known, for the log line. */
  callerOf: (request: FastifyRequest) => { tenantId: string; keyId?: string } | undefined
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/
const STRICT_TRANSPORT = 'max-age=31536000; includeSubDomains'

/** The HTTP server with everything that is the same for all areas; app.ts registers the rooms on it. */
export function createHttp(options: HttpOptions): FastifyInstance {
  const { ids, log, metrics, tracing } = options
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger,
    genReqId: (request) => requestIdOf(request.headers['x-request-id']) ?? ids.nextUnbound(),
    requestIdHeader: false,
    bodyLimit: LIMITS.jsonBodyBytes,
    routerOptions: { maxParamLength: LIMITS.pathSegmentChars },
    requestTimeout: LIMITS.requestTimeoutMs,
    // A start reads every file of the launch page, which takes a crowded machine longer than Fastify's ten seconds.
    pluginTimeout: 60_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    http: { maxHeaderSize: LIMITS.headerBytes, requireHostHeader: false },
    clientErrorHandler: (error, socket) => answerUnparsable(error, socket, () => ids.nextUnbound()),
    frameworkErrors: (error, request, reply) => {
      // A path that cannot be decoded never reaches the hooks.
      setCommonHeaders(request, reply, options.version)
      sendError(toAppError(error), rendererOf(request, options), request, reply)
    },
  }) as unknown as FastifyInstance
  answerOddities(app.server as Server, () => ids.nextUnbound())

  app.addHook('onRequest', async (request, reply) => {
    startFacts(request, tracing)
    setCommonHeaders(request, reply, options.version)
    const fault = protocolFault(request)
    if (fault) throw fault
    const refused = options.hostGate?.(request)
    if (!refused) return
    sendError(refused, renderCommon, request, reply)
    return reply
  })
  app.addHook('onResponse', async (request, reply) => {
    const operation = operationOf(request) ?? 'unknown'
    const status = reply.statusCode
    const durationMs = reply.elapsedTime
    metrics.requests.observe(operation, status, durationMs / 1000)
    const caller = options.callerOf(request)
    const { sessionId, traceId, span } = factsOf(request) ?? {}
    const line = {
      requestId: request.id,
      operation,
      status,
      code: outcomeCodeOf(request),
      durationMs: Math.round(durationMs * 100) / 100,
      sessionId,
      tenantId: caller?.tenantId,
      keyId: caller?.keyId,
      traceId,
      correlationId: correlationIdOf(request),
    }
    log.info(line, 'request')
    span?.end({
      name: operation,
      attributes: {
        'http.request.method': request.method,
        'http.response.status_code': status,
        'error.type': line.code,
        'ostiary.request_id': request.id,
        'ostiary.session_id': sessionId,
        'ostiary.tenant_id': caller?.tenantId,
      },
      isError: status >= 500,
    })
  })

  readBodies(app)
  app.setValidatorCompiler(validatorCompiler as never)
  app.setErrorHandler((error, request, reply) => {
    sendError(toAppError(error), rendererOf(request, options), request, reply)
  })
  answerUnknownPaths(app, options)
  return app
}

/** Accepts no new connections, waits for running requests, and closes each connection when it is idle. */
export async function closeGently(app: FastifyInstance): Promise<void> {
  // Otherwise a client that keeps its connection open after the last answer would delay the shutdown.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50)
  try {
    await app.close()
  } finally {
    clearInterval(sweep)
  }
}

function setCommonHeaders(request: FastifyRequest, reply: FastifyReply, version: string): void {
  reply.header('x-request-id', request.id)
  reply.header('x-service-version', version)
  reply.header('x-content-type-options', 'nosniff')
  reply.header('referrer-policy', 'no-referrer')
  reply.header('strict-transport-security', STRICT_TRANSPORT)
  reply.header('cache-control', 'no-store')
  reply.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
}

function requestIdOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : undefined
}

/** Refuses what Node's parser accepts and RFC 9112 does not: HTTP/0.9, and HTTP/1.1 without a Host. */
function protocolFault({ raw, headers }: FastifyRequest): AppError | undefined {
  if (raw.httpVersionMajor !== 1) return new AppError('invalid_request', 'BAD_REQUEST', 'Only HTTP/1 is spoken here')
  if (headers.host === undefined && raw.httpVersionMinor > 0) {
    return new AppError('invalid_request', 'BAD_REQUEST', 'The Host header is missing')
  }
  return undefined
}

const bodyDigests = createRequestSlot<Buffer>('body digest')

/** SHA-256 of the body as it was sent, with its media type. Only for requests that carry an `Idempotency-Key`. */
export function bodyDigestOf(request: FastifyRequest): Buffer {
  return bodyDigests.get(request) ?? createHash('sha256').digest()
}

const bodyHashes = createRequestSlot<string>('body hash')

/** SHA-256 of the body as it was sent, base64url. Only on routes with `hashBodies`. */
export function bodyHashOf(request: FastifyRequest): string {
  return bodyHashes.get(request) ?? createHash('sha256').digest('base64url')
}

const rawBodies = createRequestSlot<Buffer>('raw body')

/** The JSON body as it was sent. Only on routes with `keepRawBody`. */
export const rawBodyOf = rawBodies.get

/** JSON everywhere; a room adds other types for its own routes with `acceptText`. */
function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) =>
    parseWith(parseJsonBody, request, bytes),
  )
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    const refuse = () => {
      throw unsupported('This Content-Type is not supported here')
    }
    return parseWith(refuse, request, bytes)
  })
}

/** Keeps the bytes of JSON bodies on the routes of this instance, for values that are returned byte for byte. */
export function keepRawBody(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      rawBodies.set(request, bytes)
      return parseWith(parseJsonBody, request, bytes)
    },
  )
}

/** Computes the hash of JSON bodies on the routes of this instance, for requests that are signed. */
export function hashBodies(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      bodyHashes.set(request, hash('sha256', bytes, 'base64url'))
      return parseWith(parseJsonBody, request, bytes)
    },
  )
}

/** Accepts `text/plain` bodies on the routes of this instance; `wrap` turns them into the JSON body. */
export function acceptText(app: FastifyInstance, wrap: (text: string) => unknown): void {
  app.addContentTypeParser('text/plain', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) =>
    parseWith((body) => wrap(decodeText(body)), request, bytes),
  )
}

function parseWith(parse: (bytes: Buffer) => unknown, request: FastifyRequest, bytes: Buffer): unknown {
  // An empty body is accepted with any type: many clients send a content type with every DELETE.
  if (bytes.length === 0) return undefined
  refuseEncodings(request)
  rememberDigest(request, bytes)
  return parse(bytes)
}

function rememberDigest(request: FastifyRequest, bytes: Buffer): void {
  if (request.headers['idempotency-key'] === undefined) return
  const digest = createHash('sha256')
    .update(`${mediaTypeOf(request)}\n`)
    .update(bytes)
    .digest()
  bodyDigests.set(request, digest)
}

function mediaTypeOf(request: FastifyRequest): string {
  return (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** Refuses compressed bodies and other charsets: we do not decode them, and must not misread them. */
export function refuseEncodings(request: FastifyRequest): void {
  const encoding = request.headers['content-encoding']
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(request.headers['content-type'] ?? '')?.[1]
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw unsupported('Compressed bodies are not supported')
  if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) throw unsupported('The body must be in UTF-8')
}

function unsupported(message: string): AppError {
  return new AppError('unsupported_type', 'UNSUPPORTED_MEDIA_TYPE', message)
}

/** 404 for unknown paths, 405 with `Allow` for known paths with another method. */
function answerUnknownPaths(app: FastifyInstance, options: HttpOptions): void {
  const methodsByPattern = new Map<string, { pattern: RegExp; methods: Set<string> }>()
  app.addHook('onRoute', (route) => {
    const entry = methodsByPattern.get(route.url) ?? { pattern: patternOf(route.url), methods: new Set() }
    for (const method of [route.method].flat()) entry.methods.add(method)
    methodsByPattern.set(route.url, entry)
  })
  app.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const allow = [...methodsByPattern.values()]
      .filter((entry) => entry.pattern.test(path))
      .flatMap((entry) => [...entry.methods])
    const error =
      allow.length > 0
        ? new AppError('method_not_allowed', 'METHOD_NOT_ALLOWED', 'This path does not take this method', {
            allow: [...new Set(allow)].sort(),
          })
        : new AppError('not_found', 'NOT_FOUND', 'There is nothing at this path')
    sendError(error, rendererOf(request, options), request, reply)
  })
}

function rendererOf({ url }: FastifyRequest, { errorShapes = [] }: HttpOptions): ErrorRenderer {
  const path = `${url.split('?', 1)[0]}/`
  return errorShapes.find(({ under }) => path.startsWith(`${under}/`))?.render ?? renderCommon
}

function patternOf(url: string): RegExp {
  return new RegExp(`^${url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[A-Za-z]+/g, '[^/]+')}$`)
}
