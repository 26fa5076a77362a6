/** Answers that no receiver of webhooks should give, and what each may count as. */

/** How the receiver ends what it says: it waits for more, closes, or resets the connection. */
export type Ending = 'wait' | 'close' | 'reset'

export interface HostileAnswer {
  /** Written one after the other, each in a write of its own. */
  pieces: Buffer[]
  ending: Ending
  /** Written a moment later, when the connection may be idle. */
  late: Buffer | undefined
  /** Its head is as it should be, whatever comes after it. Whether another has a status is for the parser of undici to decide. */
  isIntact: boolean
  /** Its body arrives to its end, so that a status of success counts. */
  isWhole: boolean
}

/** The status of an answer, or the reason why it has none. */
export type Verdict = number | 'refused' | 'timeout'

type Below = (count: number) => number

/** Characters that stand for themselves in a header, a control character, and those that end lines. */
const SPICE = [
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\0',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  'HTTP/1.1 200 OK\r\n',
  '\xff',
  '\x7f',
  '-',
  '0',
  'g',
]
const STATUSES = [200, 200, 200, 201, 202, 204, 301, 304, 400, 404, 410, 429, 500, 503, 599, 999]
const PLAIN_FIELDS = [
  'date: Wed, 18 Nov 2026 12:00:00 GMT',
  'Server: x/1',
  'x-empty:',
  'set-cookie: a=b',
  'x-latin: \xe9\xff',
  'keep-alive: timeout=5',
  'Keep-Alive: timeout=1, max=1',
  'retry-after: 17',
  'connection: keep-alive',
  'Connection: close',
  'connection: upgrade',
  'upgrade: websocket',
]
const ODD_FIELDS = [
  'no colon',
  ': x',
  ' folded: x',
  'a b: x',
  'x: \0',
  'x: a\rb',
  'x: a\nb',
  'content-length: x',
  'content-length: -1',
  'content-length: 1, 1',
  'content-length: 99999999999999999999',
  'content-length:',
  'transfer-encoding: gzip',
  'transfer-encoding: identity, chunked',
  'Content-Length: 0',
]
const ODD_LINES = ['', 'HTTP/1.1', 'HTTP/1.1 ', 'HTTP/1.1 20 OK', 'HTTP/1.1 2000 OK', 'HTTP/1.1 099 OK', 'HTTP/2 200 OK', 'http/1.1 200 OK', 'ICY 200 OK', 'HTTP/1.1\t200 OK', 'HTTP/1.1 101 Switching Protocols', 'HTTP/1.1 200\0'] // biome-ignore format: one row
const NO_LAST_CHUNKS = ['zz\r\n', '-1\r\n\r\n', '0\n\n', 'ffffffffff\r\n']
const INTERIM = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n',
  'HTTP/1.0 199 x\r\n\r\n',
]

