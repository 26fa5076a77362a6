export type OutboundReason =
  /** The text of the URL breaks a rule, such as its scheme, its port or a local host name. */
  | 'forbidden_target'
  /** The host is an IP address that may not be called, or its name resolves to one. */
  | 'forbidden_address'
  | 'dns'
  | 'timeout'
  | 'too_large'
  | 'tls'
  /** The connection failed for a reason that has no other name here: not only ECONNREFUSED. Webhooks store this word. */
  | 'refused'
  | 'status'
  | 'redirect'

const MESSAGES: Readonly<Record<OutboundReason, string>> = {
  forbidden_target: 'The URL may not be called',
  forbidden_address: 'The host has an address that may not be called',
  dns: 'The host has no address',
  timeout: 'The other side took too long',
  too_large: 'The answer is too large',
  tls: 'No trustworthy encrypted connection could be made',
  refused: 'The connection could not be made, or broke',
  status: 'The other side answered with a status other than 200',
  redirect: 'The answer is a redirect that is not followed',
}

/**
 * The code of a `forbidden_address` error if DNS resolved a name to that address. A later call may succeed, because the name may resolve to
 * another address then. If the URL itself contains the address, the code is `address`, and no later call can succeed.
 */
export const RESOLVED = 'resolved'

/**
 * Why a call failed. The original error is not kept as `cause`: errors of HTTP parsers quote bytes of the response, and those must not
 * reach a log. Of the response only the status is kept.
 */
export class OutboundError extends Error {
  readonly reason: OutboundReason
  /** The rule that forbids the call, such as `scheme`, or the error code of Node or undici, such as `ECONNRESET`. */
  readonly code: string | undefined
  readonly status: number | undefined

  constructor(reason: OutboundReason, extra: { code?: string | undefined; status?: number | undefined } = {}) {
    super(MESSAGES[reason])
    this.name = 'OutboundError'
    this.reason = reason
    this.code = extra.code
    this.status = extra.status
  }
}

/** Converts an error of Node or undici. Only its code is kept, because its message may quote what the other side sent. */
export function toOutboundError(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error
  const code = codeOf(error)
  return new OutboundError(reasonOf(code), { code })
}

const TLS_CODES = /^(?:CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|EPROTO)/
const TIMEOUT_CODES = new Set(['UND_ERR_CONNECT_TIMEOUT', 'ERR_SOCKET_CONNECTION_TIMEOUT', 'ETIMEDOUT'])

function reasonOf(code: string | undefined): OutboundReason {
  if (code === undefined) return 'refused'
  if (TIMEOUT_CODES.has(code)) return 'timeout'
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'too_large'
  return TLS_CODES.test(code) ? 'tls' : 'refused'
}

/** The error code of Node or undici. If several addresses of a host were tried, it is the code of the last one. */
export function codeOf(error: unknown): string | undefined {
  const last = error instanceof AggregateError ? error.errors.at(-1) : error
  const code = (last as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : undefined
}
