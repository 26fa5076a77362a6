import { SANCTIONS_LIMITS } from '@ostiary/contract'

/** A byte range of the file that is sent in one request. It holds whole rows. */
export interface Part {
  /** First byte, and the byte after the last. */
  start: number
  end: number
  rows: number
  /** What to add to a line number in the part to get the line of the file. */
  lineShift: number
}

export interface Plan {
  /** Sent before every part; empty when the file is sent unchanged. */
  header: Uint8Array
  parts: Part[]
  rows: number
}

export interface Planner {
  write(chunk: Uint8Array): void
  end(): Plan
}

const QUOTE = 0x22
const CR = 0x0d
const LF = 0x0a
const SPACE = 0x20
const BOM = [0xef, 0xbb, 0xbf]
const UTF8_BYTES_MAX = 4
const HEADER_BYTES_MAX = SANCTIONS_LIMITS.headerChars * UTF8_BYTES_MAX

/**
 * Finds where a CSV can be cut. It looks at bytes: quotes and line breaks are single bytes in UTF-8, and in a file that
 * the service accepts every quote opens or closes a field or is doubled, so after an
 * even number of quotes the position is outside a quoted field.
 */
export function createPlanner(limits: { bytes: number }): Planner {
  const parts: Part[] = []
  let part: Part | undefined
  let rows = 0
  let header: Buffer | undefined
  let headerBytes: number[] = []
  let headerLines = 0

  let offset = 0
  let line = 1
  let inQuotes = false
  let previous = 0
  let rowStart = 0
  let rowLine = 1
  let hasText = false

  function endLine(end: number): void {
    if (!header) {
      if (hasText) {
        header = Buffer.from(headerBytes)
        headerLines = line - rowLine
      }
      headerBytes = []
    } else if (hasText) addRow(header.length, end)
    hasText = false
    rowStart = end
    rowLine = line
  }

  function addRow(headerLength: number, end: number): void {
    rows++
    if (!part || headerLength + end - part.start > limits.bytes) {
      part = { start: rowStart, end, rows: 0, lineShift: rowLine - headerLines - 1 }
      parts.push(part)
    }
    if (headerLength + end - part.start > limits.bytes) throw new Error(tooLong(rowLine))
    part.end = end
    part.rows++
  }

  function read(byte: number): void {
    const afterCr = previous === CR
    // A lone CR ends its line, but that is known only when the next byte is not LF.
    if (afterCr && byte !== LF && !inQuotes) endLine(offset)
    previous = byte
    if (!header) keepHeader(byte)
    offset++
    if (byte === CR || byte === LF) {
      if (!(byte === LF && afterCr)) line++
      if (byte === LF && !inQuotes) endLine(offset)
      return
    }
    if (byte === QUOTE) inQuotes = !inQuotes
    if (byte !== SPACE && BOM[offset - 1] !== byte) hasText = true
  }

  function keepHeader(byte: number): void {
    headerBytes.push(byte)
    if (headerBytes.length > HEADER_BYTES_MAX) throw new Error('The first line is too long to be a list of columns')
  }

  return {
    write(chunk) {
      for (const byte of chunk) read(byte)
    },
    end() {
      if (offset > rowStart) endLine(offset)
      const fits = offset <= limits.bytes
      if (fits || !header) {
        return { header: new Uint8Array(0), parts: [{ start: 0, end: offset, rows, lineShift: 0 }], rows }
      }
      return { header, parts, rows }
    },
  }

  function tooLong(at: number): string {
    return `The row that begins in line ${at} is larger than a file may be: is a quotation mark missing?`
  }
}
