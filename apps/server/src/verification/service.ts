import type {
  CreatedVerification,
  CreateVerificationBody,
  VerificationOutcome,
  VerificationSummary,
} from '@ostiary/contract'
import type { Caller } from '../keys/index.ts'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import { earlierResource, type IdempotencyUse } from '../platform/idempotency/index.ts'
import { isPurged, type Session, type Sessions, type SessionState, type Tombstone } from '../sessions/index.ts'
import type { Settings } from '../settings/index.ts'
import type { WebhookService } from '../webhooks/index.ts'
import type { StoredResult, VerificationEnding } from './ending.ts'
import { outcomeOf } from './outcome.ts'
import { toRequest } from './request.ts'
import type { VerificationSession } from './types.ts'

interface Deps {
  cells: Cells
  clock: Clock
  sessions: Sessions
  settings: Settings
  webhooks: WebhookService
  ending: VerificationEnding
  /** Where the launch page is; the session id is added to it. */
  launchUrl: string
}

export interface NewVerification {
  body: CreateVerificationBody
  repeat?: IdempotencyUse | undefined
}

/** The host's side of an ENROLL, SIGN-IN or VERIFY session. */
export function createVerificationService({ cells, clock, sessions, settings, webhooks, ending, launchUrl }: Deps) {
  const toCreated = (session: { sessionId: string; expiresAt: Date }, livemode: boolean): CreatedVerification => ({
    launchUrl: `${launchUrl}${launchUrl.includes('?') ? '&' : '?'}sessionId=${session.sessionId}`,
    sessionId: session.sessionId,
    expiresAt: session.expiresAt.toISOString(),
    livemode,
  })

  async function find(sessionId: string, caller: Caller): Promise<VerificationSession | Tombstone> {
    const session = await sessions.find(sessionId)
    if (!session || !isOf(session, caller)) throw unknownSession()
    return session as VerificationSession | Tombstone
  }

  /** Ends it now when its time is over and the sweeper has not come by yet. */
  async function current(sessionId: string, caller: Caller): Promise<VerificationSession | Tombstone> {
    const session = await find(sessionId, caller)
    if (session.endedAt !== null || clock.now() <= session.dueAt) return session
    await change(sessionId, async () => undefined)
    return find(sessionId, caller)
  }

  async function getKept(sessionId: string, caller: Caller): Promise<VerificationSession> {
    const session = await current(sessionId, caller)
    if (isPurged(session)) throw gone()
    return session
  }

  /** Runs `work` on the locked session. One whose time is over expires instead, and the answer is false. */
  async function change(
    sessionId: string,
    work: (tx: Queryable, session: VerificationSession) => Promise<void>,
  ): Promise<boolean> {
    const done = await sessions.whileLocked(sessionId, async (tx, found) => {
      if (isPurged(found)) throw gone()
      const session = found as VerificationSession
      if (await ending.expireIfDue(tx, session)) return false
      await work(tx, session)
      return true
    })
    if (done === undefined) throw unknownSession()
    return done
  }

  return {
    /** Creates a session. With an idempotency key a repeated call returns the session that the first one made. */
    async create(
      caller: Caller,
      { body, repeat }: NewVerification,
    ): Promise<{ created: CreatedVerification; replayed: boolean; locale: string | null }> {
      const { tenantId, livemode, keyId } = caller
      if (keyId === undefined) throw new AppError('unauthenticated', 'MISSING_API_KEY', 'Missing API key')
      const now = clock.now()
      const wanted = { livemode, settings: await settings.get(tenantId), now }
      const { request, lifetimeSeconds } = toRequest(body, wanted)
      webhooks.checkCallback({ ...request.callback, livemode })
      const fresh = await sessions.prepare({
        owner: { tenantId, livemode, keyId },
        area: 'D',
        now,
        lifetimeSeconds,
        metadata: {},
        makeRequest: () => request,
      })
      const { locale } = request
      const made = { created: toCreated(fresh, livemode), replayed: false, locale }
      const db = cells.forId(tenantId)
      if (!repeat) {
        await fresh.insertNow()
        return made
      }
      const earlierId = await db.transaction(async (tx) => {
        const earlier = await earlierResource(tx, repeat, { tenantId, resourceId: fresh.sessionId, now })
        if (earlier === undefined) await fresh.insert(tx)
        return earlier
      })
      if (earlierId === undefined) return made
      const earlier = await sessions.find(earlierId)
      if (!earlier || isPurged(earlier)) throw gone()
      return { created: toCreated(earlier, livemode), replayed: true, locale }
    },

    get: async (caller: Caller, sessionId: string): Promise<VerificationSummary> =>
      summaryOf(await current(sessionId, caller)),

    /** The bytes of the webhook, without images. */
    async webhook(caller: Caller, sessionId: string): Promise<Buffer> {
      const session = await getKept(sessionId, caller)
      if (!session.result) throw new AppError('conflict', 'SESSION_OPEN', 'The session is still open')
      return Buffer.from(JSON.stringify(resultOf(session.result).webhook))
    },

    async cancel(caller: Caller, sessionId: string): Promise<Buffer> {
      await getKept(sessionId, caller)
      const inTime = await change(sessionId, async (tx, session) => {
        if (session.endedAt !== null) throw hasEnded()
        await ending.conclude(tx, session, session.progress, { state: 'CANCELLED', code: 'HOST_CANCELLED' })
      })
      if (!inTime) throw hasEnded()
      return this.webhook(caller, sessionId)
    },

    /** Erases an ended session before its time, with the webhooks that still wait. */
    async erase(caller: Caller, sessionId: string): Promise<void> {
      await getKept(sessionId, caller)
      const eraseEnded = () =>
        change(sessionId, async (tx, session) => {
          if (session.endedAt === null)
            throw new AppError('conflict', 'SESSION_OPEN', 'The session is still open: cancel it first')
          await sessions.erase(tx, session, clock.now())
          await webhooks.erase(tx, session, sessionId)
        })
      // One whose time ends at this very moment expires first.
      if (!(await eraseEnded())) await eraseEnded()
    },
  }
}
export type VerificationService = ReturnType<typeof createVerificationService>

