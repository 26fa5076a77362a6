import { BoundedMap } from './bounded-map.ts'
import { type Statement, sql } from './db.ts'
import { partitionName } from './partitions.ts'

/**
 * A statement on tables with a partition per day, for rows of one known day. PostgreSQL locks and opens every day that is kept when a
 * statement names the parent, and plans it again each time; one that names the partition costs the same however many days there are.
 */
export interface DayStatement {
  /** Names the partitions of a day. */
  on(day: string): Statement
}

/** What the name of a day's partition has after the name of its table. The parent has nothing. */
export const NO_DAY = ''

export const dayOf = (moment: Date): string => partitionName('', moment)

/** More days than a process is asked for at a time: who reads old results names each of their days. */
const MOST_DAYS = 100

/** `text` gets what stands after the name of each table. */
export function dayStatement(name: string, text: (day: string) => string): DayStatement {
  const known = new BoundedMap<string, Statement>(MOST_DAYS)
  const onParent = sql(name, text(NO_DAY))
  return {
    on(day) {
      if (day === NO_DAY) return onParent
      const found = known.get(day)
      if (found) return found
      const made = { name: `${name}${day}`, text: text(day) }
      known.set(day, made)
      return made
    },
  }
}

/** For how long a day that has no partition is not asked for again. */
const MISSING_MS = 10_000
/** Days without partitions by database, and until when that is believed. */
const missing = new WeakMap<object, Map<string, number>>()

/**
 * Runs `work` on the partition of the day, or on the parent when that day has none: then the default partition has its rows. Not inside
 * a transaction, which would end with the failed statement.
 */
export async function onDay<T>(db: object, day: string, work: (day: string) => Promise<T>): Promise<T> {
  if (isKnownMissing(db, day)) return work(NO_DAY)
  try {
    return await work(day)
  } catch (error) {
    if (day === NO_DAY || !isMissingTable(error)) throw error
    const days = missing.get(db) ?? new BoundedMap<string, number>(MOST_DAYS)
    missing.set(db, days.set(day, performance.now() + MISSING_MS))
    return work(NO_DAY)
  }
}

const isKnownMissing = (db: object, day: string) => (missing.get(db)?.get(day) ?? 0) > performance.now()

const isMissingTable = (error: unknown) => error instanceof Error && 'code' in error && error.code === '42P01'
