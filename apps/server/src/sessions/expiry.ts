import { SESSION_LIMITS } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import type { Db, Queryable } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { AreaSessions } from './area-sessions.ts'
import type { SharedRequest } from './request.ts'
import type { SessionEnding, Sessions } from './service.ts'
import type { Session } from './session.ts'

/** Sessions that the sweeper ends in one transaction. */
const BATCH = 500

interface Deps<Request extends SharedRequest, Own> {
  clock: Clock
  sessions: Sessions
  own: AreaSessions<Request, Own>
  log: Log
}

/** What is different in each area about the end of a session whose time is over. */
interface AreaExpiry<S extends Session, E> {
  /** Ends one session that the transaction holds. */
  conclude(tx: Queryable, session: S): Promise<unknown>
  /** The same for many at once: what to store of each, and then what goes with it in the same transaction. */
  prepare(session: S, at: Date): E
  follow(tx: Queryable, ended: readonly E[], at: Date): Promise<unknown>
  count(expired: number): void
}

type Ended<S> = SessionEnding & { session: S }

/** The end of sessions whose time is over: one that a call meets, and all that the sweeper finds. */
export function createExpiry<Request extends SharedRequest, Own, E extends Ended<Session<Request, Own>>>(
  { clock, sessions, own, log }: Deps<Request, Own>,
  { conclude, prepare, follow, count }: AreaExpiry<Session<Request, Own>, E>,
) {
  function prepareAll(due: readonly Session<Request, Own>[], at: Date) {
    const ended: E[] = []
    const stuck: Session<Request, Own>[] = []
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

  async function expireIn(db: Db, partition: string): Promise<number> {
    const { expired, postponed } = await db.transaction(async (tx) => {
      const at = clock.now()
      const { due, unreadable } = await own.lockDue(tx, partition, { now: at, limit: BATCH })
      if (unreadable > 0) log.error({ count: unreadable }, 'sessions cannot be opened; is a master key missing?')
      const { ended, stuck } = prepareAll(due, at)
      await sessions.postpone(tx, stuck, at)
      await sessions.endMany(tx, ended, { state: 'EXPIRED', at })
      await follow(tx, ended, at)
      return { expired: ended.length, postponed: unreadable + stuck.length }
    })
    count(expired)
    return expired + postponed
  }

  return {
    /** Ends a session that the transaction holds, when its time is over and the sweeper has not ended it yet. Returns whether it did. */
    async expireIfDue(tx: Queryable, session: Session<Request, Own>): Promise<boolean> {
      if (session.endedAt !== null || clock.now() <= session.dueAt) return false
      await conclude(tx, session)
      return true
    },

    /**
     * Ends a batch of sessions in one transaction; several workers share the work. Returns how many sessions it handled. Those that
     * cannot be opened, or whose end cannot be computed, are postponed, so that they do not block the others.
     */
    async expireDue(db: Db): Promise<number> {
      try {
        for (const partition of await sessions.findDuePartitions(db, { area: own.area, now: clock.now() })) {
          const handled = await expireIn(db, partition)
          if (handled > 0) return handled
        }
      } catch (err) {
        if (!isDroppedDay(err)) throw err
        sessions.forgetPartitions(db)
      }
      return 0
    },
  }
}

/** A day that is over was dropped since the last look. Any other table that is missing is a fault. */
const isDroppedDay = (err: unknown) =>
  err instanceof Error && 'code' in err && err.code === '42P01' && /"sessions_\d{8}"/.test(err.message)

/** The end of a session with a step under way: a step that began in time may arrive a little late. */
export function graceFor({ expiresAt }: Pick<Session, 'expiresAt'>, stepEndsMs: number): Date {
  const graceEnds = expiresAt.getTime() + SESSION_LIMITS.graceSeconds * 1000
  return new Date(Math.max(expiresAt.getTime(), Math.min(stepEndsMs, graceEnds)))
}
