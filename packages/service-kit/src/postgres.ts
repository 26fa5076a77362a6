/** What the server and the key holder do alike on PostgreSQL. */
import pg from 'pg'

/** A prepared statement: its name is unique in an app, so that each connection plans it once. */
export interface Statement {
  name: string
  text: string
}

export type Values = readonly unknown[]

/** Runs statements: the pool itself, or one transaction on it. Stores accept both. */
export interface Queryable {
  rows<R extends object>(statement: Statement, values?: Values): Promise<R[]>
  /** Number of rows that the statement changed. */
  run(statement: Statement, values?: Values): Promise<number>
}

/** Sends a statement on one connection. */
export type Send = (statement: Statement, values: Values) => Promise<pg.QueryResult>

export function queryable(send: Send): Queryable {
  return {
    rows: async <R extends object>(statement: Statement, values: Values = []) =>
      (await send(statement, values)).rows as R[],
    run: async (statement, values = []) => (await send(statement, values)).rowCount ?? 0,
  }
}

const BEGIN = { name: 'transaction.begin', text: 'begin' }
const COMMIT = { name: 'transaction.commit', text: 'commit' }
const ROLLBACK = { name: 'transaction.rollback', text: 'rollback' }

/** Runs `work` in a transaction on one connection. */
export async function runTransaction<T>(send: Send, work: (send: Send) => Promise<T>): Promise<T> {
  let isOver = false
  const answers: Promise<unknown>[] = []
  const sendInside: Send = async (statement, values) => {
    // The connection may be somebody else's by now.
    if (isOver) throw new Error('The transaction is over')
    const answer = send(statement, values)
    answers.push(answer)
    return answer
  }
  try {
    // PostgreSQL commits each statement behind a failed beginning by itself, so none is sent before its answer.
    await send(BEGIN, [])
    const result = await work(sendInside)
    isOver = true
    // PostgreSQL knows nothing of a statement that could not be sent, and would commit the others.
    for (const answer of await Promise.allSettled(answers))
      if (answer.status === 'rejected') throw refusal(answer.reason)
    const { command } = await send(COMMIT, [])
    if (command !== 'COMMIT') throw refusal(undefined)
    return result
  } catch (error) {
    isOver = true
    // A failed rollback means that the connection is gone; PostgreSQL has then rolled back by itself.
    await send(ROLLBACK, []).catch(() => {})
    throw error
  }
}

/** An outage is reported as the app reports it. */
const refusal = (cause: unknown) =>
  cause instanceof Error && isUnavailable(cause.cause)
    ? cause
    : new Error('The transaction was rolled back: one of its statements had failed', { cause })

/** Runs `work` on a connection of its own. */
export async function withClient<T>(config: pg.ClientConfig, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(config)
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** How much later than the server's own limit a silent connection is given up. */
export const PATIENCE_MS = 2_000
/** What pg says of a statement that was not answered in time. */
export const SILENCE = 'Query read timeout'

// SQLSTATE classes and codes that mean "the database is away": 08 connection, 53 resources, 57 intervention,
// 25006 a standby that has not been promoted, 25P03 a transaction that was idle too long.
const UNAVAILABLE_CODES =
  /^(08...|53...|57...|25006|25P03|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN)$/
const UNAVAILABLE_TEXTS =
  /timeout exceeded when trying to connect|Connection terminated|Query read timeout|pool after calling end|not queryable/

export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  return (typeof code === 'string' && UNAVAILABLE_CODES.test(code)) || UNAVAILABLE_TEXTS.test(error.message)
}

/** Only after an error that PostgreSQL has sent does pg know which statements the connection has prepared. */
export const isUsableAfter = (error: unknown) => error instanceof pg.DatabaseError && !isUnavailable(error)
