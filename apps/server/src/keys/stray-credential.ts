interface Sent {
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly url: string
}

/** Wrong names under which clients send a key: other spellings of the header, and the names of other areas. */
const NAMES = new Set(['authorization', 'xapikey', 'apikey', 'clientid', 'clientsecret', 'xauthtoken', 'xapitoken'])
/** Our keys have a prefix, so they are recognised in any place. */
const OUR_KEY = /ost_(test|live)_/

/**
 * Whether a request has a credential in a place where an area with optional keys does not read it. Such a caller does not mean
 * to be anonymous, and data of anonymous callers is readable by everyone.
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
