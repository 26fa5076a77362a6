import { PURGED, SESSION_LIMITS } from '@ostiary/contract'
import { createStatementBatcher } from '../platform/batcher.ts'
import type { Cells } from '../platform/cells.ts'
import { type Clock, DAY_MS } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import type { KeyRing } from '../platform/key-ring.ts'
import type { LabelledCounter } from '../platform/metrics.ts'
import { noteSession } from '../platform/request-facts.ts'
import { hourOf, isSessionId } from './capability.ts'
import { fromStored, type Progress, type StoredProgress, toStored } from './progress.ts'
import type { SharedRequest } from './request.ts'
import type { ReturnTicket } from './return-ticket.ts'
import { openPart, readRequest, type SealedPart, sealPart } from './sealing.ts'
import { type Session, type Tombstone, tombstoneOf } from './session.ts'
import type { SessionState } from './states.ts'
import { MOST_AT_ONCE, type SessionKey, type SessionPlace, type StoredSession, sessionStore } from './store.ts'

export interface ChangesDeps {
  cells: Cells
  clock: Clock
  /** Keys of sessions. */
  ring: KeyRing
  /** Calls that were overtaken and run again, by area. */
  overtaken: LabelledCounter
}

type Work<T> = (tx: Queryable, session: Session | Tombstone) => Promise<T>

export interface SessionChange {
  state: SessionState
  dueAt?: Date
  expiresAt?: Date
  progress: Progress
}

/** What is known only in the transaction that holds the session. It may run twice, so it changes nothing but through `tx`. */
export interface InTransaction<T> {
  inTransaction(tx: Queryable): Promise<T>
}

/** What a call does with the session that it has read: it saves it, or works in a transaction that holds it, or changes nothing. */
export type Decision<T> = { session: Session; save: SessionChange; answer: T } | InTransaction<T> | { answer: T }

/** How a session is read and changed: under its lock, or as it was read if nobody else is quicker. */
export function createChanges({ cells, clock, ring, overtaken }: ChangesDeps) {
  const saveRow = createStatementBatcher(sessionStore.saveMany, MOST_AT_ONCE)

  /** Tombstones of sessions that were purged before this moment are too old to be reported. */
  const forgottenUntil = () => new Date(clock.now().getTime() - SESSION_LIMITS.tombstoneDays * DAY_MS)

  async function open(row: StoredSession): Promise<Session | Tombstone> {
    const { sealedKey, masterKeyId, request, progress, result, returnTicket, state, ...clear } = row
    const isOver = state === PURGED || (clear.purgeAt !== null && clear.purgeAt <= clock.now())
    if (isOver || !sealedKey || !masterKeyId || !request) return tombstoneOf(clear)
    const dataKey = await ring.open({ blob: sealedKey, masterKeyId })
    const read = (part: SealedPart, sealed: Buffer) => openPart(dataKey, clear.sessionId, part, sealed)
    return {
      ...clear,
      state,
      dataKey,
      // Sealed and authenticated, so all of it is what this service wrote.
      request: readRequest(read('request', request), clear).request as SharedRequest,
      progress: progress && fromStored(clear.area, JSON.parse(read('progress', progress).toString()) as StoredProgress),
      result: result && read('result', result),
      returnTicket: returnTicket && (JSON.parse(read('return', returnTicket).toString()) as ReturnTicket),
    }
  }

  async function openKept(row: StoredSession | undefined): Promise<Session | Tombstone | undefined> {
    if (!row || (row.purgeAt !== null && row.purgeAt <= forgottenUntil())) return undefined
    noteSession(row.sessionId)
    return open(row)
  }

  async function find(sessionId: string): Promise<Session | Tombstone | undefined> {
    if (!isSessionId(sessionId)) return undefined
    return openKept(await sessionStore.find(cells.forId(sessionId), { sessionId, hour: hourOf(sessionId) }))
  }

  function runLocked<T>(sessionId: string, work: Work<T>): Promise<T | undefined> {
    const wanted = { sessionId, hour: hourOf(sessionId) }
    return sessionStore.whileLocked(cells.forId(sessionId), wanted, async (tx, row) => {
      const session = await openKept(row)
      return session && work(tx, session)
    })
  }

  /** Does what was decided, unless somebody else has written the session since it was read: then it does nothing. */
  async function applyIfCurrent<T>(
    found: Session | Tombstone,
    decision: Decision<T>,
  ): Promise<{ answer: T } | 'overtaken'> {
    const db = cells.forId(found.sessionId)
    if ('inTransaction' in decision)
      return db.transaction(async (tx) =>
        (await sessionStore.lockVersion(tx, placeOf(found)))
          ? { answer: await decision.inTransaction(tx) }
          : 'overtaken',
      )
    if (!('save' in decision)) return decision
    const { session, save: change, answer } = decision
    return (await saveRow(db, { row: placeOf(found), change: toRow(session, change) })) ? { answer } : 'overtaken'
  }

  /** Does what was decided about a session that the transaction holds. */
  async function apply<T>(tx: Queryable, decision: Decision<T>): Promise<T> {
    if ('inTransaction' in decision) return decision.inTransaction(tx)
    if ('save' in decision) await save(tx, decision.session, decision.save)
    return decision.answer
  }

  /** Saves a session that the transaction holds. */
  const save = (tx: Queryable, session: Session, change: SessionChange): Promise<void> =>
    sessionStore.save(tx, session, toRow(session, change))

  return {
    open,
    forgottenUntil,
    find,

    /**
     * Runs `work` while nobody else can change the session. Undefined when there is no such session. Many calls for one session wait without
     * a connection.
     */
    async whileLocked<T>(sessionId: string, work: Work<T>): Promise<T | undefined> {
      if (!isSessionId(sessionId)) return undefined
      return cells.forId(sessionId).oneAtATime(`session ${sessionId}`, () => runLocked(sessionId, work))
    },

    /**
     * Asks `decide` what to do with the session as it was read, without a lock or a connection, and does it. If somebody else has written the
     * session meanwhile, it asks again under the lock. Undefined when there is no such session.
     */
    async change<T>(
      sessionId: string,
      decide: (session: Session | Tombstone) => Promise<Decision<T>>,
    ): Promise<T | undefined> {
      if (!isSessionId(sessionId)) return undefined
      return cells.forId(sessionId).oneAtATime(`session ${sessionId}`, async () => {
        const found = await find(sessionId)
        if (!found) return undefined
        const done = await applyIfCurrent(found, await decide(found))
        if (done !== 'overtaken') return done.answer
        overtaken.count(found.area)
        return runLocked(sessionId, async (tx, session) => apply(tx, await decide(session)))
      })
    },

    apply,
    save,
  }
}

function toRow(session: Session, { state, dueAt = session.dueAt, expiresAt, progress }: SessionChange) {
  const content = Buffer.from(JSON.stringify(toStored(session.area, progress)))
  const sealed = sealPart(session.dataKey, session.sessionId, 'progress', content)
  return { state, dueAt, progress: sealed, ...(expiresAt && { expiresAt }) }
}

function placeOf({ tenantId, createdAt, sessionId, day, version }: SessionKey & Partial<SessionPlace>) {
  if (day === undefined || version === undefined) throw new Error('The session was read without its version')
  return { tenantId, createdAt, sessionId, day, version }
}