function isOf({ area, tenantId, livemode }: Session | Tombstone, caller: Caller): boolean {
  return area === 'D' && tenantId === caller.tenantId && livemode === caller.livemode
}

function summaryOf(session: VerificationSession | Tombstone): VerificationSummary {
  const { sessionId, state, createdAt, expiresAt, endedAt, livemode } = session
  const kept = isPurged(session) ? null : session
  const debugLog = kept && kept.request.debugLevel > 0 ? debugLogOf(kept) : undefined
  const transactionId = kept?.request.transactionId ?? undefined
  return {
    sessionId,
    type: kept?.request.type ?? null,
    state: kept ? state : 'PURGED',
    outcome: outcomeOfState(state),
    ...(transactionId !== undefined && { transactionId }),
    requirements: [...(kept?.request.requirements ?? [])],
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    livemode,
    ...(debugLog && { debugLog }),
  }
}

function debugLogOf({ result, progress }: VerificationSession): StoredResult['debugLog'] {
  return result ? resultOf(result).debugLog : (progress?.verification?.debug ?? [])
}

function outcomeOfState(state: SessionState): VerificationOutcome | null {
  return state === 'SUCCESS' || state === 'FAILED' || state === 'CANCELLED' || state === 'EXPIRED'
    ? outcomeOf(state)
    : null
}

/** Sealed and authenticated by us, so it is what the ending wrote. */
function resultOf(bytes: Buffer): StoredResult {
  return JSON.parse(bytes.toString()) as StoredResult
}

const unknownSession = () => new AppError('not_found', 'NOT_FOUND', 'There is no session with this id')
const hasEnded = () => new AppError('conflict', 'SESSION_NOT_OPEN', 'The session has ended')
const gone = () => new AppError('gone', 'GONE', 'The session is over and deleted')
