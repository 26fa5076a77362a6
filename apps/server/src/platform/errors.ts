import type { AnyErrorCode, ErrorDetail } from '@ostiary/contract'

/** Kinds of faults that a caller can act on. Each has a default HTTP status. */
export const FAULT_STATUS = {
  invalid_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  timeout: 408,
  conflict: 409,
  gone: 410,
  too_large: 413,
  unsupported_type: 415,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  unavailable: 503,
} as const
export type Fault = keyof typeof FAULT_STATUS

interface Extra {
  /** For the log only; a constant text, never a value from a request. */
  detail?: string
  cause?: unknown
  /** Sent to the caller: the places of the request that are wrong. */
  details?: readonly ErrorDetail[]
  retryAfterSeconds?: number
  /** Methods that work, with `method_not_allowed`. */
  allow?: readonly string[]
}

/** A failover takes longer, a busy moment does not. */
const STORE_RETRY_SECONDS = 2

/** The one error type. `message` is safe to show; `detail` and `cause` are logged, never sent. */
export class AppError extends Error {
  readonly fault: Fault
  readonly code: AnyErrorCode
  readonly extra: Extra

  constructor(fault: Fault, code: AnyErrorCode, message: string, extra: Extra = {}) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause })
    this.name = 'AppError'
    this.fault = fault
    this.code = code
    this.extra = code === 'DEPENDENCY_DOWN' ? { retryAfterSeconds: STORE_RETRY_SECONDS, ...extra } : extra
  }

  get status(): number {
    return FAULT_STATUS[this.fault]
  }
}

export function invalid(pointer: string, message: string): AppError {
  return new AppError('invalid_request', 'VALIDATION_FAILED', `The request is not valid: ${pointer} ${message}`, {
    details: [{ pointer, message }],
  })
}

/** A URL of the body that cannot be used; the message says why. */
export function invalidUrl(pointer: string, message: string): AppError {
  return new AppError('invalid_request', 'INVALID_URL', `The request is not valid: ${pointer} ${message}`, {
    details: [{ pointer, message }],
  })
}

/** The outage that a room reports by a code of its own, so that the caller hears to try again; any other error as it is. */
export function outageBehind(error: unknown): unknown {
  const cause = error instanceof AppError ? error.cause : undefined
  return cause instanceof AppError && cause.fault === 'unavailable' ? cause : error
}
