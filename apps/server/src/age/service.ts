import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AgeResult,
  type CreatedSession,
  type CreateSessionBody,
  FLOW_STATUSES,
  PURGED,
  SESSION_LIMITS,
  type SessionPage,
  type SessionSummary,
} from '@ostiary/contract'
import type { Caller } from '../keys/index.ts'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import { AppError, invalid } from '../platform/errors.ts'
import { createFairSlots } from '@ostiary/service-kit/fair-slots'
import type { IdempotencyUse } from '../platform/idempotency/index.ts'
import {
  type Confirmed,
  createHostSide,
  isFinal,
  isPurged,
  type ListQuery,
  launchUrlFor,
  type ReturnCode,
  type Session,
  type Sessions,
  sessionUnknown,
  type ListedSession,
  type Tombstone,
} from '../sessions/index.ts'
import { lacksRedirectList, pageLocaleOf, type Settings } from '../settings/index.ts'
import type { WebhookService } from '../webhooks/index.ts'
import type { Ending } from './ending.ts'
import { type AgeRequest, toRequest } from './request.ts'
import { openResult, toResultBytes } from './result.ts'
import { type AgeSession, ageSessionsIn } from './session.ts'

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

export interface NewAgeSession {
  body: CreateSessionBody
  /** The member `metadata` of the body as it was sent. */
  metadataText?: string | undefined
  subjectHash?: string | undefined
  repeat?: IdempotencyUse | undefined
}

/** The bytes of a result: those that were signed and sent, or new ones while the flow is open. */
export interface ResultReading {
  open: boolean
  bytes: Buffer
}

const POLL_MS = 200
/** The most reads that wait at the same time, a quarter of them for one tenant; further reads are answered immediately. */
const MOST_WAITING = 500

/** The host's side of an age session. */
export function createAgeService({ cells, clock, sessions, settings, webhooks, ending, launchUrl }: Deps) {
  const own = ageSessionsIn(sessions)
  const host = createHostSide(
    { cells, clock, sessions },
    {
      own,
      namedBy: 'token',
      async find(token, caller) {
        const session = await own.findByToken(token)
        if (!session) throw sessionUnknown('token')
        await checkReader(session, caller)
        return session
      },
      expireIfDue: ending.expireIfDue,
      outcomeOf: ({ result }) => (result ? (JSON.parse(result.toString()) as AgeResult).outcome : null),
      cancel: (tx, session) => ending.conclude(tx, session, { how: 'cancelled', code: 'HOST_CANCELLED' }),
      eraseWebhooks: (tx, session) => webhooks.erase(tx, session, session.sessionId),
    },
  )
  const waitingReads = createFairSlots({ total: MOST_WAITING })

  /** A key that is sent must be the owner's. Without one the token is enough, unless the tenant requires both. */
  async function checkReader(session: Session | Tombstone, caller: Caller): Promise<void> {
    if (caller.keyId !== undefined) {
      if (caller.tenantId !== session.tenantId || caller.livemode !== session.livemode) throw sessionUnknown('token')
      return
    }
    if ((await settings.get(session.tenantId)).resultRequiresKey) {
      throw new AppError('unauthenticated', 'MISSING_API_KEY', 'Missing API key')
    }
  }

  /** A wait slot counts against the session's tenant, because token-only readers have no tenant. */
  async function waitForEnd(
    { tenantId, sessionId }: Session | Tombstone,
    { seconds, signal }: { seconds: number; signal: AbortSignal },
  ): Promise<void> {
    const free = seconds === 0 ? undefined : waitingReads.take(tenantId)
    if (!free) return
    try {
      const deadlineMs = clock.monotonicMs() + seconds * 1000
      while (!signal.aborted && clock.monotonicMs() < deadlineMs) {
        await sleep(POLL_MS)
        const found = await sessions.findState(sessionId)
        if (!found || found.state === PURGED || isFinal(found.state)) return
      }
    } finally {
      free()
    }
  }

  return {
    async create(
      caller: Caller,
      { body, metadataText, subjectHash, repeat }: NewAgeSession,
    ): Promise<{ created: CreatedSession; replayed: boolean; locale: string | null; unlisted: boolean }> {
      const { tenantId, livemode } = caller
      const made = await host.create(caller, repeat, async () => {
        const current = await settings.get(tenantId)
        const request = toRequest(body, { livemode, settings: current, metadataText, subjectHash })
        if (request.callback) webhooks.checkCallback({ ...request.callback, livemode })
        return {
          lifetimeSeconds:
            body.sessionExpiry ?? Math.min(SESSION_LIMITS.lifetimeSecondsDefault, current.sessionSecondsMax),
          metadata: request.metadata,
          makeRequest: ({ token }) => ({ token, ...request }),
        }
      })
      const { sessionId, expiresAt } = made.session
      const created = {
        token: made.replayed ? made.session.request.token : made.session.token,
        launchUrl: launchUrlFor(launchUrl, sessionId),
        expiresAt: expiresAt.toISOString(),
        sessionId,
        livemode,
      }
      const unlisted = lacksRedirectList(await settings.get(tenantId), livemode)
      return { created, replayed: made.replayed, locale: pageLocaleOf(body.locale), unlisted }
    },

    async result(
      caller: Caller,
      token: string,
      wait: { seconds: number; signal: AbortSignal },
    ): Promise<ResultReading> {
      const session = await host.getKept(token, caller)
      if (session.result) return readingOf(session)
      await waitForEnd(session, wait)
      return readingOf(wait.seconds === 0 ? session : await host.getKept(token, caller))
    },

    get: async (caller: Caller, token: string): Promise<SessionSummary> => summaryOf(await host.getKept(token, caller)),

    async cancel(caller: Caller, token: string): Promise<Buffer> {
      const { result } = await host.cancel(token, caller)
      if (!result) throw new Error('A cancelled session has a result')
      return result
    },

    confirm: (caller: Caller, token: string, code: ReturnCode): Promise<Confirmed> => host.confirm(token, caller, code),

    erase: (caller: Caller, token: string): Promise<void> => host.erase(token, caller),

    async list(caller: Caller, { metadata, ...query }: ListQuery & { metadata?: string }): Promise<SessionPage> {
      const { sessions: found, nextCursor } = await host.list(caller, query, readFilter(metadata))
      return { items: found.map(summaryOf), count: found.length, nextCursor }
    },
  }
}
export type AgeService = ReturnType<typeof createAgeService>

const readingOf = (session: AgeSession): ResultReading =>
  session.result
    ? { open: false, bytes: session.result }
    : { open: true, bytes: toResultBytes(openResult(session), session.request.metadataText) }

function summaryOf(session: ListedSession<AgeRequest> | Tombstone): SessionSummary {
  const { sessionId, state, createdAt, expiresAt, endedAt, livemode } = session
  return {
    sessionId,
    state,
    flowStatus: FLOW_STATUSES.find((final) => final === state) ?? null,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    livemode,
    metadata: isPurged(session) ? {} : session.request.metadata,
  }
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
