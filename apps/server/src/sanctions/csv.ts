import { type RowWarning, SANCTIONS_LIMITS } from '@ostiary/contract'
import { AppError } from '../platform/errors.ts'
import { readDob } from './dob.ts'
import { completeLength, validLength } from './utf8.ts'

export type Warning = RowWarning

/** One row of the customer's file. The four texts are as written in the file: trim them before comparing. */
export interface Person {
  /** The line on which the row begins; the first line of the file is 1. */
  line: number
  id: string
  firstname: string
  lastname: string
  dob: string
  warnings: Warning[]
}

export interface PeopleReader {
  /** Throws as soon as the file is known to be invalid, so that the rest of an upload need not be read. */
  write(chunk: Uint8Array): void
  end(): void
}

interface ReaderOptions {
  maxBytes: number
  /** Gets each row when its last byte is read. */
  onPerson(person: Person): void
}

const COLUMNS = ['id', 'firstname', 'lastname', 'dob'] as const
const DELIMITERS = [',', ';', '\t']
const { fieldChars, headerChars } = SANCTIONS_LIMITS
/** A character is one or two code units: a text longer than this is too long without counting. */
const FIELD_UNITS = 2 * fieldChars

const QUOTE = 0x22
const CR = 0x0d
const LF = 0x0a
const BOM = 0xfeff

const HEADER = 0
const FIELD_START = 1
const PLAIN = 2
const QUOTED = 3
/** The state after a quote in a quoted field: the quote ends the field, or is the first half of a doubled quote. */
const QUOTE_SEEN = 4

/**
 * Parses the customer's CSV as it arrives. The result does not depend on how the bytes are split into chunks, and of several
 * errors it reports the first in the file. It holds one header line and one row, each of limited size.
 */
export function createPeopleReader({ maxBytes, onPerson }: ReaderOptions): PeopleReader {
  const table = emptyTable(onPerson)
  /** The first bytes of a character that continues in the next chunk. */
  let pending = new Uint8Array(0)
  let room = maxBytes

  /** Parses the valid bytes before it reports the invalid ones, so that an error in an earlier line comes first. */
  function read(bytes: Uint8Array): void {
    const whole = pending.length === 0 ? bytes : Buffer.concat([pending, bytes])
    const complete = whole.subarray(0, completeLength(whole))
    pending = new Uint8Array(whole.subarray(complete.length))
    const valid = complete.subarray(0, validLength(complete))
    const text = Buffer.from(valid.buffer, valid.byteOffset, valid.length).toString('utf8')
    const nul = text.indexOf('\0')
    readText(table, nul < 0 ? text : text.slice(0, nul))
    if (nul >= 0) throw notText(table.line, 'holds a NUL character')
    if (valid.length < complete.length) throw notText(table.line, 'is not UTF-8')
  }

  return {
    write(chunk) {
      read(chunk.subarray(0, room))
      if (chunk.length > room) throw new AppError('too_large', 'FILE_TOO_LARGE', 'File too large')
      room -= chunk.length
    },
    end() {
      if (pending.length > 0) throw notText(table.line, 'is not UTF-8')
      endTable(table)
    },
  }
}

/**
 * The state of the parser. It is an object for top-level functions because closures would be created and optimised again for
 * every file, which costs more than the parsing.
 */
interface Table {
  readonly onPerson: ReaderOptions['onPerson']
  state: number
  started: boolean
  line: number
  /** The last character of the previous text: a chunk may end between CR and LF. */
  lastCode: number

  header: string
  headerLine: number
  headerInQuotes: boolean
  delimiter: number
  /** For each column up to the last required one: its index in `values`, or -1. */
  slots: readonly number[]

  readonly values: [string, string, string, string]
  rowLine: number
  column: number
  /** The index of the current field in `values`, or -1. */
  slot: number
  fieldLine: number
  value: string
  /** Whether the first field has text, for a first column whose text is not kept. */
  hasText: boolean
}

function emptyTable(onPerson: ReaderOptions['onPerson']): Table {
  return {
    onPerson,
    state: HEADER,
    started: false,
    line: 1,
    lastCode: 0,
    header: '',
    headerLine: 1,
    headerInQuotes: false,
    delimiter: 0,
    slots: [],
    values: ['', '', '', ''],
    rowLine: 1,
    column: 0,
    slot: -1,
    fieldLine: 1,
    value: '',
    hasText: false,
  }
}

