import type { SessionArea } from '@ostiary/contract'
import { createStatementBatcher } from '../platform/batcher.ts'
import type { Cells } from '../platform/cells.ts'
import type { Queryable } from '../platform/db.ts'
import { LateTransaction } from '../platform/late-transaction.ts'
import type { LabelledCounter } from '../platform/metrics.ts'
import { hourOf, isSessionId } from './capability.ts'
import { type Progress, toStored } from './progress.ts'
import { sealPart } from './sealing.ts'
import type { Session, Tombstone } from './session.ts'
import type { SessionState } from './states.ts'
import { MOST_AT_ONCE, type SessionKey, type SessionPlace, type StoredSession, sessionStore } from './store.ts'

interface Deps {
  cells: Cells
  /** Calls that were overtaken and run again, by area. */
  overtaken: LabelledCounter
  find(sessionId: string): Promise<Session | Tombstone | undefined>
  /** Undefined for a session that is too old to be reported. */
  open(row: StoredSession): Promise<Session | Tombstone | undefined>
}

type Work<T> = (tx: Queryable, session: Session | Tombstone) => Promise<T>

/** How a session is changed: under its lock, or as it was read if nobody else is quicker. */
export function createChanges({ cells, overtaken, find, open }: Deps) {
  const saveRow = createStatementBatcher(sessionStore.saveMany, MOST_AT_ONCE)

  function runLocked<T>(sessionId: string, work: Work<T>): Promise<T | undefined> {
    const wanted = { sessionId, hour: hourOf(sessionId) }
    return sessionStore.whileLocked(cells.forId(sessionId), wanted, async (tx, row) => {
      const session = row && (await open(row))
      return session && work(tx, session)
    })
  }

  /** Runs `work` without a lock; throws `Overtaken` when somebody else has written the session before `work` could. */
  async function runUnlocked<T>(sessionId: string, work: Work<T>): Promise<T | undefined> {
    const session = await find(sessionId)
    if (!session) return undefined
    const begin = async (tx: Queryable) => {
      if (!(await sessionStore.lockVersion(tx, placeOf(session)))) throw new Overtaken(session)
    }
    return LateTransaction.run(cells.forId(sessionId), begin, (tx) => work(tx, session))
  }

  return {
    /**
     * Runs `work` while nobody else can change the session. Undefined when there is no such session. Many calls for one session wait without
     * a connection.
     */
    async whileLocked<T>(sessionId: string, work: Work<T>): Promise<T | undefined> {
      if (!isSessionId(sessionId)) return undefined
      return cells.forId(sessionId).oneAtATime(`session ${sessionId}`, () => runLocked(sessionId, work))
    },

    /**
     * Runs `work` on the session as it was read, without a lock. What `work` writes counts only if nobody else has written the session
     * meanwhile. If `work` ends with `save` and sends no other statement, one statement does it. Otherwise the first statement begins a
     * transaction and locks the session. Overtaken work runs a second time, under the lock: it must change nothing but through `tx`.
     */
    async change<T>(sessionId: string, work: Work<T>): Promise<T | undefined> {
      if (!isSessionId(sessionId)) return undefined
      return cells.forId(sessionId).oneAtATime(`session ${sessionId}`, async () => {
        try {
          return await runUnlocked(sessionId, work)
        } catch (error) {
          if (!(error instanceof Overtaken)) throw error
          overtaken.count(error.area)
          return runLocked(sessionId, work)
        }
      })
    },

    /** Saves a session that the transaction holds, or that `change` has read. */
    async save(
      tx: Queryable,
      session: Session,
      change: { state: SessionState; dueAt?: Date; expiresAt?: Date; progress: Progress },
    ): Promise<void> {
      const { state, dueAt = session.dueAt, expiresAt, progress } = change
      const content = Buffer.from(JSON.stringify(toStored(session.area, progress)))
      const sealed = sealPart(session.dataKey, session.sessionId, 'progress', content)
      const saved = { state, dueAt, progress: sealed, ...(expiresAt && { expiresAt }) }
      if (!(tx instanceof LateTransaction) || tx.hasBegun) return sessionStore.save(tx, session, saved)
      tx.close()
      const row = placeOf(session)
      if (!(await saveRow(cells.forId(session.sessionId), { row, change: saved }))) throw new Overtaken(session)
    },
  }
}

/** The session was written by somebody else after it was read. */
class Overtaken extends Error {
  readonly area: SessionArea
  constructor({ area }: { area: SessionArea }) {
    super('The session was changed meanwhile')
    this.area = area
  }
}

function placeOf({ tenantId, createdAt, sessionId, day, version }: SessionKey & Partial<SessionPlace>) {
  if (day === undefined || version === undefined) throw new Error('The session was read without its version')
  return { tenantId, createdAt, sessionId, day, version }
}
