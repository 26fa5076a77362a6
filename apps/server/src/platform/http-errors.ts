import { Readable } from 'node:stream'
import { ERRORS, type ErrorBody, type ErrorCode } from '@ostiary/contract'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from './errors.ts'
import { createRequestSlot } from './request-slot.ts'

/** Turns an error into the response body. Rooms with another shape bring their own renderer (`errorShapes`). */
export type ErrorRenderer = (
  error: AppError,
  request: FastifyRequest,
  reply: FastifyReply,
) => { contentType: string; body: unknown; status?: number }

/** An error shape of its own for all paths that start with these segments, also for paths that no route has. */
export interface ErrorShape {
  under: string
  render: ErrorRenderer
}

export function sendError(error: AppError, render: ErrorRenderer, request: FastifyRequest, reply: FastifyReply): void {
  if (error.status >= 500) request.log.error({ requestId: request.id, err: error }, 'request failed')
  outcomeCodes.set(request, error.code)
  if (error.extra.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.extra.retryAfterSeconds))
  if (error.extra.allow) reply.header('allow', error.extra.allow.join(', '))
  if (error.status === 408) reply.header('connection', 'close')
  const rest = error.status !== 408 && !request.raw.complete ? readRest(request) : undefined
  // The framework sets `close` for a body that is too large; the connection would be cut before the client reads the answer.
  if (rest) reply.header('connection', rest.cut ? 'close' : 'keep-alive')
  const { contentType, body, status = error.status } = render(error, request, reply)
  // Serialised here: the response schemas of a route describe its successes only.
  const text = JSON.stringify(body)
  reply.code(status).header('content-type', contentType)
  if (rest?.cut) reply.header('content-length', Buffer.byteLength(text)).send(Readable.from(slowToEnd(text, rest.cut)))
  else reply.serializer(String).send(text)
}

/** Writes the whole text at once. The connection is closed later, so that the answer has time to arrive. */
async function* slowToEnd(text: string, cut: Promise<void>): AsyncGenerator<string> {
  yield text
  await cut
}

/**
 * Reads and discards the rest of a refused body: a client that is still writing when the connection closes never
 * sees the answer. Of a very large or endless body only a part is read; `cut` resolves when the connection may be closed.
 */
function readRest({ raw, headers }: FastifyRequest): { cut?: Promise<void> } {
  const { socket } = raw
  if (!socket) return {}
  raw.on('error', () => undefined)
  answered.add(socket)
  raw.once('end', () => answered.delete(socket))
  raw.resume()
  if (Number(headers['content-length']) <= DRAINED_BYTES) return {}
  let left = LINGER_BYTES
  raw.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) raw.pause()
  })
  return {
    cut: new Promise((resolve) => {
      const timer = setTimeout(resolve, LINGER_MS)
      for (const over of ['end', 'close']) {
        raw.once(over, () => {
          clearTimeout(timer)
          resolve()
        })
      }
    }),
  }
}
const DRAINED_BYTES = 8 * 1024 * 1024
const LINGER_BYTES = 1024 * 1024
const LINGER_MS = 500

const answered = new WeakSet<object>()

/** The request on this connection has been answered; further bytes are the rest of its body. */
export function isAnswered(socket: object): boolean {
  return answered.has(socket)
}

const outcomeCodes = createRequestSlot<string>('outcome')

/** The error code a request was answered with, for the log line. */
export function outcomeCodeOf(request: FastifyRequest): string | undefined {
  return outcomeCodes.get(request)
}

/** The shape of areas A to D; RFC 9457 for clients that ask for it. */
export const renderCommon: ErrorRenderer = (error, request) => {
  const body = errorBody(error, request.id)
  if (!String(request.headers.accept ?? '').includes('application/problem+json')) {
    return { contentType: 'application/json; charset=utf-8', body }
  }
  const { statusCode, message, ...members } = body
  return {
    contentType: 'application/problem+json; charset=utf-8',
    body: { type: 'about:blank', title: ERRORS[body.code].meaning, status: statusCode, detail: message, ...members },
  }
}

export function errorBody(error: AppError, requestId: string): ErrorBody {
  const { details, retryAfterSeconds } = error.extra
  return {
    statusCode: error.status,
    message: error.message,
    code: commonCode(error),
    requestId,
    ...(details && { details: [...details] }),
    ...(retryAfterSeconds !== undefined && { retryAfter: retryAfterSeconds }),
  }
}

/** An area with its own codes renders them itself; one that gets here is a bug. */
function commonCode({ code }: AppError): ErrorCode {
  return Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'INTERNAL'
}

/** Turns every error of a request into an AppError; an unknown error is an internal one. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  switch ((error as FastifyError).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new AppError('too_large', 'PAYLOAD_TOO_LARGE', 'The body is too large')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_CTP_EMPTY_TYPE':
      return unreadableBody((error as FastifyError).code)
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new AppError('invalid_request', 'INVALID_JSON', 'The body is empty')
    case 'FST_ERR_BAD_URL':
      return new AppError('invalid_request', 'BAD_REQUEST', 'The path is not a valid URL path')
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new AppError('not_found', 'NOT_FOUND', 'There is nothing at this path')
    case 'ECONNRESET':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return new AppError('invalid_request', 'BAD_REQUEST', 'The request ended early')
    default:
      // Other errors that the framework attributes to the caller are faults of the caller.
      if (isFrameworkError(error) && (error.statusCode ?? 500) < 500) {
        return new AppError('invalid_request', 'BAD_REQUEST', 'The request cannot be read')
      }
      return new AppError('internal', 'INTERNAL', 'Internal Server Error', { cause: error })
  }
}

function isFrameworkError(error: unknown): error is FastifyError {
  return error instanceof Error && String((error as FastifyError).code).startsWith('FST_ERR_')
}

function unreadableBody(code: string): AppError {
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') {
    return new AppError('invalid_request', 'BAD_REQUEST', 'The body is not as long as Content-Length says')
  }
  return new AppError('unsupported_type', 'UNSUPPORTED_MEDIA_TYPE', 'This Content-Type is not supported here')
}
