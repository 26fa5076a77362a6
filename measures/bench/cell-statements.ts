import { readFileSync } from 'node:fs'
import type pg from 'pg'

/** As packages/crypto has it: an id carries one of so many buckets. */
export const BUCKETS = 1024

/** Which of so many cells, each with an equal range of buckets, holds what has this id. */
export function cellOfId(id: string, cells: number): number {
  const bucket = Number.parseInt(id.slice(15, 18), 16) >>> 2
  return Math.floor(bucket / (BUCKETS / cells))
}

export interface Statements {
  count: number
  /** Ids in the texts and values of the statements. */
  ids: number
  perCell: ReadonlyMap<string, number>
  /** Statements that name an id which another cell holds. */
  foreign: readonly string[]
}

const PREFIX = '|cells|%d|'
const LINE = /^\|cells\|([^|]*)\|(.*)$/
const ID = /\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/g

/** Lets PostgreSQL log every statement with its values while `work` runs, and reads whose ids they name. */
export async function recordStatements(
  watcher: pg.Client,
  databases: readonly string[],
  work: () => Promise<unknown>,
): Promise<Statements> {
  const { rows } = await watcher.query<{ data_directory: string }>('show data_directory')
  const file = `${rows[0]?.data_directory}/server.log`
  const begin = readFileSync(file).length
  await setLog(watcher, { log_statement: `'all'`, log_line_prefix: `'${PREFIX}'` })
  try {
    await work()
  } finally {
    await setLog(watcher, { log_statement: 'default', log_line_prefix: 'default' })
  }
  return readStatements(readFileSync(file).subarray(begin).toString('latin1'), databases)
}

async function setLog(watcher: pg.Client, settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings)) await watcher.query(`alter system set ${name} = ${value}`)
  await watcher.query('select pg_reload_conf()')
}

/** A message begins with the prefix and goes on in lines without it. Values are a message of their own, after the statement. */
export function readStatements(log: string, databases: readonly string[]): Statements {
  const perCell = new Map(databases.map((name) => [name, 0]))
  const foreign: string[] = []
  let [count, ids, cell] = [0, 0, -1]
  for (const line of log.split('\n')) {
    const [, database, text = line] = LINE.exec(line) ?? []
    if (database !== undefined) {
      cell = databases.indexOf(database)
      const isStatement = /^LOG: {2}(statement|execute)/.test(text)
      if (cell >= 0 && isStatement) {
        count++
        perCell.set(database, (perCell.get(database) ?? 0) + 1)
      }
    }
    if (cell < 0) continue
    for (const [id] of text.matchAll(ID)) {
      ids++
      if (cellOfId(id, databases.length) !== cell) foreign.push(`${databases[cell]}: ${text}`)
    }
  }
  return { count, ids, perCell, foreign }
}
