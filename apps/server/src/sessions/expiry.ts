import { AGE_LIMITS } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import type { Db, Queryable } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { Session, Sessions } from './service.ts'
import type { Area } from './store.ts'

/** Sessions that the sweeper ends in one transaction. */
const BATCH = 500

/** What is an area's own about the end of a session whose time is over. */
interface AreaEnds<S extends Session, E> {
  area: Area
  prepare(session: S, at: Date): E
  /** What goes with these ends, in the same transaction. */
  follow(tx: Queryable, ended: readonly E[], at: Date): Promise<unknown>
}

/**
 * Ends sessions whose time is over, a batch per transaction; several workers share the work. Says how many, and how many must
 * wait because they cannot be opened or their end cannot be computed: those must not keep the others from theirs.
 */
export function createExpiry<S extends Session, E extends { session: S; purgeAt: Date; result: Buffer }>(
  { clock, sessions, log }: { clock: Clock; sessions: Sessions; log: Log },
  { area, prepare, follow }: AreaEnds<S, E>,
) {
  function prepareAll(due: readonly S[], at: Date) {
    const ended: E[] = []
    const stuck: S[] = []
    for (const session of due) {
      try {
        ended.push(prepare(session, at))
      } catch (err) {
        log.error({ err, sessionId: session.sessionId, tenantId: session.tenantId }, 'a session cannot be ended')
        stuck.push(session)
      }
    }
    return { ended, stuck }
  }

  return (db: Db): Promise<{ expired: number; putOff: number }> =>
    db.transaction(async (tx) => {
      const at = clock.now()
      const { due, unreadable } = await sessions.lockDue(tx, area, at, BATCH)
      if (unreadable > 0) log.error({ count: unreadable }, 'sessions cannot be opened; is a master key missing?')
      // Of its own area, so what is in it is what that area wrote.
      const { ended, stuck } = prepareAll(due as S[], at)
      await sessions.postpone(tx, stuck, at)
      await sessions.endMany(tx, ended, { state: 'EXPIRED', at })
      await follow(tx, ended, at)
      return { expired: ended.length, putOff: unreadable + stuck.length }
    })
}

/** Until when a session lives whose step is under way: what began in time may arrive a little late. */
export function graceFor({ expiresAt }: Pick<Session, 'expiresAt'>, stepEndsMs: number): Date {
  const graceEnds = expiresAt.getTime() + AGE_LIMITS.graceSeconds * 1000
  return new Date(Math.max(expiresAt.getTime(), Math.min(stepEndsMs, graceEnds)))
}
