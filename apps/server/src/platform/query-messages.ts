/** What a value of a statement is on the wire: text, bytes or nothing. */
export type Wire = string | Buffer | null

/** Numbers and times as text, bytes as they are, lists as PostgreSQL writes them, other objects as JSON. */
export function toWire(value: unknown): Wire {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return null
  if (typeof value !== 'object') return String(value)
  if (Buffer.isBuffer(value)) return value
  if (value instanceof Date) return timeText(value)
  if (Array.isArray(value)) return listText(value)
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return JSON.stringify(value)
}

/** PostgreSQL has no year 0 and no sign before a year, as the text of JavaScript has outside of 0000 to 9999. */
function timeText(time: Date): string {
  const text = time.toISOString()
  const year = time.getUTCFullYear()
  if (year > 0 && year < 10_000) return text
  const rest = text.slice(text.indexOf('-', 1))
  return year > 0 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`
}

function listText(list: readonly unknown[]): string {
  const items = list.map((item) => {
    if (Array.isArray(item)) return listText(item)
    const wire = toWire(item)
    if (wire === null) return 'NULL'
    if (typeof wire === 'string') return `"${wire.replace(/["\\]/g, '\\$&')}"`
    return `"\\\\x${wire.toString('hex')}"`
  })
  return `{${items.join(',')}}`
}

const BYTES = 1
const TEXT = 0
/** Describes and executes the unnamed portal. */
const DESCRIBE = Buffer.from([0x44, 0, 0, 0, 6, 0x50, 0])
const EXECUTE = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0])
const SYNC = Buffer.from([0x53, 0, 0, 0, 4])

/** A statement that is run once for each list of values. */
export interface Run {
  name: string
  /** Only if the connection does not know the statement yet. */
  text: string | undefined
  lists: readonly (readonly Wire[])[]
  /** Whether PostgreSQL should say which columns come back. */
  isDescribed: boolean
}

/**
 * Everything that PostgreSQL needs to run these statements, in one piece: pg makes a buffer of each message, and the system call for five
 * buffers costs far more than the one for a single buffer. Only one Sync ends them, so they are one transaction, unless they begin one.
 */
export function messagesOf(runs: readonly Run[]): Buffer {
  const bytes = Buffer.allocUnsafe(runs.reduce((sum, run) => sum + sizeOf(run), SYNC.length))
  let at = 0
  for (const { name, text, lists, isDescribed } of runs) {
    if (text !== undefined) at = writeParse(bytes, at, name, text)
    for (const [index, values] of lists.entries()) {
      at = writeBind(bytes, at, name, values)
      // All runs return the same columns.
      if (isDescribed && index === 0) at += DESCRIBE.copy(bytes, at)
      at += EXECUTE.copy(bytes, at)
    }
  }
  at += SYNC.copy(bytes, at)
  // Texts beyond ASCII may need less than was reserved.
  return bytes.subarray(0, at)
}

/** A UTF-16 unit becomes at most three bytes. Long texts are counted, so that no memory is wasted. */
const mostBytes = (text: string) => (text.length < 500 ? text.length * 3 : Buffer.byteLength(text))

function sizeOf({ name, text, lists, isDescribed }: Run): number {
  let size = isDescribed ? DESCRIBE.length : 0
  if (text !== undefined) size += 9 + mostBytes(name) + mostBytes(text)
  for (const values of lists) {
    size += EXECUTE.length + 13 + mostBytes(name) + 6 * values.length
    for (const value of values) if (value !== null) size += typeof value === 'string' ? mostBytes(value) : value.length
  }
  return size
}

function writeText(bytes: Buffer, at: number, text: string): number {
  const end = at + bytes.write(text, at)
  bytes[end] = 0
  return end + 1
}

/** Writes the length of a message that began at `start` and ends at `end`. */
function close(bytes: Buffer, start: number, end: number): number {
  bytes.writeInt32BE(end - start - 1, start + 1)
  return end
}

function writeParse(bytes: Buffer, start: number, name: string, text: string): number {
  bytes[start] = 0x50
  const at = writeText(bytes, writeText(bytes, start + 5, name), text)
  // PostgreSQL finds out the types of the values.
  return close(bytes, start, bytes.writeInt16BE(0, at))
}

function writeBind(bytes: Buffer, start: number, name: string, values: readonly Wire[]): number {
  bytes[start] = 0x42
  // The unnamed portal.
  bytes[start + 5] = 0
  let at = writeText(bytes, start + 6, name)
  at = bytes.writeInt16BE(values.length, at)
  for (const value of values) at = bytes.writeInt16BE(typeof value === 'object' && value !== null ? BYTES : TEXT, at)
  at = bytes.writeInt16BE(values.length, at)
  for (const value of values) at = writeValue(bytes, at, value)
  // All columns as text.
  return close(bytes, start, bytes.writeInt16BE(0, at))
}

function writeValue(bytes: Buffer, at: number, value: Wire): number {
  if (value === null) return bytes.writeInt32BE(-1, at)
  const length = typeof value === 'string' ? bytes.write(value, at + 4) : value.copy(bytes, at + 4)
  bytes.writeInt32BE(length, at)
  return at + 4 + length
}
