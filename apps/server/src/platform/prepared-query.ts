import pg from 'pg'
import { messagesOf, toWire } from './query-messages.ts'

/** What one run of a statement returned. */
export interface Outcome {
  rows: object[]
  /** What PostgreSQL did: it answers the commit of a failed transaction with `ROLLBACK`. */
  command: string
  /** Rows that it returned or changed. */
  count: number
}

type Callback = (error: Error | null, outcomes?: Outcome[]) => void
interface Named {
  name: string
  text: string
}

/** A statement that is run once for each list of values. */
export interface Part {
  statement: Named
  lists: readonly (readonly unknown[])[]
  callback: Callback
}

interface Field {
  name: string
  dataTypeID: number
}

/** What `pg` gives to a query that it lets write to the connection by itself. */
interface Connection {
  parsedStatements: Record<string, string | undefined>
  submittedNamedStatements: Record<string, string | undefined>
  stream: { writable: boolean; write(bytes: Buffer): void }
}

/** The columns of a statement's rows, and how each is read. */
interface Columns {
  names: string[]
  readers: ((text: string) => unknown)[]
  /** Has all columns, so that every row gets its shape at once. */
  empty: Record<string, unknown>
}

/** The columns of the statements that each connection has prepared. PostgreSQL refuses a statement whose columns change their types. */
const described = new WeakMap<object, Map<string, Columns>>()

/** Begins a transaction in the same round trip as what follows. */
export const BEGIN: Part = {
  statement: { name: 'transaction.begin', text: 'begin' },
  lists: [[]],
  callback: () => {},
}

/**
 * Runs prepared statements, each once for each of its lists of values: one round trip and, because only one Sync follows, one transaction
 * with one commit. Each run is a look-up of single rows, so its plan stays right while a table grows. One statement over arrays would be
 * planned again, or would be planned for an empty partition and then read all of it.
 *
 * It costs less than a query of pg: one buffer and one write, columns that are described once for a connection, no emitter.
 */
export class PreparedQuery implements pg.Submittable {
  readonly #parts: readonly Part[]
  readonly #outcomes: Outcome[][]
  /** The part that PostgreSQL is at. */
  #at = 0
  #known: Map<string, Columns> = new Map()
  #columns: Columns | undefined
  #rows: object[] = []
  /** The first row that could not be read, and the part that it belongs to. */
  #fault: { error: Error; at: number } | undefined
  #hasEnded = false

  constructor(parts: readonly Part[]) {
    this.#parts = parts
    this.#outcomes = parts.map(() => [])
  }

  /** pg remembers under this name that the statement is prepared, or that it failed. */
  get name(): string {
    return this.#parts[this.#at]?.statement.name ?? ''
  }
  get text(): string {
    return this.#parts[this.#at]?.statement.text ?? ''
  }

