import type { ConfirmedReturn, SessionOutcome } from '@ostiary/contract'
import { createFairSlots } from '@ostiary/service-kit/fair-slots'
import type { Caller } from '../keys/index.ts'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import { type IdempotencyUse, idempotencyMismatch, insertOnce } from '../platform/idempotency/index.ts'
import { traceparentOfRequest } from '../platform/request-facts.ts'
import type { AreaSessions } from './area-sessions.ts'
import { sessionEnded, sessionGone, sessionOpen, sessionUnknown } from './errors.ts'
import { cursorAfter, type ListQuery, readListQuery } from './list.ts'
import { flowStatusOf } from './machine.ts'
import { type SharedRequest, withTrace } from './request.ts'
import { answerCode } from './return-ticket.ts'
import type { Sessions } from './service.ts'
import { isPurged, type ListedSession, type Session, type Tombstone } from './session.ts'

/** Pages that are read at once. */
const MOST_LISTS = 4
/** Nobody waits longer for a page: what is queued would be worked off after its callers have gone. */
const LIST_WAIT = {
  waitMs: 5_000,
  refusal: () =>
    new AppError('unavailable', 'DEPENDENCY_DOWN', 'Other pages of your account are being read, try again', {
      retryAfterSeconds: 1,
    }),
}

interface Deps {
  cells: Cells
  clock: Clock
  sessions: Sessions
}

/** What is different in each area for the host. */
export interface HostArea<Request extends SharedRequest, Own> {
  own: AreaSessions<Request, Own>
  /** What the host names a session with. */
  namedBy: 'id' | 'token'
  /** The session with this name, if the caller may see it; otherwise throws not_found. */
  find(name: string, caller: Caller): Promise<Session<Request, Own> | Tombstone>
  /** Ends a session whose time is over, in the transaction that holds it. Returns whether it was. */
  expireIfDue(tx: Queryable, session: Session<Request, Own>): Promise<boolean>
  /** What came of the check; null while the session is open. */
  outcomeOf(session: Session<Request, Own>): SessionOutcome | null
  /** Ends an open session because the host asked for it. */
  cancel(tx: Queryable, session: Session<Request, Own>): Promise<unknown>
  /** Deletes the webhooks of a session that are still to be sent. */
  eraseWebhooks(tx: Queryable, session: Session<Request, Own>): Promise<unknown>
}

/** A session that is to be created. */
export interface Creation<Request> {
  lifetimeSeconds: number
  metadata: Readonly<Record<string, unknown>>
  makeRequest(made: { token: string }): Request
}

interface CreatedIds {
  sessionId: string
  token: string
  expiresAt: Date
}

/** The created session, or the one that an earlier call with the same idempotency key created. */
export type Created<Request extends SharedRequest, Own> =
  | { replayed: false; session: CreatedIds }
  | { replayed: true; session: Session<Request, Own> }

