import { setTimeout as sleep } from 'node:timers/promises'
import {
  AGE_LIMITS,
  type AgeResult,
  type CreatedSession,
  type CreateSessionBody,
  FLOW_STATUSES,
  type SessionPage,
  type SessionSummary,
} from '@ostiary/contract'
import type { Caller } from '../keys/index.ts'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import { AppError, invalid } from '../platform/errors.ts'
import { earlierResource, type IdempotencyUse } from '../platform/idempotency/index.ts'
import { isFinal, isPurged, isSessionId, type Session, type Sessions, type Tombstone } from '../sessions/index.ts'
import type { Settings } from '../settings/index.ts'
import type { WebhookService } from '../webhooks/index.ts'
import { type AgeSession, type Ending, riskOf } from './ending.ts'
import { toRequest } from './request.ts'
import { toResult, toResultBytes } from './result.ts'

interface Deps {
  cells: Cells
  clock: Clock
  sessions: Sessions
  settings: Settings
  webhooks: WebhookService
  ending: Ending
  /** Where the launch page is; the session id is added to it. */
  launchUrl: string
}

export interface Creation {
  body: CreateSessionBody
  /** The member `metadata` of the body as it was sent. */
  metadataText?: string | undefined
  subjectHash?: string | undefined
  repeat?: IdempotencyUse | undefined
}

/** What a result is read as: bytes that were signed and sent, or made now because the flow is still open. */
export interface ResultReading {
  open: boolean
  bytes: Buffer
}

const POLL_MS = 200
/** Reads that wait at once; more are answered at once, as if they had not asked to wait. */
const MOST_WAITING = 500

