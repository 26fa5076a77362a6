import { SETTINGS_LIMITS } from '@ostiary/contract'

const PRINTABLE_ASCII = /^[!-~]+$/
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
/** A slash or backslash in disguise: some servers undo it, and the path is then another one. */
const HIDDEN_SLASH = /%2f|%5c/i

/**
 * Why a user may not be sent to a URL, if so. An entry of the list allows its own path and everything below it, never a path
 * that only begins with the same letters. Without a list any https URL is allowed, and for tests http to this machine.
 */
export function redirectProblem(url: string, allowed: readonly string[], livemode: boolean): string | undefined {
  const target = parseHttpUrl(url)
  if (!target) return problemOfForm(url, livemode)
  if (allowed.length === 0) return target.protocol === 'https:' || !livemode ? undefined : schemeProblem(livemode)
  if (allowed.some((entry) => covers(new URL(entry), target))) return undefined
  return 'is neither at nor below a URL that this tenant allows (its setting redirectUrls)'
}

/** What keeps a text from being a plain web address, for whoever has to mend it. */
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
 * A redirect URL with what is added when a flow has ended. Parameters of the host's own stay as they are, unchanged; of a name
 * that is added only ours is left.
 */
export function withParameters(redirectUrl: string, added: Readonly<Record<string, string>>): string {
  const url = new URL(redirectUrl)
  for (const name of Object.keys(added)) if (url.searchParams.has(name)) url.searchParams.delete(name)
  const parameters = new URLSearchParams(added)
  url.search = url.search === '' ? `?${parameters}` : `${url.search}&${parameters}`
  return url.href
}

/** What is wrong with an entry of the list, if anything. */
export function redirectEntryProblem(entry: string): string | undefined {
  const url = parseHttpUrl(entry)
  if (!url) return 'must be an https URL; http is for localhost only'
  if (url.search !== '' || url.hash !== '' || /[?#]$/.test(entry)) return 'must have no query and no fragment'
  if (entry.includes('*')) return 'must name one place: there are no wildcards'
  // Nobody should have to guess what an entry with capitals, dots or a default port allows.
  if (url.href !== entry && url.href !== `${entry}/`) return `must be written as ${url.href}`
  return undefined
}

function covers(entry: URL, target: URL): boolean {
  if (entry.origin !== target.origin) return false
  if (entry.pathname === '/') return true
  if (HIDDEN_SLASH.test(target.pathname)) return false
  const below = entry.pathname.endsWith('/') ? entry.pathname : `${entry.pathname}/`
  return target.pathname === entry.pathname || target.pathname.startsWith(below)
}

/** Reads a URL as browsers do, and refuses what they and others read differently. */
function parseHttpUrl(text: string): URL | undefined {
  if (text.length > SETTINGS_LIMITS.urlChars || !PRINTABLE_ASCII.test(text) || text.includes('\\')) return undefined
  // The parser also takes `https:host` and `https:///host`.
  if (!/^https?:\/\/[^/?#@]+([/?#]|$)/i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.protocol === 'https:' || LOOPBACK.has(url.hostname) ? url : undefined
}
