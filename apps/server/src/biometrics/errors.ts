import { NODE_ERRORS, type NodeErrorCode } from '@ostiary/contract'
import { AppError, FAULT_STATUS, type Fault, outageBehind } from '../platform/errors.ts'
import type { ErrorRenderer } from '../platform/http-errors.ts'

/** A refusal of area E. The reason follows the message; it never repeats a value that was sent. */
export function nodeError(code: NodeErrorCode, reason?: string, cause?: unknown): AppError {
  const { message } = NODE_ERRORS[code]
  return new AppError(faultOf(code), code, reason === undefined ? message : `${message}: ${reason}`, { cause })
}

/** Codes of the rest of the service, with the row of area E's table that each maps to. */
const TRANSLATED: Readonly<Record<string, NodeErrorCode>> = {
  MISSING_API_KEY: 'NODE_KEY_MISSING',
  INVALID_API_KEY: 'NODE_KEY_REJECTED',
  KEY_INACTIVE: 'NODE_KEY_REJECTED',
  SCOPE_DENIED: 'NODE_KEY_REJECTED',
  ADDRESS_DENIED: 'NODE_KEY_REJECTED',
  INVALID_JSON: 'NODE_INVALID_JSON',
  RATE_LIMITED: 'NODE_RATE_LIMITED',
  PAYLOAD_TOO_LARGE: 'NODE_TOO_LARGE',
  UNSUPPORTED_MEDIA_TYPE: 'NODE_MEDIA_TYPE',
  NOT_FOUND: 'NODE_NOT_FOUND',
  METHOD_NOT_ALLOWED: 'NODE_METHOD_NOT_ALLOWED',
  BAD_REQUEST: 'NODE_BAD_REQUEST',
  VALIDATION_FAILED: 'NODE_FIELD_INVALID',
  DEPENDENCY_DOWN: 'NODE_STORE_DOWN',
}

/** `{ status, message }`, with the HTTP status of the table, or 503 when the store is out of reach. */
export const renderNodeError: ErrorRenderer = (error, _request, reply) => {
  const own = isNodeCode(error.code)
  const row = NODE_ERRORS[own ? error.code : (TRANSLATED[error.code] ?? 'NODE_INTERNAL')]
  const outage = outageBehind(error)
  const isOutage = outage instanceof AppError && outage.fault === 'unavailable'
  if (isOutage) reply.header('retry-after', String(outage.extra.retryAfterSeconds))
  return {
    status: isOutage ? NODE_ERRORS.NODE_STORE_DOWN.http : row.http,
    contentType: 'application/json; charset=utf-8',
    body: { status: row.status, message: own ? error.message : row.message },
  }
}

function isNodeCode(code: string): code is NodeErrorCode {
  return Object.hasOwn(NODE_ERRORS, code)
}

/** The fault follows from the HTTP status, except that the specification answers one fault of the caller with 500. */
function faultOf(code: NodeErrorCode): Fault {
  if (code === 'NODE_PUID_MISSING') return 'invalid_request'
  const { http } = NODE_ERRORS[code]
  const fault = (Object.keys(FAULT_STATUS) as Fault[]).find((name) => FAULT_STATUS[name] === http)
  return fault ?? 'internal'
}
