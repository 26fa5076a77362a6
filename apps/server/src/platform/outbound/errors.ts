export type OutboundReason =
  | 'forbidden_target'
  | 'forbidden_address'
  | 'dns'
  | 'timeout'
  | 'too_large'
  | 'tls'
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

/** The code of a `forbidden_address` that a name resolved to. Unlike an address in a URL it may change by the next call. */
export const RESOLVED = 'resolved'

/** Why a call failed. It has no cause, because errors of parsers quote bytes of the response; of the response only the status is kept. */
export class OutboundError extends Error {
  readonly reason: OutboundReason
  /** Which rule refused the call, or the system's code of the failure. */
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

/** Translates an error of a connection. Nothing that the other side sent is taken over. */
export function explain(error: unknown): OutboundError {
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

/** The system's code of a failure. When several addresses were tried, the last one counts. */
export function codeOf(error: unknown): string | undefined {
  const last = error instanceof AggregateError ? error.errors.at(-1) : error
  const code = (last as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : undefined
}
