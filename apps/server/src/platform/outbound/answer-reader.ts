import { ChunkedBody, type Progress } from './chunked-body.ts'
import { OutboundError } from './errors.ts'

export type { Progress } from './chunked-body.ts'

/** What a receiver answered. */
export interface PooledAnswer {
  readonly status: number
  readonly retryAfter: string | undefined
}

const HEAD_BYTES_MAX = 16_384
const VERSION_PREFIX = 'HTTP/1.'
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const NOT_IN_VALUES = /[^\t\x20-\x7e\x80-\xff]/
/** White space around a value is of spaces and tabs only. */
const LENGTH = /^[\t ]*(\d{1,15})[\t ]*$/
const CHUNKED = /^[\t ]*chunked[\t ]*$/i

/**
 * Reads the answers of one connection, one after the other. It understands what a receiver of webhooks needs to say: a status, its
 * headers and a short body, of stated length or chunked. Interim answers (1xx) are skipped. With any other body (of no stated length,
 * too long, coded otherwise) the status counts and the connection ends. What is not an answer in the strict form of RFC 9112 is an error, because
 * a message that counts as delivered is never sent again.
 */
export class AnswerReader {
  answer: PooledAnswer | undefined
  /** How long the receiver keeps the connection, by its header `Keep-Alive`; undefined when it does not say. */
  keptMs: number | undefined
  readonly #bodyBytesMax: number
  /** The part of the head that has arrived. */
  #text = ''
  /** Bytes of interim answers. They count towards the limit of the head, so that they end some time. */
  #skipped = 0
  #bodyLeft = 0
  #chunks: ChunkedBody | undefined

  constructor(bodyBytesMax: number) {
    this.#bodyBytesMax = bodyBytesMax
  }

  /** The next answer belongs to another request. */
  reset(): void {
    this.answer = undefined
    this.keptMs = undefined
    this.#text = ''
    this.#skipped = 0
    this.#bodyLeft = 0
    this.#chunks = undefined
  }

  /** Takes the first `length` bytes and keeps no reference to them. Throws an OutboundError. */
  read(bytes: Buffer, length: number): Progress {
    return this.answer ? this.#readBody(bytes, 0, length) : this.#readHeads(bytes, length)
  }

  #readHeads(bytes: Buffer, length: number): Progress {
    const before = this.#text.length
    const text = this.#text + bytes.toString('latin1', 0, length)
    let at = 0
    for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n', at)) {
      const headBytes = end + 4 - at
      if (this.#skipped + headBytes > HEAD_BYTES_MAX) throw new OutboundError('too_large')
      const head = headOf(text.slice(at, end))
      at = end + 4
      if (head.answer.status >= 200) return this.#begin(head) ? this.#readBody(bytes, at - before, length) : 'close'
      this.#skipped += headBytes
    }
    this.#text = at === 0 ? text : text.slice(at)
    if (this.#skipped + this.#text.length > HEAD_BYTES_MAX) throw new OutboundError('too_large')
    refuseOtherProtocol(this.#text)
    return 'more'
  }

  /** False when the connection must end. */
  #begin(head: Head): boolean {
    this.answer = head.answer
    this.keptMs = head.keptMs
    this.#text = ''
    if (head.isChunked) this.#chunks = new ChunkedBody(this.#bodyBytesMax)
    this.#bodyLeft = head.bodyBytes
    return head.isKept && head.bodyBytes <= this.#bodyBytesMax
  }

  #readBody(bytes: Buffer, from: number, to: number): Progress {
    if (this.#chunks) return this.#chunks.read(bytes, from, to)
    this.#bodyLeft -= to - from
    if (this.#bodyLeft > 0) return 'more'
    // More than was announced: nobody knows what the rest belongs to.
    return this.#bodyLeft === 0 ? 'kept' : 'close'
  }
}

interface Head {
  readonly answer: PooledAnswer
  readonly isKept: boolean
  readonly isChunked: boolean
  readonly bodyBytes: number
  readonly keptMs: number | undefined
}

/** Ends at once what can never become an answer, so that such a receiver is not waited for. */
function refuseOtherProtocol(text: string): void {
  const isPossible =
    text.length < VERSION_PREFIX.length ? VERSION_PREFIX.startsWith(text) : text.startsWith(VERSION_PREFIX)
  if (!isPossible) throw malformed('PROTOCOL')
  const lineEnd = text.indexOf('\r\n')
  if (lineEnd >= 0 && !STATUS_LINE.test(text.slice(0, lineEnd))) throw malformed('STATUS')
}

/** A receiver says the same again and again: its head is the same for a second, until its clock shows the next. */
let lastHead: { text: string; head: Head } | undefined

function headOf(text: string): Head {
  if (lastHead?.text === text) return lastHead.head
  const head = readHead(text)
  lastHead = { text, head }
  return head
}

function readHead(text: string): Head {
  const lines = text.split('\r\n')
  const [, minor, code] = STATUS_LINE.exec(lines[0] ?? '') ?? []
  if (code === undefined) throw malformed('STATUS')
  const status = Number(code)
  // We never ask for another protocol.
  if (status === 101) throw malformed('UPGRADE')
  const { length, coding, isClosing, keptMs, retryAfter } = readFields(lines)
  if (length !== undefined && coding !== undefined) throw malformed('LENGTH')
  const hasNoBody = status === 204 || status === 304
  const isChunked = !hasNoBody && coding !== undefined && CHUNKED.test(coding)
  const hasKnownEnd = hasNoBody || isChunked || length !== undefined
  const isKept = hasKnownEnd && minor === '1' && !isClosing
  return { answer: { status, retryAfter }, isKept, isChunked, bodyBytes: hasNoBody ? 0 : (length ?? 0), keptMs }
}

interface Fields {
  length: number | undefined
  /** Several are joined, and none of them is understood then. */
  coding: string | undefined
  isClosing: boolean
  keptMs: number | undefined
  retryAfter: string | undefined
}

function readFields(lines: readonly string[]): Fields {
  const fields: Fields = {
    length: undefined,
    coding: undefined,
    isClosing: false,
    keptMs: undefined,
    retryAfter: undefined,
  }
  let retries = 0
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index] ?? ''
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon))
    if (!FIELD_NAME.test(name) || NOT_IN_VALUES.test(line)) throw malformed('FIELD')
    switch (name.length < 10 ? '' : name.toLowerCase()) {
      case 'content-length':
        if (fields.length !== undefined) throw malformed('LENGTH')
        fields.length = lengthOf(line.slice(colon + 1))
        break
      case 'transfer-encoding':
        fields.coding =
          (fields.coding ?? '') +
          line
            .slice(colon + 1)
            .trim()
            .toLowerCase()
        break
      case 'connection':
        if (/\bclose\b/i.test(line.slice(colon + 1))) fields.isClosing = true
        break
      case 'keep-alive':
        fields.keptMs = keptMsOf(line.slice(colon + 1))
        break
      case 'retry-after':
        // Of two, none is obeyed.
        retries++
        fields.retryAfter = retries === 1 ? line.slice(colon + 1).trim() : undefined
        break
    }
  }
  return fields
}

function lengthOf(value: string): number {
  const [, digits] = LENGTH.exec(value) ?? []
  if (digits === undefined) throw malformed('LENGTH')
  return Number(digits)
}

function keptMsOf(value: string): number | undefined {
  const seconds = /\btimeout=(\d{1,6})\b/i.exec(value)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

function malformed(code: string): OutboundError {
  return new OutboundError('refused', { code })
}
