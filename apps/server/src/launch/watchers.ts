import type { ServerResponse } from 'node:http'
import { AppError } from '../platform/errors.ts'
import { createFairSlots } from '@ostiary/service-kit/fair-slots'

/** The most connections that watch at once in one process, a quarter of them for one tenant: each reads from the database three times a second. */
const MOST_WATCHERS = 2_000

/** One slot for each device of a session. A page that connects again takes the slot over from its earlier connection. */
export function createWatchers(most = MOST_WATCHERS) {
  const slots = createFairSlots({ total: most })
  const taken = new Map<string, { own: symbol; free: () => void }>()
  return {
    /** Takes a slot until the connection closes. A connection that has closed already gets none, because it emits no further event. */
    take(
      tenantId: string,
      name: string,
      connection: Pick<ServerResponse, 'destroyed' | 'once'>,
    ): { isLost(): boolean } {
      if (connection.destroyed) return { isLost: () => true }
      const free = taken.get(name)?.free ?? slots.take(tenantId)
      if (!free) {
        const extra = { retryAfterSeconds: 5 }
        throw new AppError('unavailable', 'DEPENDENCY_DOWN', 'Too many pages are watching, try again', extra)
      }
      const own = Symbol(name)
      taken.set(name, { own, free })
      const isLost = () => taken.get(name)?.own !== own
      connection.once('close', () => {
        if (isLost()) return
        taken.delete(name)
        free()
      })
      return { isLost }
    },
    count: () => taken.size,
  }
}
export type Watchers = ReturnType<typeof createWatchers>
