import { WEBHOOK_LIMITS } from '@ostiary/contract'
import { invalid, invalidUrl } from '../platform/errors.ts'
import type { Network } from '../platform/outbound/address.ts'
import { checkTarget, type TargetFault } from '../platform/outbound/target.ts'

export interface Callback {
  url: string
  headers: Readonly<Record<string, string>>
}

/**
 * Refuses a callback that could never be called while the host can still correct it: when the session is created. The address that
 * its name resolves to is checked for each connection, because it can change.
 */
export function checkCallback(
  { url, headers, livemode }: Callback & { livemode: boolean },
  allowNetworks: readonly Network[],
  inboxUrl?: string,
): void {
  const toInbox = isInbox(url, inboxUrl)
  if (toInbox && livemode) throw invalidUrl(URL_POINTER, INBOX_LIVE)
  const verdict = checkTarget(url, { allowHttp: !livemode, allowNetworks })
  if (!toInbox && !verdict.ok) throw invalidUrl(URL_POINTER, sayFault(verdict.reason, livemode))
  checkHeaders(headers)
}

/** Whether a callback names this installation's own inbox: its events go to the stream and nowhere else. */
export function isInbox(url: string, inboxUrl: string | undefined): boolean {
  return inboxUrl !== undefined && URL.canParse(url) && new URL(url).href === new URL(inboxUrl).href
}

const INBOX_LIVE =
  'must be a receiver of yours: only a test key can send its events to the inbox of this installation, which calls nobody'

const URL_POINTER = '/body/callback/url'
const HEADERS_POINTER = '/body/callback/headers'

const FAULTS: Readonly<Record<Exclude<TargetFault, 'scheme'>, string>> = {
  length: `must have 1 to ${WEBHOOK_LIMITS.urlChars} characters`,
  characters: 'must be of printable ASCII without backslashes; percent-encode the rest',
  syntax: 'must be a URL such as https://host.example/path',
  credentials: 'must not hold a user name or password',
  host_notation: 'must name its host in the usual notation',
  host_name: 'must have a valid host name',
  local_name:
    'must not name a host of a local network; write its address (127.0.0.1 for localhost), which the operator may allow by OUTBOUND_ALLOW_NETWORKS',
  address: 'must not name an address that is not public, unless the operator allows it by OUTBOUND_ALLOW_NETWORKS',
  port: 'must have port 443, none, or one from 1024 that is not that of another service',
}

function sayFault(reason: TargetFault, livemode: boolean): string {
  return reason === 'scheme' ? `must begin with https://${livemode ? '' : ' or http://'}` : FAULTS[reason]
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const PRINTABLE = /^[\t\x20-\x7e]*$/
/** Headers that we set or that proxies act upon: with them a host could make one request look like two, or like one of ours. */
const REFUSED =
  /^(?:host|user-agent|connection|keep-alive|te|trailer|upgrade|expect|via|http2-settings|proxy-.*|content-.*|transfer-.*|x-service-.*|webhook-.*)$/i

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const entries = Object.entries(headers)
  if (entries.length > WEBHOOK_LIMITS.headers) {
    throw invalid(HEADERS_POINTER, `must have at most ${WEBHOOK_LIMITS.headers} headers`)
  }
  const seen = new Set<string>()
  let bytes = 0
  for (const [name, value] of entries) {
    bytes += name.length + value.length
    const fault = faultOfHeader(name, value) ?? (seen.has(name.toLowerCase()) ? 'is there twice' : undefined)
    if (fault) throw invalid(`${HEADERS_POINTER}/${escapePointer(name)}`, fault)
    seen.add(name.toLowerCase())
  }
  if (bytes > WEBHOOK_LIMITS.headerBytes) {
    throw invalid(HEADERS_POINTER, `must have at most ${WEBHOOK_LIMITS.headerBytes} bytes together`)
  }
}

function faultOfHeader(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return 'is not the name of a header'
  if (REFUSED.test(name)) return 'is not a header that can be chosen'
  if (!PRINTABLE.test(value)) return 'must be of printable ASCII'
  if (value !== value.trim()) return 'must not begin or end with white space'
  return undefined
}

/** JSON pointer, RFC 6901. A header name can be long and contain any character: the pointer is cut and made printable. */
function escapePointer(name: string): string {
  return name
    .slice(0, 100)
    .replaceAll('~', '~0')
    .replaceAll('/', '~1')
    .replace(/[^\x20-\x7e]/g, '?')
}
