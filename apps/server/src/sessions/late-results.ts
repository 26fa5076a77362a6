import type { Db } from '../platform/db.ts'
import type { Log } from '../platform/log.ts'
import type { AreaSessions } from './area-sessions.ts'
import { lateResultStore, type PurgePlace } from './late-result-store.ts'
import type { SharedRequest } from './request.ts'
import type { Sessions } from './service.ts'
import type { Session } from './session.ts'

const BATCH = 500
const FIRST: PurgePlace = { purgeAt: new Date(0), sessionId: '00000000-0000-0000-0000-000000000000' }

interface Deps<Request extends SharedRequest, Own> {
  sessions: Sessions
  own: AreaSessions<Request, Own>
  log: Log
}

/**
 * Results that are made when they are read. The last release cannot make them, so they are allowed by the operator, when no process of it runs any
 * more. Before the way back to it they are stored.
 */
export function createLateResults<Request extends SharedRequest, Own>({ sessions, own, log }: Deps<Request, Own>) {
  /** Stores the results of a batch. Returns how many, and where to go on. */
  const settleBatch = (db: Db, after: PurgePlace): Promise<{ settled: number; last: PurgePlace | null }> =>
    db.transaction(async (tx) => {
      const { late, last } = await own.lockLate(tx, after, BATCH)
      // A sweep ends many sessions at one moment, so these are few groups.
      for (const [endedAt, group] of Map.groupBy(late, ({ endedAt }) => endedAt?.getTime() ?? 0)) {
        await sessions.endMany(tx, group.map(endingOf), { state: 'EXPIRED', at: new Date(endedAt) })
      }
      await lateResultStore.settle(tx, late)
      return { settled: late.length, last }
    })

  async function settleAll(db: Db): Promise<number> {
    let total = 0
    for (let place: PurgePlace | null = FIRST; place; ) {
      const { settled, last } = await settleBatch(db, place)
      total += settled
      place = last
    }
    const isDone = await db.transaction(async (tx) => {
      await lateResultStore.hold(tx)
      if (await lateResultStore.hasAny(tx)) return false
      await lateResultStore.forbid(tx)
      return true
    })
    if (isDone) log.info({ count: total }, 'all results are stored: the release before may start on this database')
    else log.warn({ count: total }, 'not all results are stored yet: is a master key missing?')
    return total
  }

  return {
    /** A job: does what the operator's setting says, also when it has changed. */
    async arrange(db: Db, isWanted: boolean): Promise<number> {
      if (!isWanted) return (await lateResultStore.isAllowed(db)) ? settleAll(db) : 0
      const changed = await lateResultStore.allow(db)
      if (changed > 0)
        log.info({}, 'results are made when they are read: the release before cannot start on this database')
      return 0
    },
  }
}

function endingOf<S extends Session>(session: S) {
  const { purgeAt, result } = session
  if (!purgeAt || !result) throw new Error('A session that has ended has a result')
  return { session, purgeAt, result, ticket: null }
}