  /** Returns an error when it has sent nothing. */
  submit(given: pg.Connection): Error | undefined {
    const connection = given as unknown as Connection
    try {
      this.#known = columnsOf(connection)
      const runs = this.#parts.map(({ statement, lists }, index) => {
        const isRepeated = this.#parts.slice(0, index).some((part) => isSame(part.statement, statement))
        return {
          name: statement.name,
          text: isRepeated ? undefined : unlessKnown(connection, statement),
          lists: lists.map((values) => values.map(toWire)),
          isDescribed: !isRepeated && !this.#known.has(statement.name),
        }
      })
      const bytes = messagesOf(runs)
      for (const { name, text } of runs) if (text && name !== '') connection.submittedNamedStatements[name] = text
      this.#columns = this.#known.get(this.name)
      if (connection.stream.writable) connection.stream.write(bytes)
    } catch (error) {
      return toError(error)
    }
  }

  handleRowDescription({ fields }: { fields: Field[] }): void {
    this.#learn({
      names: fields.map(({ name }) => name),
      readers: fields.map(({ dataTypeID }) => readerOf(dataTypeID)),
      empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
    })
  }

  #learn(columns: Columns): void {
    this.#columns = columns
    if (this.name !== '') this.#known.set(this.name, columns)
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (!this.#columns || this.#fault) return
    const { names, readers, empty } = this.#columns
    const row = { ...empty }
    try {
      for (let index = 0; index < fields.length; index++) {
        const text = fields[index]
        if (text !== null && text !== undefined) row[names[index] ?? ''] = readers[index]?.(text)
      }
    } catch (error) {
      this.#fault = { error: toError(error), at: this.#at }
    }
    this.#rows.push(row)
  }

  handleCommandComplete({ text }: { text: string }): void {
    // A statement without columns is not described by a message of its own.
    if (!this.#columns) this.#learn(NO_COLUMNS)
    const count = Number(text.slice(text.lastIndexOf(' ') + 1)) || 0
    const outcomes = this.#outcomes[this.#at]
    outcomes?.push({ rows: this.#rows, command: text, count })
    this.#rows = []
    if (outcomes?.length !== this.#parts[this.#at]?.lists.length) return
    this.#at++
    this.#columns = this.#known.get(this.name)
  }

  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}

  handleError(error: Error, given?: pg.Connection): void {
    const connection = given as unknown as Connection | undefined
    this.#known.delete(this.name)
    // What follows the failed one has not run.
    for (const { statement } of this.#parts.slice(this.#at + 1))
      if (connection) delete connection.submittedNamedStatements[statement.name]
    // PostgreSQL commits after the last answer, so an error that comes then says that nothing was stored.
    this.#end({ error, at: this.#at < this.#parts.length ? this.#at : 0 })
  }

  handleReadyForQuery(): void {
    this.#end(this.#fault)
  }

  #end(failure: { error: Error; at: number } | undefined): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    for (const [index, { callback }] of this.#parts.entries()) {
      if (failure && index >= failure.at) callback(failure.error)
      else callback(null, this.#outcomes[index])
    }
  }
}

const toError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)))

const NO_COLUMNS: Columns = { names: [], readers: [], empty: {} }

function columnsOf(connection: Connection): Map<string, Columns> {
  const known = described.get(connection)
  if (known) return known
  const columns = new Map<string, Columns>()
  described.set(connection, columns)
  return columns
}

/** Whether the second is prepared by the first. */
function isSame(first: Named, second: Named): boolean {
  if (first.name === '' || first.name !== second.name) return false
  if (first.text !== second.text) throw new Error(`Two statements have the name ${first.name}`)
  return true
}

/** The text of a statement that the connection has not prepared yet. One without a name is prepared each time. */
function unlessKnown(connection: Connection, { name, text }: Named): string | undefined {
  if (name === '') return text
  const known = connection.parsedStatements[name] ?? connection.submittedNamedStatements[name]
  if (known !== undefined && known !== text) throw new Error(`Two statements have the name ${name}`)
  return known === undefined ? text : undefined
}

const BYTEA = 17
const TIMESTAMPTZ = 1184

function readerOf(type: number): (text: string) => unknown {
  const read = pg.types.getTypeParser(type, 'text')
  if (type === BYTEA) return (text) => (text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex') : read(text))
  if (type === TIMESTAMPTZ) return (text) => readTime(text) ?? read(text)
  return read
}

/** `2026-11-18 12:00:00.123+00` without a pattern, which costs ten times as much. Undefined for any other form. */
function readTime(text: string): Date | undefined {
  const end = text.length - 3
  const hasForm = text.charCodeAt(10) === SPACE && text.endsWith('+00') && (end === 19 || (end > 20 && end <= 23))
  if (!hasForm) return undefined
  const date = new Date(`${text.slice(0, 10)}T${text.slice(11, end)}Z`)
  return Number.isNaN(date.getTime()) ? undefined : date
}
const SPACE = 0x20
