import { type ListSource, listError, readText } from './source.ts'

export interface CsvRecord {
  /** Where the record begins; a quoted field may span several lines. */
  line: number
  fields: string[]
}

export interface TableRow {
  line: number
  /** The cell under a column (lower case), or an empty text where the file has no such column. */
  get(column: string): string
}

const QUOTE = 34
const COMMA = 44
const CARRIAGE_RETURN = 13
const LINE_FEED = 10
/** A forgotten closing quote would otherwise swallow the rest of the file into memory. */
const MAX_FIELD_CHARS = 4 << 20

/** Reads CSV records from a list file. Blank lines are no records. */
export async function* readCsv(source: ListSource): AsyncGenerator<CsvRecord> {
  const parser = createParser(source.name)
  for await (const text of readText(source)) {
    parser.push(text)
    yield* parser.take()
  }
  parser.end()
  yield* parser.take()
}

/** Reads a CSV file by the names in its first record. Every record must have as many fields as there are names. */
export async function* readTable(
  source: ListSource,
  checkColumns: (columns: readonly string[], line: number) => void,
): AsyncGenerator<TableRow> {
  let columns: string[] | undefined
  for await (const { line, fields } of readCsv(source)) {
    if (columns === undefined) {
      columns = fields.map((field) => field.trim().toLowerCase())
      if (new Set(columns).size < columns.length) throw listError(source.name, line, 'names a column twice')
      checkColumns(columns, line)
      continue
    }
    if (fields.length !== columns.length)
      throw listError(source.name, line, `has ${fields.length} fields, the header ${columns.length}`)
    const names = columns
    yield { line, get: (column) => fields[names.indexOf(column)] ?? '' }
  }
  if (columns === undefined) throw listError(source.name, 1, 'there is no header')
}

/** Splits a cell that holds several values: `a;b`, a value with a semicolon or a quote being quoted as in CSV. */
export function splitMulti(cell: string): string[] {
  if (!cell.includes('"')) return cell.split(';')
  const values: string[] = []
  const value = /\s*(?:"([^"]*(?:""[^"]*)*)"\s*|([^;]*))(;|$)/y
  for (;;) {
    const match = value.exec(cell)
    if (!match) return values
    values.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === '') return values
  }
}

/** A quote opens a field only at its start; elsewhere it is a letter like any other, as spreadsheets read it. */
function createParser(name: string) {
  let ready: CsvRecord[] = []
  let fields: string[] = []
  let field = ''
  let state: 'start' | 'plain' | 'quoted' | 'closed' = 'start'
  let line = 1
  let began = 1
  let afterReturn = false

  function endField(): void {
    fields.push(field)
    field = ''
    state = 'start'
  }

  function endRecord(): void {
    endField()
    if (fields.length > 1 || fields[0]?.trim() !== '') ready.push({ line: began, fields })
    fields = []
    line++
    began = line
  }

  function keep(text: string): void {
    field += text
    if (field.length > MAX_FIELD_CHARS) throw listError(name, began, 'a field does not end: is a quote missing?')
  }

  /** Consumes quoted text up to its end and returns where it stopped. */
  function pushQuoted(text: string, from: number): number {
    const quote = text.indexOf('"', from)
    const end = quote < 0 ? text.length : quote
    const part = text.slice(from, end)
    for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', at + 1)) line++
    keep(part)
    if (quote >= 0) state = 'closed'
    return end + 1
  }

  function pushPlain(text: string, from: number): number {
    let end = from
    for (; end < text.length; end++) {
      const code = text.charCodeAt(end)
      if (code === COMMA || code === LINE_FEED || code === CARRIAGE_RETURN) break
    }
    keep(text.slice(from, end))
    if (end > from) state = 'plain'
    return end
  }

  function push(text: string): void {
    let at = 0
    while (at < text.length) {
      if (state === 'quoted') {
        at = pushQuoted(text, at)
        continue
      }
      const code = text.charCodeAt(at)
      const secondOfPair = code === LINE_FEED && afterReturn
      afterReturn = code === CARRIAGE_RETURN
      if (secondOfPair) at++
      else if (code === COMMA) {
        endField()
        at++
      } else if (code === LINE_FEED || code === CARRIAGE_RETURN) {
        endRecord()
        at++
      } else if (code === QUOTE && state === 'start') {
        state = 'quoted'
        at++
      } else if (state === 'closed') {
        at = pushClosed(text, at, code)
      } else at = pushPlain(text, at)
    }
  }

  /** Behind a closing quote: a second quote makes it a letter, blanks are dropped, and nothing else is CSV. */
  function pushClosed(text: string, at: number, code: number): number {
    if (code === QUOTE) {
      keep('"')
      state = 'quoted'
    } else if (text[at] !== ' ' && text[at] !== '\t') throw listError(name, line, 'text follows a closing quote')
    return at + 1
  }

  return {
    push,
    end(): void {
      if (state === 'quoted') throw listError(name, began, 'a quote is never closed')
      if (state !== 'start' || fields.length > 0) endRecord()
    },
    take(): CsvRecord[] {
      const taken = ready
      ready = []
      return taken
    },
  }
}
