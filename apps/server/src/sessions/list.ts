import { setImmediate } from 'node:timers/promises'
import { type PURGED, SESSION_LIST_LIMITS } from '@ostiary/contract'
import { DAY_MS } from '../platform/clock.ts'
import { readCursor, writeCursor } from '../platform/cursor.ts'
import { invalid } from '../platform/errors.ts'
import { isSessionId } from './capability.ts'
import type { ListPlace } from './list-store.ts'
import type { SessionState } from './states.ts'

/** What a host asks for in a list of its sessions. Moments are ISO 8601. */
export interface ListQuery {
  state?: SessionState | typeof PURGED
  since?: string
  until?: string
  limit?: number
  cursor?: string
}

export interface ListWanted {
  state: SessionState | typeof PURGED | null
  /** Only sessions that were created at this moment or later. */
  since: Date | null
  /** The newest session that is listed was created before this place. */
  before: ListPlace
  limit: number
}

const FAR_AHEAD = new Date('9999-12-31T00:00:00Z')
const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Checks what a schema cannot. */
export function readListQuery({ state, since, until, limit, cursor }: ListQuery): ListWanted {
  const from = since === undefined ? null : readMoment(since, '/query/since')
  const to = until === undefined ? null : readMoment(until, '/query/until')
  if (from && to && from >= to) throw invalid('/query/until', 'must be later than since')
  const end = to ? { createdAt: to, sessionId: FIRST_ID } : { createdAt: FAR_AHEAD, sessionId: LAST_ID }
  const place = cursor === undefined ? end : readPlace(cursor)
  return {
    state: state ?? null,
    since: from,
    before: place.createdAt < end.createdAt ? place : end,
    limit: limit ?? SESSION_LIST_LIMITS.pageDefault,
  }
}

function readMoment(text: string, pointer: string): Date {
  const moment = new Date(text)
  if (Number.isNaN(moment.getTime())) throw invalid(pointer, 'must be a moment such as 2026-01-31T12:00:00Z')
  return moment
}

export function cursorAfter({ createdAt, sessionId }: ListPlace): string {
  return writeCursor(createdAt.getTime(), sessionId)
}

function readPlace(cursor: string): ListPlace {
  return readCursor(cursor, ([time = '', sessionId = '']) =>
    /^\d{1,15}$/.test(time) && isSessionId(sessionId) ? { createdAt: new Date(Number(time)), sessionId } : undefined,
  )
}

/** The rows, with a turn of the event loop after each so many: to open a page takes as long as hundreds of small calls. */
export async function* inTurns<T>(rows: readonly T[], perTurn: number): AsyncGenerator<T> {
  for (const [at, row] of rows.entries()) {
    if (at > 0 && at % perTurn === 0) await setImmediate()
    yield row
  }
}

/** No session is older: the longest lifetime, the longest retention and a month as a tombstone. */
const OLDEST_DAYS = 70

const FIRST_WINDOW_MS = 60_000

/**
 * Periods from a moment back to `since`, each four times as long as the one before: the newest sessions are read first, and usually
 * alone. The first is short, because with a tag that most sessions have, all of its sessions are read before the page is cut.
 */
export function* windowsBefore(moment: Date, since: Date | null, now: Date): Generator<{ from: Date; to: Date }> {
  const oldestMs = Math.max(now.getTime() - OLDEST_DAYS * DAY_MS, since?.getTime() ?? 0)
  // Clocks differ: a session that another process has just created may be in the future.
  let toMs = Math.min(moment.getTime(), now.getTime() + DAY_MS)
  let lengthMs = FIRST_WINDOW_MS + Math.max(0, toMs - now.getTime())
  for (let ms = FIRST_WINDOW_MS; toMs >= oldestMs; lengthMs = ms) {
    const fromMs = Math.max(toMs - lengthMs, oldestMs)
    yield { from: new Date(fromMs), to: new Date(toMs) }
    toMs = fromMs - 1
    ms *= 4
  }
}
