import { SESSION_LIMITS } from '@ostiary/contract'
import { DAY_MS } from '../platform/clock.ts'
import { type Db, type Statement, sql } from '../platform/db.ts'
import { listPartitions, partitionName } from '../platform/partitions.ts'

/** From its creation on, a session is open for at most this long, unless no worker could end it. */
const LONGEST_MS =
  (SESSION_LIMITS.lifetimeSecondsMax + SESSION_LIMITS.extensionSeconds + SESSION_LIMITS.graceSeconds) * 1000

const dueIn = (table: string) => `exists (select from ${table} where ended_at is null and due_at <= $1)`
const DUE_ANYWHERE = sql('sessions.due_anywhere', `select ${dueIn('sessions')} as "isDue"`)

/** Which partitions can hold open sessions: those of the days in which they were created, and the default partition. */
export interface OpenDays {
  statement: Statement
  /** The last day that the statement knows. */
  until: number
}

export const dueStore = {
  /** Finds the partitions that exist. The statement names them, so it costs the same however many days are kept. */
  async openDays(db: Db, now: Date): Promise<OpenDays> {
    const existing = await listPartitions(db, 'sessions')
    const until = Math.floor(now.getTime() / DAY_MS)
    const first = Math.floor((now.getTime() - LONGEST_MS) / DAY_MS)
    const days = Array.from({ length: until - first + 1 }, (_, day) => new Date((until - day) * DAY_MS))
    const tables = days.map((day) => partitionName('sessions', day)).filter((name) => existing.has(name))
    if (existing.has('sessions_default')) tables.push('sessions_default')
    // The name tells the tables: within these days none is dropped.
    const name = `sessions.due${partitionName('', new Date(until * DAY_MS))}_${tables.length}`
    return { statement: sql(name, `select ${tables.map(dueIn).join(' or ') || 'false'} as "isDue"`), until }
  },
  isDue: async (db: Db, { statement }: OpenDays, now: Date): Promise<boolean> =>
    (await db.rows<{ isDue: boolean }>(statement, [now]))[0]?.isDue === true,
  /** Reads every day that is kept. */
  isDueAnywhere: async (db: Db, now: Date): Promise<boolean> =>
    (await db.rows<{ isDue: boolean }>(DUE_ANYWHERE, [now]))[0]?.isDue === true,
}
