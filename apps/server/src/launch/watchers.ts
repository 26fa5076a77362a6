import type { ServerResponse } from 'node:http'
import { AppError } from '../platform/errors.ts'

/** Connections that watch at once in one process: each asks the database three times a second. */
const MOST_WATCHERS = 2_000

/** One seat for each device of a session: a page that comes again takes the seat of its earlier self. */
export function createWatchers(most = MOST_WATCHERS) {
  const seats = new Map<string, symbol>()
  return {
    /** A seat is left when its connection closes, and at once where that has happened already: it will not close again. */
    take(name: string, connection: Pick<ServerResponse, 'destroyed' | 'once'>): { isTaken(): boolean } {
      if (connection.destroyed) return { isTaken: () => true }
      if (seats.size >= most && !seats.has(name)) {
        const extra = { retryAfterSeconds: 5 }
        throw new AppError('unavailable', 'DEPENDENCY_DOWN', 'Too many pages are watching, try again', extra)
      }
      const own = Symbol(name)
      seats.set(name, own)
      const isTaken = () => seats.get(name) !== own
      connection.once('close', () => {
        if (!isTaken()) seats.delete(name)
      })
      return { isTaken }
    },
    count: () => seats.size,
  }
}
export type Watchers = ReturnType<typeof createWatchers>
