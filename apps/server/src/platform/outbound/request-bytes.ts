const NAMES = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/
/** Headers that say where a request ends, or to whom it goes. They are ours to set. */
const OWN = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'proxy-connection',
])

/** The part of a request's head that is the same for all requests to a URL. */
export function requestStart(url: URL): string {
  return `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`
}

/** A whole request in one buffer, so that it is written with one call. Headers are name, value, name, value. */
export function requestBytes(start: string, headers: readonly string[], body: Buffer): Buffer {
  let head = start
  let values = ''
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? ''
    const value = headers[at + 1] ?? ''
    if (!goodNames.has(name)) checkName(name)
    head += `${name}: ${value}\r\n`
    values += value
  }
  // All at once: a line break in any of them would begin a header, or a request, of somebody else.
  if (NOT_IN_VALUES.test(values)) throw new TypeError('a header has forbidden characters')
  head += `content-length: ${body.length}\r\n\r\n`
  const bytes = Buffer.allocUnsafe(head.length + body.length)
  bytes.write(head, 'latin1')
  bytes.set(body, head.length)
  return bytes
}

/** Names that were checked: nearly all requests have the same. */
const goodNames = new Set<string>()
const GOOD_NAMES_MAX = 1_000

function checkName(name: string): void {
  if (!NAMES.test(name)) throw new TypeError('a header has forbidden characters')
  if (OWN.has(name.toLowerCase())) throw new TypeError(`the header ${name} is not the caller’s`)
  if (goodNames.size >= GOOD_NAMES_MAX) goodNames.clear()
  goodNames.add(name)
}