export function hostileAnswer(below: Below): HostileAnswer {
  const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T
  const oneIn = (times: number) => below(times) === 0

  let text = ''
  let isIntact = !oneIn(6)
  if (!isIntact) {
    for (let left = 1 + below(4); left > 0; left--) text += pick(INTERIM)
    if (oneIn(30)) text += INTERIM[1]?.repeat(600)
  }
  const answer = answerText(pick, oneIn, below)
  text += answer.text
  isIntact &&= answer.isIntact
  if (oneIn(3)) {
    isIntact = false
    for (let left = 1 + below(3); left > 0; left--) text = mutated(text, below, pick)
  }
  if (oneIn(8)) {
    isIntact = false
    text = text.slice(0, below(text.length + 1))
  }
  const more = oneIn(12) ? pick(['x', '\r\n', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', '\0'.repeat(3_000)]) : ''
  text += more
  const bytes = Buffer.from(text, 'latin1')
  const late = oneIn(20) ? Buffer.from(pick(['x', 'HTTP/1.1 408 Request Timeout\r\n\r\n'])) : undefined
  // Few make the sender wait until it gives up: that takes time.
  const isWaiting = isIntact ? oneIn(2) : oneIn(20)
  const ending = oneIn(40) ? 'reset' : isWaiting ? 'wait' : 'close'
  const following = more.length + (ending === 'wait' ? (late?.length ?? 0) : 0)
  const isWhole = answer.missing === 'close' ? ending === 'close' : answer.missing <= following
  return { pieces: oneIn(4) ? split(bytes, below) : [bytes], ending, late, isIntact, isWhole }
}

function answerText(
  pick: <T>(values: readonly T[]) => T,
  oneIn: (times: number) => boolean,
  below: Below,
): { text: string; isIntact: boolean; missing: number | 'close' } {
  let isIntact = !oneIn(10)
  const status = isIntact
    ? `HTTP/1.${oneIn(15) ? 0 : 1} ${pick(STATUSES)}${pick([' OK', '', ' ', ' \xe9t\xe9'])}`
    : pick(ODD_LINES)
  const fields = Array.from({ length: below(6) }, () => pick(PLAIN_FIELDS))
  if (oneIn(8)) {
    isIntact = false
    fields.push(pick(ODD_FIELDS))
  }
  if (oneIn(60)) {
    isIntact = false
    fields.push(`x-large: ${'v'.repeat(below(3) * 9_000)}`)
  }
  let body = ''
  /** Bytes that the body lacks, or the end of the connection. */
  let missing: number | 'close' = 0
  const form = below(8)
  if (form < 4) {
    body = 'b'.repeat(oneIn(20) ? 3_000 + below(3_000) : below(60))
    const stated = oneIn(10) ? below(5_000) : body.length
    missing = Math.max(0, stated - body.length)
    fields.push(`${pick(['content-length', 'Content-Length'])}: ${stated}`)
  } else if (form < 7) {
    fields.push('transfer-encoding: chunked')
    for (let left = below(4); left > 0; left--) {
      const size = oneIn(10) ? 2_000 : 1 + below(30)
      body += `${size.toString(16)}${oneIn(12) ? ';x=y' : ''}\r\n${'c'.repeat(size)}\r\n`
    }
    const last = oneIn(10) ? pick(['0\r\nx: y\r\n\r\n', ...NO_LAST_CHUNKS]) : '0\r\n\r\n'
    if (NO_LAST_CHUNKS.includes(last)) missing = Number.POSITIVE_INFINITY
    body += last
  } else {
    missing = 'close'
    body = 'until the end'
  }
  // Nothing follows these heads, whatever they say.
  if (/ (204|304)\b/.test(status)) missing = 0
  return { text: `${[status, ...fields].join('\r\n')}\r\n\r\n${body}`, isIntact, missing }
}

/** The text with one place changed: something put in, taken out, or another byte. */
function mutated(text: string, below: Below, pick: <T>(values: readonly T[]) => T): string {
  // Mostly in the head, where it matters.
  const at = below(Math.min(text.length, 300) + 1)
  const kind = below(3)
  if (kind === 0) return text.slice(0, at) + pick(SPICE) + text.slice(at)
  if (kind === 1) return text.slice(0, at) + text.slice(at + 1 + below(4))
  return text.slice(0, at) + String.fromCharCode(below(256)) + text.slice(at + 1)
}

function split(bytes: Buffer, below: Below): Buffer[] {
  const cuts = Array.from({ length: 1 + below(5) }, () => below(bytes.length + 1)).sort((a, b) => a - b)
  return [0, ...cuts]
    .map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length))
    .filter((one) => one.length > 0)
}

/** The only status that a message may get: the first final one that its own receiver wrote at the beginning of a line. */
export function statusIn(bytes: Buffer): number | undefined {
  const codes = [...bytes.toString('latin1').matchAll(/^HTTP\/[0-9]\.[0-9] ([0-9]{3})(?![0-9])/gm)].map(([, code]) =>
    Number(code),
  )
  return codes.find((code) => code >= 200)
}
