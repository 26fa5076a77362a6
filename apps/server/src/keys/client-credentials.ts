/** The client credentials in a request. `unreadable`: the headers are malformed, or there are several. */
export type PresentedCredentials =
  | { kind: 'none' | 'unreadable' }
  | { kind: 'secret'; clientId: string; secret: string }
  | { kind: 'token'; token: string }

interface Headers {
  readonly [name: string]: string | string[] | undefined
}

const AUTHORIZATION = /^(Basic|Bearer) +([A-Za-z0-9+/=._~-]+)$/i
const AUTHORIZATION_CHARS_MAX = 4096
const PART_CHARS_MAX = 200
const NONE = { kind: 'none' } as const
const UNREADABLE = { kind: 'unreadable' } as const

/**
 * Reads client credentials from `Authorization` or from the headers `clientID` and `clientSecret`. Both at once, or one of them
 * twice, are refused because the caller would be ambiguous. `rawHeaders` is needed because Node keeps only the first
 * `Authorization`.
 */
export function readCredentials(headers: Headers, rawHeaders: readonly string[]): PresentedCredentials {
  const { authorization, clientid, clientsecret } = headers
  const ways = [authorization !== undefined, clientid !== undefined || clientsecret !== undefined]
  if (!ways.includes(true)) return NONE
  if (!ways.includes(false) || isRepeated(rawHeaders)) return UNREADABLE
  if (authorization !== undefined) return typeof authorization === 'string' ? readHeader(authorization) : UNREADABLE
  return toSecret(clientid, clientsecret)
}

/** The whole `Authorization` header. */
function readHeader(authorization: string): PresentedCredentials {
  // Checked before the pattern, to limit its work.
  if (authorization.length > AUTHORIZATION_CHARS_MAX) return UNREADABLE
  const [, scheme = '', value = ''] = AUTHORIZATION.exec(authorization) ?? []
  if (scheme.toLowerCase() === 'bearer') return { kind: 'token', token: value }
  if (scheme.toLowerCase() !== 'basic') return UNREADABLE
  const text = Buffer.from(value, 'base64').toString()
  const colon = text.indexOf(':')
  return colon < 0 ? UNREADABLE : toSecret(text.slice(0, colon), text.slice(colon + 1))
}

function toSecret(clientId: unknown, secret: unknown): PresentedCredentials {
  return isPart(clientId) && isPart(secret) ? { kind: 'secret', clientId, secret } : UNREADABLE
}

function isPart(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= PART_CHARS_MAX
}

function isRepeated(rawHeaders: readonly string[]): boolean {
  const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
  return ['authorization', 'clientid', 'clientsecret'].some((name) => names.indexOf(name) !== names.lastIndexOf(name))
}
