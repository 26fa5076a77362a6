import { createDb, createLog, type Queryable, sql } from '@ostiary/server/measure'
import { startCuttingProxy } from './cutting-proxy.ts'
import { connectSpared, startFaults } from './statement-faults.ts'

const WORKERS = 24
const CONNECTIONS = 6

const ECHO = sql('fuzz.echo', 'select $1::text as mark, $2::text as more')
const SERIES = sql('fuzz.series', 'select $1::text as mark, g from generate_series(1, $2::int) as g')
const BREAKS = sql('fuzz.breaks', 'select $1::text as mark, 10 / (3 - g) as part from generate_series(1, 5) as g')
const SLEEP = sql('fuzz.sleep', 'select $1::text as mark, pg_sleep($2::float8)::text')
const ENDS_ITSELF = sql('fuzz.ends_itself', 'select $1::text as mark, pg_terminate_backend(pg_backend_pid())')
const PUT = sql('fuzz.put', 'insert into notes (work, part) values ($1, $2) returning work as mark')
const PUT_ONCE = sql('fuzz.put_once', 'insert into places (place) values ($1) returning $2::text as mark')

/** pg cannot write it, so PostgreSQL never sees a statement that has it. */
const UNSENDABLE: { self?: unknown } = {}
UNSENDABLE.self = UNSENDABLE

interface Marked {
  mark: string
}
type Fate = 'stored' | 'refused' | 'unknown'

export interface FuzzResult {
  answers: number
  faults: number
  /** Answers of another statement, or of another shape. */
  foreign: number
  /** Transactions that were stored in part, refused and stored, or acknowledged and lost. */
  torn: number
  /** Connections that nobody gave back. */
  leaked: number
}

/** Statements of many callers on few connections, while statements are cancelled, connections end and values cannot be sent. */
export async function fuzzStatements(databaseUrl: string, ms: number, random: () => number): Promise<FuzzResult> {
  const direct = await connectSpared(databaseUrl)
  await direct.query(`create table notes (work text, part int);
    create table places (place int unique deferrable initially deferred); insert into places values (1)`)
  const proxy = await startCuttingProxy(databaseUrl, random)
  const limits = { poolMax: CONNECTIONS, statementTimeoutMs: 500, connectTimeoutMs: 5_000 }
  const db = createDb({ ...limits, url: proxy.url, applicationName: 'fuzz', log: createLog('silent') })
  const faults = await startFaults(databaseUrl, proxy, random)
  const fates = new Map<string, { parts: number; fate: Fate }>()
  const count = { answers: 0, foreign: 0 }
  let marks = 0

  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const checked = (mark: string, rows: readonly Marked[], length = 1): void => {
    count.answers++
    if (rows.length !== length || rows.some((row) => row.mark !== mark)) count.foreign++
  }
  const mustFail = async (answer: Promise<unknown>): Promise<void> => {
    const isAnswered = await answer.then(
      () => true,
      () => false,
    )
    count.answers++
    if (isAnswered) count.foreign++
  }

  const single: readonly ((on: Queryable, mark: string) => Promise<void>)[] = [
    async (on, mark) => checked(mark, await on.rows<Marked>(ECHO, [mark, mark])),
    async (on, mark) => checked(mark, await on.rows<Marked>(ECHO, [mark, 'ü🚪'.repeat(40_000)])),
    async (on, mark) => checked(mark, await on.rows<Marked>(SERIES, [mark, 300]), 300),
    async (on, mark) => checked(mark, await on.rows<Marked>(SLEEP, [mark, random() * 0.2])),
    async (on, mark) => checked(mark, await on.rows<Marked>(sql('', `select $1::text as mark`), [mark])),
  ]
  const failing: readonly ((on: Queryable, mark: string) => Promise<void>)[] = [
    (on, mark) => mustFail(on.rows(BREAKS, [mark])),
    (on, mark) => mustFail(on.rows(ECHO, [mark, UNSENDABLE])),
    (on, mark) => mustFail(on.rows(ECHO, [mark, 'no \0 in a text'])),
    (on, mark) => mustFail(on.rows(ECHO, [mark, mark, 'one too many'])),
    (on, mark) => mustFail(on.rows(sql('fuzz.nowhere', 'select $1::text as mark from nowhere'), [mark])),
    (on, mark) => mustFail(on.rows(ENDS_ITSELF, [mark])),
    (on, mark) => mustFail(on.rows(SLEEP, [mark, 2])),
  ]

  /** A transaction whose statements share round trips; some do not deserve to be stored. */
  async function inTransaction(mark: string): Promise<void> {
    const parts = 1 + Math.floor(random() * 4)
    const spoilt = pick(['', '', '', 'thrown', 'swallowed', 'late'] as const)
    let isWorkDone = false
    fates.set(mark, { parts, fate: 'refused' })
    await db
      .transaction(async (tx) => {
        const put = async (part: number) => checked(mark, await tx.rows<Marked>(PUT, [mark, part]))
        await Promise.all([...Array.from({ length: parts }, (_, part) => put(part)), pick(single)(tx, mark)])
        if (spoilt === 'thrown') throw new Error('changed its mind')
        if (spoilt === 'swallowed') await pick(failing)(tx, mark)
        if (spoilt === 'late') checked(mark, await tx.rows<Marked>(PUT_ONCE, [1, mark]))
        isWorkDone = spoilt === ''
      })
      .then(
        () => {
          if (spoilt !== '') count.foreign++
          fates.set(mark, { parts, fate: 'stored' })
        },
        (error: unknown) => {
          // The answer to its commit may have been lost.
          if (isWorkDone) fates.set(mark, { parts, fate: 'unknown' })
          throw error
        },
      )
  }

  async function repeated(mark: string): Promise<void> {
    const lists = Array.from({ length: 1 + Math.floor(random() * 8) }, (_, part) => [`${mark}/${part}`, mark])
    const outcomes = await db.repeat<Marked>(ECHO, lists)
    for (const [part, { rows }] of outcomes.entries()) checked(`${mark}/${part}`, rows)
  }

  const until = performance.now() + ms
  async function work(): Promise<void> {
    while (performance.now() < until) {
      const mark = `work ${marks++}`
      const chance = random()
      if (chance < 0.35) await inTransaction(mark).catch(() => {})
      else if (chance < 0.5) await repeated(mark).catch(() => {})
      else if (chance < 0.65) await pick(failing)(db, mark).catch(() => {})
      else await pick(single)(db, mark).catch(() => {})
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, work))
  const injected = await faults.stop()
  const { total, idle } = db.stats()
  const { rows } = await direct.query<{ work: string; parts: number }>(
    'select work, count(*)::int as parts from notes group by work',
  )
  const stored = new Map(rows.map(({ work, parts }) => [work, parts]))
  const isTorn = ([mark, { parts, fate }]: [string, { parts: number; fate: Fate }]) => {
    const found = stored.get(mark) ?? 0
    return fate === 'unknown' ? found !== 0 && found !== parts : found !== (fate === 'stored' ? parts : 0)
  }
  await db.close()
  await direct.end()
  proxy.close()
  return { ...count, faults: injected, torn: [...fates].filter(isTorn).length, leaked: total - idle }
}
