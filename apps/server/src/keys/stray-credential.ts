interface Sent {
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly url: string
}

/** Names under which clients send a key when they guess: other spellings of the header, and the ways of other areas. */
const NAMES = new Set(['authorization', 'xapikey', 'apikey', 'clientid', 'clientsecret', 'xauthtoken', 'xapitoken'])
/** Our keys say what they are, so one is known wherever it stands. */
const OUR_KEY = /ost_(test|live)_/

/**
 * Whether a request carries a credential in a place where an area without compulsory keys does not read it. Whoever sends
 * one does not mean to be anonymous, and what anonymous callers store is readable by everybody.
 */
export function hasStrayCredential({ headers, url }: Sent): boolean {
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name === 'x-api-key') continue
    if (NAMES.has(plain(name)) || OUR_KEY.test(String(value))) return true
  }
  const query = url.slice(url.indexOf('?') + 1)
  if (query === url) return false
  return [...new URLSearchParams(query)].some(([name, value]) => NAMES.has(plain(name)) || OUR_KEY.test(value))
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '')
}
