/** What the server and the key holder do alike on PostgreSQL. */
import pg from 'pg'
import { isUnreplicated, judgeStore, UnreplicatedError } from './outage.ts'

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
  let isAlone = false
  client.on('notice', (notice) => {
    isAlone ||= isUnreplicated(notice)
  })
  try {
    await client.connect()
    const done = await work(client)
    if (isAlone) throw new UnreplicatedError()
    return done
  } finally {
    await client.end().catch(() => {})
  }
}

/** How much later than the server's own limit a silent connection is given up. */
export const PATIENCE_MS = 2_000
/** Whether the caller should try again later: the store is away, or it gave up this call. */
export const isUnavailable = (error: unknown): boolean => judgeStore(error) !== undefined

/**
 * Only after an error that PostgreSQL has sent does pg know which statements the connection has prepared. After a deadlock it is as good as
 * before; after other outages it may be closed, or lead to a server that stores nothing.
 */
export const isUsableAfter = (error: unknown) =>
  error instanceof pg.DatabaseError && (/^40/.test(error.code ?? '') || !isUnavailable(error))