/** The host's side of an age session. */
export function createAgeService({ cells, clock, sessions, settings, webhooks, ending, launchUrl }: Deps) {
  let waiting = 0

  const launchUrlOf = (sessionId: string) => `${launchUrl}${launchUrl.includes('?') ? '&' : '?'}sessionId=${sessionId}`

  const toCreated = (
    session: { sessionId: string; token: string; expiresAt: Date },
    livemode: boolean,
  ): CreatedSession => ({
    token: session.token,
    launchUrl: launchUrlOf(session.sessionId),
    expiresAt: session.expiresAt.toISOString(),
    sessionId: session.sessionId,
    livemode,
  })

  /** A key that is sent must be the owner's; without one the token is enough, unless the tenant wants both. */
  async function checkReader(session: Session | Tombstone, caller: Caller): Promise<void> {
    if (caller.keyId !== undefined) {
      if (caller.tenantId !== session.tenantId || caller.livemode !== session.livemode) throw unknownSession()
      return
    }
    if ((await settings.get(session.tenantId)).resultRequiresKey) {
      throw new AppError('unauthenticated', 'MISSING_API_KEY', 'Missing API key')
    }
  }

  async function find(token: string, caller: Caller): Promise<AgeSession> {
    const session = await sessions.findByToken(token)
    if (session?.area !== 'C') throw unknownSession()
    await checkReader(session, caller)
    if (isPurged(session)) throw gone()
    return session as AgeSession
  }

  /** Ends it now when its time is over and the sweeper has not come by yet. */
  async function current(token: string, caller: Caller): Promise<AgeSession> {
    const session = await find(token, caller)
    if (session.endedAt !== null || clock.now() <= session.dueAt) return session
    await change(session.sessionId, async () => undefined)
    return find(token, caller)
  }

  /** Runs `work` on the locked session. One whose time is over expires instead, and the answer is false. */
  async function change(
    sessionId: string,
    work: (tx: Parameters<Ending['conclude']>[0], session: AgeSession) => Promise<void>,
  ): Promise<boolean> {
    const done = await sessions.whileLocked(sessionId, async (tx, found) => {
      if (isPurged(found)) throw gone()
      const session = found as AgeSession
      if (await ending.expireIfDue(tx, session)) return false
      await work(tx, session)
      return true
    })
    if (done === undefined) throw unknownSession()
    return done
  }

  async function waitForEnd(sessionId: string, seconds: number, signal: AbortSignal): Promise<void> {
    if (seconds === 0 || waiting >= MOST_WAITING) return
    waiting++
    try {
      const deadlineMs = clock.monotonicMs() + seconds * 1000
      while (!signal.aborted && clock.monotonicMs() < deadlineMs) {
        await sleep(POLL_MS)
        const state = await sessions.findState(sessionId)
        if (state === undefined || isFinal(state)) return
      }
    } finally {
      waiting--
    }
  }

  const readingOf = (session: AgeSession): ResultReading =>
    session.result
      ? { open: false, bytes: session.result }
      : { open: true, bytes: toResultBytes(openResult(session), session.request.metadataText) }

  return {
    /** Creates a session. With an idempotency key a repeated call returns the session that the first one made. */
    async create(
      caller: Caller,
      { body, metadataText, subjectHash, repeat }: Creation,
    ): Promise<{ created: CreatedSession; replayed: boolean; locale: string | null }> {
      const { tenantId, livemode, keyId } = caller
      if (keyId === undefined) throw new AppError('unauthenticated', 'MISSING_API_KEY', 'Missing API key')
      const current = await settings.get(tenantId)
      const request = toRequest(body, { livemode, settings: current, metadataText, subjectHash })
      if (request.callback) webhooks.checkCallback({ ...request.callback, livemode })
      const now = clock.now()
      const fresh = await sessions.prepare({
        owner: { tenantId, livemode, keyId },
        area: 'C',
        now,
        lifetimeSeconds: body.sessionExpiry ?? Math.min(AGE_LIMITS.lifetimeSecondsDefault, current.sessionSecondsMax),
        metadata: request.metadata,
        makeRequest: ({ token }) => ({ token, ...request }),
      })
      const db = cells.forId(tenantId)
      if (!repeat) {
        await fresh.insertNow()
        return { created: toCreated(fresh, livemode), replayed: false, locale: request.locale }
      }
      const earlierId = await db.transaction(async (tx) => {
        const earlier = await earlierResource(tx, repeat, { tenantId, resourceId: fresh.sessionId, now })
        if (earlier === undefined) await fresh.insert(tx)
        return earlier
      })
      if (earlierId === undefined)
        return { created: toCreated(fresh, livemode), replayed: false, locale: request.locale }
      const earlier = await sessions.find(earlierId)
      if (!earlier || isPurged(earlier)) throw gone()
      const { token } = (earlier as AgeSession).request
      return { created: toCreated({ ...earlier, token }, livemode), replayed: true, locale: request.locale }
    },

    async result(
      caller: Caller,
      token: string,
      wait: { seconds: number; signal: AbortSignal },
    ): Promise<ResultReading> {
      const session = await current(token, caller)
      if (session.result) return readingOf(session)
      await waitForEnd(session.sessionId, wait.seconds, wait.signal)
      return readingOf(wait.seconds === 0 ? session : await current(token, caller))
    },

    get: async (caller: Caller, token: string): Promise<SessionSummary> => summaryOf(await current(token, caller)),

    async cancel(caller: Caller, token: string): Promise<Buffer> {
      const { sessionId } = await find(token, caller)
      const inTime = await change(sessionId, async (tx, session) => {
        if (session.endedAt !== null) throw hasEnded()
        await ending.conclude(tx, session, session.progress, { flow: 'CANCELLED', code: 'HOST_CANCELLED' })
      })
      if (!inTime) throw hasEnded()
      const { result } = await find(token, caller)
      if (!result) throw new Error('A cancelled session has a result')
      return result
    },

    /** Erases an ended session before its time, with the webhooks that still wait. */
    async erase(caller: Caller, token: string): Promise<void> {
      const { sessionId } = await current(token, caller)
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

    async list(caller: Caller, query: { limit?: number; cursor?: string; metadata?: string }): Promise<SessionPage> {
      const limit = query.limit ?? AGE_LIMITS.pageDefault
      const before =
        query.cursor === undefined ? { createdAt: FAR_AHEAD, sessionId: LAST_ID } : readCursor(query.cursor)
      const page = { before, limit: limit + 1, metadata: readFilter(query.metadata) }
      const found = await sessions.list(caller, 'C', page)
      const items = found.slice(0, limit)
      const last = items.at(-1)
      return {
        items: items.map(summaryOf),
        count: items.length,
        nextCursor: found.length > limit && last ? writeCursor(last) : null,
      }
    },
  }
}
export type AgeService = ReturnType<typeof createAgeService>

function openResult(session: AgeSession): AgeResult {
  const { request, progress } = session
  return toResult({
    token: request.token,
    sessionId: session.sessionId,
    request,
    flowStatus: null,
    decision: null,
    metadata: request.metadata,
    risk: riskOf(request, null),
    errors: [],
    createdAt: session.createdAt,
    expiresAt: session.expiresAt,
    endedAt: null,
    livemode: session.livemode,
    progress: { state: session.state, attempt: progress?.attempt ?? 0 },
  })
}

function summaryOf(session: Session | Tombstone): SessionSummary {
  const { sessionId, state, createdAt, expiresAt, endedAt, livemode } = session
  return {
    sessionId,
    state: isPurged(session) ? 'PURGED' : state,
    flowStatus: FLOW_STATUSES.find((final) => final === state) ?? null,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    livemode,
    metadata: isPurged(session) ? {} : (session as AgeSession).request.metadata,
  }
}

const FAR_AHEAD = new Date('9999-12-31T00:00:00Z')
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

function writeCursor({ createdAt, sessionId }: { createdAt: Date; sessionId: string }): string {
  return Buffer.from(`${createdAt.getTime()}:${sessionId}`).toString('base64url')
}

function readCursor(cursor: string): { createdAt: Date; sessionId: string } {
  const [time = '', sessionId = ''] = Buffer.from(cursor, 'base64url').toString().split(':')
  if (!/^\d{1,15}$/.test(time) || !isSessionId(sessionId))
    throw invalid('/query/cursor', 'is not a cursor from an earlier page')
  return { createdAt: new Date(Number(time)), sessionId }
}

function readFilter(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {}
  const refused = () => invalid('/query/metadata', 'must be a JSON object of texts, numbers and booleans')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw refused()
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused()
  const entries = Object.entries(value)
  const isPlain = entries.every(([, one]) => ['string', 'number', 'boolean'].includes(typeof one))
  if (entries.length === 0 || entries.length > MOST_FILTERS || !isPlain) throw refused()
  return Object.fromEntries(entries)
}
const MOST_FILTERS = 8

const unknownSession = () => new AppError('not_found', 'NOT_FOUND', 'There is no session with this token')
const hasEnded = () => new AppError('conflict', 'SESSION_NOT_OPEN', 'The session has ended')
const gone = () => new AppError('gone', 'GONE', 'The session is over and deleted')
