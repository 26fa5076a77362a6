import { SANCTIONS_LIMITS } from '@ostiary/contract/limits'

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
  /** Parts that will not grow any more. */
  closed(): readonly Part[]
  /** The first byte that a later part may need. */
  neededFrom(): number
  header(): Uint8Array
  end(): Plan
}

/** One part as it is sent: the line of column names and whole rows. */
export interface CutPart {
  bytes: Uint8Array
  rows: number
  lineShift: number
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
  let header: Uint8Array | undefined
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
        header = Uint8Array.from(headerBytes)
        headerLines = line - rowLine
      }
      headerBytes = []
    } else if (hasText) addRow(header.length, end)
    hasText = false
    rowStart = end
    rowLine = line
    // No further row fits behind so many blank lines.
    if (part && header && header.length + end - part.start > limits.bytes) part = undefined
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

  /** Found before the row ends: a missing quotation mark makes the rest of a stream one row, which must not be held. */
  function checkRow(): void {
    if (offset <= limits.bytes) return
    if (!header && !hasText) throw new Error('The file has no line with the names of its columns')
    if (header && header.length + offset - rowStart > limits.bytes) throw new Error(tooLong(rowLine))
  }

  return {
    write(chunk) {
      for (const byte of chunk) read(byte)
      checkRow()
    },
    closed: () => (offset <= limits.bytes ? [] : part ? parts.slice(0, -1) : parts),
    neededFrom: () => (offset <= limits.bytes ? 0 : (part?.start ?? rowStart)),
    header: () => header ?? new Uint8Array(0),
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

/** Reads a file once to count its parts. Nothing of it is held. */
export async function planParts(chunks: AsyncIterable<Uint8Array>, limits: { bytes: number }): Promise<Plan> {
  const planner = createPlanner(limits)
  for await (const chunk of chunks) planner.write(chunk)
  return planner.end()
}

/** Cuts a file as it is read. At most one part and one chunk are in memory. */
export async function* cutParts(
  chunks: AsyncIterable<Uint8Array>,
  limits: { bytes: number },
): AsyncGenerator<CutPart, void> {
  const planner = createPlanner(limits)
  const held = createHeldBytes()
  let cut = 0
  const toCut = (header: Uint8Array, { start, end, rows, lineShift }: Part): CutPart => {
    cut++
    return { bytes: held.join(header, start, end), rows, lineShift }
  }
  for await (const chunk of chunks) {
    planner.write(chunk)
    held.add(chunk)
    for (const part of planner.closed().slice(cut)) yield toCut(planner.header(), part)
    held.dropBefore(planner.neededFrom())
  }
  const { header, parts } = planner.end()
  for (const part of parts.slice(cut)) yield toCut(header, part)
}

/** The bytes of a stream that are still needed. */
function createHeldBytes() {
  const chunks: Uint8Array[] = []
  let from = 0
  return {
    add: (chunk: Uint8Array) => chunks.push(chunk),
    dropBefore(offset: number): void {
      while (chunks[0] && from + chunks[0].length <= offset) from += chunks.shift()?.length ?? 0
    },
    join(header: Uint8Array, start: number, end: number): Uint8Array {
      const joined = new Uint8Array(header.length + end - start)
      joined.set(header)
      let at = from
      for (const chunk of chunks) {
        const piece = chunk.subarray(Math.max(0, start - at), Math.max(0, end - at))
        if (piece.length > 0) joined.set(piece, header.length + Math.max(at, start) - start)
        at += chunk.length
      }
      return joined
    },
  }
}