function readText(table: Table, text: string): void {
  if (text === '') return
  // Reading numbers from an array is several times as fast as reading characters from a string.
  const bytes = Buffer.from(text, 'utf16le')
  const codes = new Uint16Array(bytes.buffer, bytes.byteOffset, text.length)
  let at = !table.started && codes[0] === BOM ? 1 : 0
  table.started = true
  if (table.state === HEADER) at = readHeader(table, text, codes, at)
  if (table.state !== HEADER) readRows(table, text, codes, at)
  table.lastCode = codes[text.length - 1] ?? 0
}

function endTable(table: Table): void {
  if (table.state === HEADER) {
    if (isBlank(table.header)) throw invalidCsv('The file is empty')
    endHeader(table)
  }
  if (table.state === QUOTED) throw brokenQuoting(table.fieldLine)
  endRow(table)
}

/** Reads up to the first line that is not blank and returns the position after it. */
function readHeader(table: Table, text: string, codes: Uint16Array, begin: number): number {
  let start = begin
  for (let at = begin; at < codes.length; at++) {
    const code = codes[at]
    if (code !== CR && code !== LF) {
      // Which quotes open a field depends on the delimiter, which is not known yet, so this counts quotes in pairs.
      if (code === QUOTE) table.headerInQuotes = !table.headerInQuotes
      // Already too long: the rest need not be read.
      if (at - start > headerChars) break
      continue
    }
    countLine(table, codes, at)
    if (table.headerInQuotes) continue
    if (at > start) keepHeader(table, text.slice(start, at))
    start = at + 1
    if (!isBlank(table.header)) {
      endHeader(table)
      return start
    }
    table.header = ''
    table.headerLine = table.line
  }
  keepHeader(table, text.slice(start))
  return codes.length
}

function keepHeader(table: Table, piece: string): void {
  if (table.header.length + piece.length > headerChars) throw missingHeaders(['has a first line of more than 64 KB'])
  table.header += piece
}

function endHeader(table: Table): void {
  const layout = readLayout(table.header, table.headerLine)
  table.delimiter = layout.delimiter
  table.slots = layout.slots
  table.header = ''
  startRow(table)
}

function readRows(table: Table, text: string, codes: Uint16Array, begin: number): void {
  const { delimiter } = table
  let start = begin
  for (let at = begin; at < codes.length; at++) {
    const code = codes[at]
    const { state } = table
    if (state === QUOTED) {
      if (code === QUOTE) {
        keep(table, text, start, at)
        table.state = QUOTE_SEEN
      } else if (code === CR || code === LF) countLine(table, codes, at)
      else at = ordinaryEnd(codes, at, QUOTE) - 1
    } else if (code === delimiter) {
      if (state === PLAIN) keep(table, text, start, at)
      endField(table)
      start = at + 1
    } else if (code === CR || code === LF) {
      if (state === PLAIN) keep(table, text, start, at)
      // The LF of a CRLF is skipped: the CR has ended the row.
      if (countLine(table, codes, at)) endRow(table)
      start = at + 1
    } else if (code === QUOTE) {
      if (state === PLAIN) {
        keep(table, text, start, at)
        throw brokenQuoting(table.fieldLine)
      }
      // The second quote of a doubled quote belongs to the text.
      start = state === QUOTE_SEEN ? at : at + 1
      table.state = QUOTED
    } else if (state === QUOTE_SEEN) throw brokenQuoting(table.fieldLine)
    else {
      table.state = PLAIN
      at = ordinaryEnd(codes, at, delimiter) - 1
    }
  }
  if (table.state === PLAIN || table.state === QUOTED) keep(table, text, start, text.length)
}

/** Whether the line break at this position starts a new line. The LF of a CRLF does not. */
function countLine(table: Table, codes: Uint16Array, at: number): boolean {
  const before = at > 0 ? codes[at - 1] : table.lastCode
  const isNew = codes[at] === CR || before !== CR
  if (isNew) table.line++
  return isNew
}

/** Appends to the current field. Other columns than the required ones are skipped at any length. */
function keep(table: Table, text: string, start: number, end: number): void {
  if (table.slot < 0) {
    if (table.column === 0 && !table.hasText) table.hasText = !isBlank(text.slice(start, end))
    return
  }
  const { value } = table
  if (value.length + end - start > FIELD_UNITS) throw fieldTooLong(table.fieldLine)
  const longer = value === '' ? text.slice(start, end) : value + text.slice(start, end)
  if (longer.length > fieldChars && [...longer].length > fieldChars) throw fieldTooLong(table.fieldLine)
  table.value = longer
}

function endField(table: Table): void {
  if (table.slot >= 0) table.values[table.slot] = table.value
  table.column++
  startField(table)
}

function startField(table: Table): void {
  const { column, slots } = table
  table.state = FIELD_START
  table.slot = column < slots.length ? (slots[column] ?? -1) : -1
  table.value = ''
  table.fieldLine = table.line
}

