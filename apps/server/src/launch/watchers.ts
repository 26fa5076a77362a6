import type { ServerResponse } from 'node:http'
import { AppError } from '../platform/errors.ts'

/** The most connections that watch at once in one process: each reads from the database three times a second. */
const MOST_WATCHERS = 2_000

/** One slot for each device of a session. A page that connects again takes the slot over from its earlier connection. */
export function createWatchers(most = MOST_WATCHERS) {
  const slots = new Map<string, symbol>()
  return {
    /** Takes a slot until the connection closes. A connection that has closed already gets none, because it emits no further event. */
    take(name: string, connection: Pick<ServerResponse, 'destroyed' | 'once'>): { isLost(): boolean } {
      if (connection.destroyed) return { isLost: () => true }
      if (slots.size >= most && !slots.has(name)) {
        const extra = { retryAfterSeconds: 5 }
        throw new AppError('unavailable', 'DEPENDENCY_DOWN', 'Too many pages are watching, try again', extra)
      }
      const own = Symbol(name)
      slots.set(name, own)
      const isLost = () => slots.get(name) !== own
      connection.once('close', () => {
        if (!isLost()) slots.delete(name)
      })
      return { isLost }
    },
    count: () => slots.size,
  }
}
export type Watchers = ReturnType<typeof createWatchers>
