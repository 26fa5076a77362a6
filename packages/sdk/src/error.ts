import type { ErrorBody, ErrorCode, ErrorDetail, OAuthError } from '@ostiary/contract'

/**
 * Codes of the SDK itself:
 * - `INVALID_OPTION`: what the client was given cannot work; no call was made.
 * - `CONNECTION_FAILED`, `TIMED_OUT`: no answer came (`status` 0).
 * - `NOT_JSON`: something answered that is not Ostiary, such as a proxy's page.
 * - `REDIRECTED`: the answer names another address. It is not followed, because the key would go there.
 * - `UNKNOWN`: the answer has no code. Those of area E have none: see `nodeStatus`.
 */
export type SdkErrorCode = 'INVALID_OPTION' | 'CONNECTION_FAILED' | 'TIMED_OUT' | 'NOT_JSON' | 'REDIRECTED' | 'UNKNOWN'

/** Every code that this version knows. A newer service may send others: let a `switch` have a default. */
export type OstiaryErrorCode = ErrorCode | OAuthError['error'] | SdkErrorCode

/** Error bodies of all areas. Area E has a `status`; the token endpoint has the fields of OAuth. */
export type AnyErrorBody = Partial<Omit<ErrorBody, 'code'>> & {
  code?: OstiaryErrorCode
  status?: number
  error?: OAuthError['error']
  error_description?: string
}

/** An error that the service returned, or the reason why no answer came (`status` 0). */
export class OstiaryError extends Error {
  /** The HTTP status; 0 when no answer came. */
  readonly status: number
  /** For programs: it does not change. */
  readonly code: OstiaryErrorCode
  /** Names the call in the service’s log: quote it to support. */
  readonly requestId: string | undefined
  /** What is wrong with the call, place by place. */
  readonly details: readonly ErrorDetail[]
  /** From the body, or else from the header `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** The `status` in a body of area E; undefined elsewhere. */
  readonly nodeStatus: number | undefined

  constructor(status: number, body: AnyErrorBody, cause?: unknown) {
    super(
      body.message ?? body.error_description ?? `The service answered ${status}`,
      cause === undefined ? undefined : { cause },
    )
    this.name = 'OstiaryError'
    this.status = status
    this.code = body.code ?? body.error ?? (status === 0 ? 'CONNECTION_FAILED' : 'UNKNOWN')
    this.requestId = body.requestId
    this.details = body.details ?? []
    this.retryAfterSeconds = body.retryAfter
    this.nodeStatus = body.status
  }
}

/** An option that cannot work is refused when it is given, not at the first call. */
export function invalidOption(message: string): OstiaryError {
  return new OstiaryError(0, { code: 'INVALID_OPTION', message })
}