/** The host's side of a session: create, read, confirm, cancel, erase and list are the same in both areas. */
export function createHostSide<Request extends SharedRequest, Own>(
  { cells, clock, sessions }: Deps,
  { own, namedBy, find, expireIfDue, outcomeOf, cancel, eraseWebhooks }: HostArea<Request, Own>,
) {
  // One page of a tenant at a time: a page is 1 MB, and 25 ms of the event loop.
  const lists = createFairSlots({ total: MOST_LISTS, perOwner: 1 })

  /** Runs `work` on the locked session. A session whose time is over expires instead, and the answer is false. */
  async function change(
    sessionId: string,
    work: (tx: Queryable, session: Session<Request, Own>) => Promise<unknown>,
  ): Promise<boolean> {
    const inTime = await own.whileLocked(sessionId, async (tx, session) => {
      if (isPurged(session)) throw sessionGone()
      if (await expireIfDue(tx, session)) return false
      await work(tx, session)
      return true
    })
    if (inTime === undefined) throw sessionUnknown(namedBy)
    return inTime
  }

  /** The session as it is now: one whose time is over expires first, if the sweeper has not ended it yet. */
  async function current(name: string, caller: Caller): Promise<Session<Request, Own> | Tombstone> {
    const session = await find(name, caller)
    if (session.endedAt !== null || clock.now() <= session.dueAt) return session
    await change(session.sessionId, async () => undefined)
    return find(name, caller)
  }

  async function getKept(name: string, caller: Caller): Promise<Session<Request, Own>> {
    return kept(await current(name, caller))
  }

  return {
    current,
    getKept,

    /** Creates a session. With an idempotency key a repeated call returns the session that the first one created. */
    async create(
      caller: Caller,
      repeat: IdempotencyUse | undefined,
      plan: (now: Date) => Promise<Creation<Request>>,
    ): Promise<Created<Request, Own>> {
      const { tenantId, livemode, keyId } = caller
      if (keyId === undefined) throw new AppError('unauthenticated', 'MISSING_API_KEY', 'Missing API key')
      const now = clock.now()
      const planned = await plan(now)
      const makeRequest = (made: { token: string }) => withTrace(planned.makeRequest(made), traceparentOfRequest())
      const fresh = await own.prepare({ creator: { tenantId, livemode, keyId }, now, ...planned, makeRequest })
      if (!repeat) {
        await fresh.insertNow()
        return { replayed: false, session: fresh }
      }
      const { value } = await insertOnce<Created<Request, Own>>(cells.forId(tenantId), repeat, {
        ...{ tenantId, resourceId: fresh.sessionId, now },
        async insert(tx) {
          await fresh.insert(tx)
          return { replayed: false, session: fresh }
        },
        find: async (earlierId) => ({ replayed: true, session: kept(await own.find(earlierId)) }),
        goneMessage: sessionGone().message,
      })
      return value
    },

    /** Cancels an open session. Returns it as it ended. */
    async cancel(name: string, caller: Caller): Promise<Session<Request, Own>> {
      const { sessionId } = kept(await find(name, caller))
      const inTime = await change(sessionId, async (tx, session) => {
        if (session.endedAt !== null) throw sessionEnded()
        await cancel(tx, session)
      })
      if (!inTime) throw sessionEnded()
      return kept(await find(name, caller))
    },

    /** Checks the one-time code that a browser brought back to the host. It is good once. */
    async confirm(name: string, caller: Caller, { code, repeat }: ReturnCode): Promise<Confirmed> {
      const { sessionId } = await getKept(name, caller)
      const confirmed = await own.whileLocked(sessionId, async (tx, session): Promise<Confirmed | AppError> => {
        if (isPurged(session)) throw sessionGone()
        const flowStatus = flowStatusOf(session.state)
        const outcome = outcomeOf(session)
        if (!flowStatus || !outcome) throw sessionOpen()
        const { returnTicket: before } = session
        if (!before) return refusedCode('wrong')
        const keyHash = repeat?.keyHash.toString('base64url') ?? null
        const fingerprint = repeat?.fingerprint.toString('base64url') ?? null
        const sent = { code, keyHash, fingerprint, nowMs: clock.now().getTime() }
        const { answer, ticket } = answerCode(before, sent)
        if (ticket !== before) await sessions.saveTicket(tx, session, ticket)
        if (answer.outcome !== 'confirmed') return refusedCode(answer.outcome)
        const confirmedAt = new Date(answer.atMs).toISOString()
        return {
          confirmed: { sessionId, flowStatus, outcome, confirmedAt, livemode: session.livemode },
          replayed: answer.isRepeat,
        }
      })
      if (!confirmed) throw sessionUnknown(namedBy)
      // Thrown here and not inside: a wrong code is counted.
      if (confirmed instanceof AppError) throw confirmed
      return confirmed
    },

    /** The caller's sessions, newest first. */
    async list(
      caller: Caller,
      query: ListQuery,
      metadata: Readonly<Record<string, unknown>> = {},
    ): Promise<SessionsPage<Request, Own>> {
      const wanted = readListQuery(query)
      // Reads one session more than the page has, to know whether there is a next page.
      const { listed, isCut } = await lists.withSlotWithin(caller.tenantId, LIST_WAIT, () =>
        own.list(caller, { ...wanted, limit: wanted.limit + 1, metadata }),
      )
      const page = listed.slice(0, wanted.limit)
      const last = page.at(-1)
      const hasMore = isCut || listed.length > wanted.limit
      return { sessions: page, nextCursor: hasMore && last ? cursorAfter(last) : null }
    },

    /** Erases an ended session before its time, with the webhooks that are still to be sent. */
    async erase(name: string, caller: Caller): Promise<void> {
      const { sessionId } = await getKept(name, caller)
      const eraseEnded = () =>
        change(sessionId, async (tx, session) => {
          if (session.endedAt === null) throw sessionOpen('The session is still open: cancel it first')
          await sessions.erase(tx, session, clock.now())
          await eraseWebhooks(tx, session)
        })
      // A session whose time ends right now expires first.
      if (!(await eraseEnded())) await eraseEnded()
    },
  }
}

/** A code that came with a redirect. */
export interface ReturnCode {
  code: string
  repeat?: IdempotencyUse | undefined
}

export interface Confirmed {
  confirmed: ConfirmedReturn
  replayed: boolean
}

function refusedCode(why: 'wrong' | 'used' | 'mismatch'): AppError {
  if (why === 'wrong') return new AppError('conflict', 'CODE_WRONG', 'This is not the code of the session')
  if (why === 'used') return new AppError('conflict', 'CODE_USED', 'This code was confirmed before')
  return idempotencyMismatch()
}

/** One page of a list. */
export interface SessionsPage<Request extends SharedRequest, Own> {
  sessions: (ListedSession<Request, Own> | Tombstone)[]
  nextCursor: string | null
}

function kept<Request extends SharedRequest, Own>(
  session: Session<Request, Own> | Tombstone | undefined,
): Session<Request, Own> {
  if (!session || isPurged(session)) throw sessionGone()
  return session
}
