import { ERRORS, type ErrorBody, type ErrorCode } from '@ostiary/contract'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from './errors.ts'
import { createRequestSlot } from './request-slot.ts'

/** Turns an error into what is sent. Areas with another shape bring their own (`renderErrorsWith`). */
export type ErrorRenderer = (
  error: AppError,
  request: FastifyRequest,
  reply: FastifyReply,
) => { contentType: string; body: unknown; status?: number }

/** Scopes a renderer to the routes registered on this instance: bad JSON, schema failures and unknown paths included. */
export function renderErrorsWith(app: FastifyInstance, render: ErrorRenderer): void {
  app.setErrorHandler((error, request, reply) => {
    sendError(toAppError(error), render, request, reply)
  })
}

export function sendError(error: AppError, render: ErrorRenderer, request: FastifyRequest, reply: FastifyReply): void {
  if (error.status >= 500) request.log.error({ requestId: request.id, err: error }, 'request failed')
  outcomeCodes.set(request, error.code)
  if (error.extra.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.extra.retryAfterSeconds))
  if (error.extra.allow) reply.header('allow', error.extra.allow.join(', '))
  if (error.status === 408) reply.header('connection', 'close')
  // The framework closes the connection as soon as it sees that a body is too large.
  if (error.status === 413) reply.header('connection', isReadable(request) ? 'keep-alive' : 'close')
  const { contentType, body, status = error.status } = render(error, request, reply)
  // Serialised here: the response schemas of a route describe its successes only.
  reply.code(status).header('content-type', contentType).serializer(String).send(JSON.stringify(body))
}

/**
 * Whether the rest of a body that is too large is read and thrown away: a client that is still writing it when the connection
 * closes never sees the answer. Beyond a few megabytes that is its own affair.
 */
function isReadable({ headers }: FastifyRequest): boolean {
  return Number(headers['content-length']) <= DRAINED_BYTES
}
const DRAINED_BYTES = 8 * 1024 * 1024

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

/** An area with codes of its own renders them itself; one that comes here has lost its way. */
function commonCode({ code }: AppError): ErrorCode {
  return Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'INTERNAL'
}

/** Everything that can be thrown on the way of a request becomes an AppError; what is not known is our fault. */
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
      // Whatever else the framework blames on the caller is the caller's.
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