function startRow(table: Table): void {
  table.column = 0
  table.hasText = false
  table.rowLine = table.line
  startField(table)
}

function endRow(table: Table): void {
  const { values } = table
  if (!isBlankLine(table)) {
    endField(table)
    table.onPerson(toPerson(table.rowLine, values, table.column < table.slots.length))
    // Cleared, so that a shorter row after this one does not repeat its values.
    for (let place = 0; place < values.length; place++) values[place] = ''
  }
  startRow(table)
}

function isBlankLine({ column, state, hasText, value }: Table): boolean {
  return column === 0 && state !== QUOTE_SEEN && !hasText && isBlank(value)
}

/** Most texts begin with a letter, so they need no trimming to see that they are not blank. */
function isBlank(text: string): boolean {
  const first = text.charCodeAt(0)
  return text === '' || (!(first > 0x20 && first < 0x7f) && text.trim() === '')
}

/** The position of the next special character. A separate loop because it passes over most of a file. */
function ordinaryEnd(codes: Uint16Array, begin: number, special: number): number {
  let at = begin + 1
  for (; at < codes.length; at++) {
    const code = codes[at]
    if (code === special || code === QUOTE || code === CR || code === LF) break
  }
  return at
}

/** A row with its warnings. `isShort`: the row ended before all four columns. */
export function toPerson(
  line: number,
  values: readonly [id: string, firstname: string, lastname: string, dob: string],
  isShort = false,
): Person {
  const [id, firstname, lastname, dob] = values
  const warnings: Warning[] = []
  if (isShort) warnings.push('MISSING_FIELDS')
  if (isBlank(firstname) && isBlank(lastname)) warnings.push('EMPTY_NAME')
  const born = readDob(dob)
  if (born === 'invalid') warnings.push('INVALID_DOB')
  else if (born !== undefined && born.from !== born.to) warnings.push('PARTIAL_DOB')
  return { line, id, firstname, lastname, dob, warnings }
}

/** Picks the delimiter that finds the most required names in the header: the name of an extra column may contain the others. */
function readLayout(header: string, line: number): Pick<Table, 'delimiter' | 'slots'> {
  let missing: string[] | undefined
  for (const delimiter of DELIMITERS) {
    const names = splitHeader(header, delimiter)
    if (!names) continue
    const places = COLUMNS.map((name) => names.indexOf(name))
    const absent = COLUMNS.filter((_, index) => places[index] === -1)
    if (absent.length === 0) {
      const slots = Array.from({ length: Math.max(...places) + 1 }, (_, column) => places.indexOf(column))
      return { delimiter: delimiter.charCodeAt(0), slots }
    }
    if (!missing || absent.length < missing.length) missing = absent
  }
  throw missing ? missingHeaders(missing.map((name) => `has no column "${name}"`)) : brokenQuoting(line)
}

/** The names in a header line, or undefined where its quoting is invalid with this delimiter. */
function splitHeader(text: string, delimiter: string): string[] | undefined {
  const names: string[] = []
  for (let at = 0; ; at++) {
    let name = ''
    if (text[at] === '"') {
      let start = at + 1
      do {
        const close = text.indexOf('"', at + 1)
        if (close < 0) return undefined
        name += text.slice(start, close)
        at = close + 1
        // A doubled quote is part of the name.
        start = at
      } while (text[at] === '"')
      if (at < text.length && text[at] !== delimiter) return undefined
    } else {
      const end = text.indexOf(delimiter, at)
      name = text.slice(at, end < 0 ? text.length : end)
      if (name.includes('"')) return undefined
      at += name.length
    }
    names.push(name.trim().toLowerCase())
    if (at >= text.length) return names
  }
}

function invalidCsv(message: string, details?: string): AppError {
  const extra = details === undefined ? {} : { details: [{ pointer: '/body/file', message: details }] }
  return new AppError('invalid_request', 'INVALID_CSV', message, extra)
}

function brokenQuoting(line: number): AppError {
  return invalidCsv(`Broken quoting in line ${line}`)
}

function fieldTooLong(line: number): AppError {
  return invalidCsv(`A field in line ${line} is longer than ${fieldChars} characters`)
}

function notText(line: number, fault: string): AppError {
  return invalidCsv('The file is not UTF-8 text', `line ${line} ${fault}`)
}

function missingHeaders(faults: readonly string[]): AppError {
  return new AppError('invalid_request', 'MISSING_CSV_HEADERS', 'Missing required CSV headers', {
    details: faults.map((message) => ({ pointer: '/body/file', message })),
  })
}
