import { SETTINGS_LIMITS, type TenantSettings } from '@ostiary/contract'

const PRINTABLE_ASCII = /^[!-~]+$/
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
/** An encoded slash or backslash. Some servers decode it, which changes the path. */
const HIDDEN_SLASH = /%2f|%5c/i

/**
 * Some Java servers cut a segment at `;` and then read `..;` as `..`. Dots may be percent-encoded: the parser resolves `%2e%2e`, but
 * not `%2e%2e;`.
 */
const HIDDEN_PARENT = /(?:^|\/)(?:\.|%2e)+(?:;|%3b)/i

/** The warning for a live session of a tenant without a list: its users can be sent to any https URL. */
export const NO_REDIRECT_LIST_WARNING = 'redirect-list-missing'

export function lacksRedirectList({ redirectUrls }: Pick<TenantSettings, 'redirectUrls'>, livemode: boolean): boolean {
  return livemode && redirectUrls.length === 0
}

/**
 * The reason why a user may not be redirected to a URL, or undefined. An entry of the list allows its own path and everything
 * below it, but not a path that only begins with the same letters. Without a list any https URL is allowed, and for tests
 * http to this machine, unless the tenant requires the list.
 */
export function redirectProblem(
  url: string,
  { redirectUrls: allowed, redirectListRequired = false }: RedirectRules,
  livemode: boolean,
): string | undefined {
  const target = parseHttpUrl(url)
  if (!target) return problemOfForm(url, livemode)
  if (allowed.length === 0 && redirectListRequired) {
    return 'cannot be allowed: this tenant requires a list (redirectListRequired) and has an empty one (redirectUrls)'
  }
  if (allowed.length === 0) return target.protocol === 'https:' || !livemode ? undefined : schemeProblem(livemode)
  if (allowed.some((entry) => covers(new URL(entry), target))) return undefined
  return 'is neither at nor below a URL that this tenant allows (its setting redirectUrls)'
}

type RedirectRules = Pick<TenantSettings, 'redirectUrls'> & Partial<Pick<TenantSettings, 'redirectListRequired'>>

/** The reason why a text is not a plain web address, for the person who has to correct it. */
function problemOfForm(text: string, livemode: boolean): string {
  if (text.length > SETTINGS_LIMITS.urlChars) return `must have at most ${SETTINGS_LIMITS.urlChars} characters`
  if (!PRINTABLE_ASCII.test(text) || text.includes('\\')) {
    return 'must be of printable ASCII without spaces and backslashes; percent-encode the rest'
  }
  if (!/^https?:/i.test(text)) return schemeProblem(livemode)
  if (/^https?:\/\/[^/?#]*@/i.test(text)) return 'must not hold a user name or password'
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) return 'must be a URL such as https://host.example/path'
  return schemeProblem(livemode)
}

function schemeProblem(livemode: boolean): string {
  return livemode
    ? 'must begin with https://; http is for test keys, and for what the tenant’s redirectUrls allow'
    : 'must begin with https://; http is for localhost, 127.0.0.1 and [::1] only'
}

/**
 * Adds parameters to a redirect URL when a session has ended. The host's own parameters stay unchanged, but an added one
 * replaces those of the same name.
 */
export function withParameters(redirectUrl: string, added: Readonly<Record<string, string>>): string {
  const url = new URL(redirectUrl)
  for (const name of Object.keys(added)) if (url.searchParams.has(name)) url.searchParams.delete(name)
  const parameters = new URLSearchParams(added)
  url.search = url.search === '' ? `?${parameters}` : `${url.search}&${parameters}`
  return url.href
}

/** The problem of an entry of the list, or undefined. */
export function redirectEntryProblem(entry: string): string | undefined {
  const url = parseHttpUrl(entry)
  if (!url) return 'must be an https URL; http is for localhost only'
  if (url.search !== '' || url.hash !== '' || /[?#]$/.test(entry)) return 'must have no query and no fragment'
  if (entry.includes('*')) return 'must name one place: there are no wildcards'
  // Refused because it is unclear what an entry with capitals, dots or a default port allows.
  if (url.href !== entry && url.href !== `${entry}/`) return `must be written as ${url.href}`
  return undefined
}

function covers(entry: URL, target: URL): boolean {
  if (entry.origin !== target.origin) return false
  if (entry.pathname === '/') return true
  if (HIDDEN_SLASH.test(target.pathname) || HIDDEN_PARENT.test(target.pathname)) return false
  const below = entry.pathname.endsWith('/') ? entry.pathname : `${entry.pathname}/`
  return target.pathname === entry.pathname || target.pathname.startsWith(below)
}

/** Parses a URL as browsers do, and refuses text that other parsers read differently. */
function parseHttpUrl(text: string): URL | undefined {
  if (text.length > SETTINGS_LIMITS.urlChars || !PRINTABLE_ASCII.test(text) || text.includes('\\')) return undefined
  // The parser also accepts `https:host` and `https:///host`.
  if (!/^https?:\/\/[^/?#@]+([/?#]|$)/i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.protocol === 'https:' || LOOPBACK.has(url.hostname) ? url : undefined
}
