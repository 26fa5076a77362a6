import type {
  CreatedVerification,
  CreateVerificationBody,
  SessionOutcome,
  VerificationPage,
  VerificationSummary,
} from '@ostiary/contract'
import type { Caller } from '../keys/index.ts'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { IdempotencyUse } from '../platform/idempotency/index.ts'
import {
  type Confirmed,
  createHostSide,
  isPurged,
  type ListedSession,
  type ListQuery,
  launchUrlFor,
  type ReturnCode,
  type SessionState,
  type Sessions,
  sessionOpen,
  sessionUnknown,
  type Tombstone,
} from '../sessions/index.ts'
import { lacksRedirectList, pageLocaleOf, type Settings } from '../settings/index.ts'
import type { WebhookService } from '../webhooks/index.ts'
import type { StoredResult, VerificationEnding } from './ending.ts'
import { verificationOf } from './progress.ts'
import { toRequest, type VerificationRequest } from './request.ts'
import { type VerificationSession, verificationSessionsIn } from './types.ts'
import { outcomeOf } from './webhook-body.ts'

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
  const own = verificationSessionsIn(sessions)
  const host = createHostSide(
    { cells, clock, sessions },
    {
      own,
      namedBy: 'id',
      async find(sessionId, caller) {
        const session = await own.find(sessionId)
        const isCallers = session?.tenantId === caller.tenantId && session.livemode === caller.livemode
        if (!session || !isCallers) throw sessionUnknown()
        return session
      },
      expireIfDue: ending.expireIfDue,
      outcomeOf: ({ state }) => outcomeOfState(state),
      cancel: (tx, session) => ending.conclude(tx, session, { state: 'CANCELLED', code: 'HOST_CANCELLED' }),
      eraseWebhooks: (tx, session) => webhooks.erase(tx, session, session.sessionId),
    },
  )

  return {
    async create(
      caller: Caller,
      { body, repeat }: NewVerification,
    ): Promise<{
      created: CreatedVerification
      replayed: boolean
      locale: string | null
      unlisted: boolean
      lacksHint: boolean
    }> {
      const { tenantId, livemode } = caller
      const { session, replayed } = await host.create(caller, repeat, async (now) => {
        const wanted = { livemode, settings: await settings.get(tenantId), now }
        const { request, lifetimeSeconds } = toRequest(body, wanted)
        webhooks.checkCallback({ ...request.callback, livemode })
        return { lifetimeSeconds, metadata: tagsOf(request.transactionId), makeRequest: () => request }
      })
      const { sessionId, expiresAt } = session
      const created = {
        launchUrl: launchUrlFor(launchUrl, sessionId),
        sessionId,
        expiresAt: expiresAt.toISOString(),
        livemode,
      }
      const current = await settings.get(tenantId)
      const unlisted = lacksRedirectList(current, livemode)
      const isHinted = body.puid !== undefined || body.customerId !== undefined
      const lacksHint = body.type === 'SIGN-IN' && current.templates !== 'vector' && !isHinted
      return { created, replayed, locale: pageLocaleOf(body.locale), unlisted, lacksHint }
    },

    get: async (caller: Caller, sessionId: string): Promise<VerificationSummary> =>
      summaryWithDebugLog(await host.current(sessionId, caller)),

    async list(caller: Caller, query: ListQuery, transactionId: string | null = null): Promise<VerificationPage> {
      const { sessions: found, nextCursor } = await host.list(caller, query, tagsOf(transactionId))
      return { items: found.map(summaryOf), count: found.length, nextCursor }
    },

    webhook: async (caller: Caller, sessionId: string): Promise<Buffer> =>
      webhookOf(await host.getKept(sessionId, caller)),

    cancel: async (caller: Caller, sessionId: string): Promise<Buffer> =>
      webhookOf(await host.cancel(sessionId, caller)),

    confirm: (caller: Caller, sessionId: string, code: ReturnCode): Promise<Confirmed> =>
      host.confirm(sessionId, caller, code),

    erase: (caller: Caller, sessionId: string): Promise<void> => host.erase(sessionId, caller),
  }
}
export type VerificationService = ReturnType<typeof createVerificationService>

/** What a session is found by. Those of the last release have no such tag. */
const tagsOf = (transactionID: string | null) => (transactionID === null ? {} : { transactionID })

/** The bytes of the webhook, without images. */
function webhookOf({ result }: VerificationSession): Buffer {
  if (!result) throw sessionOpen()
  return Buffer.from(JSON.stringify(resultOf(result).webhook))
}

function summaryOf(session: ListedSession<VerificationRequest> | Tombstone): VerificationSummary {
  const { sessionId, state, createdAt, expiresAt, endedAt, livemode } = session
  const kept = isPurged(session) ? null : session
  const transactionId = kept?.request.transactionId ?? undefined
  return {
    sessionId,
    type: kept?.request.type ?? null,
    state,
    outcome: kept ? outcomeOfState(kept.state) : null,
    ...(transactionId !== undefined && { transactionId }),
    requirements: [...(kept?.request.requirements ?? [])],
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    livemode,
  }
}

function summaryWithDebugLog(session: VerificationSession | Tombstone): VerificationSummary {
  const hasLog = !isPurged(session) && session.request.debugLevel > 0
  return { ...summaryOf(session), ...(hasLog && { debugLog: debugLogOf(session) }) }
}

function debugLogOf({ result, progress }: VerificationSession): StoredResult['debugLog'] {
  return result ? resultOf(result).debugLog : verificationOf(progress).debug
}

function outcomeOfState(state: SessionState): SessionOutcome | null {
  return state === 'SUCCESS' || state === 'FAILED' || state === 'CANCELLED' || state === 'EXPIRED'
    ? outcomeOf(state)
    : null
}

/** Sealed and authenticated by us, so it is what the ending wrote. */
function resultOf(bytes: Buffer): StoredResult {
  return JSON.parse(bytes.toString()) as StoredResult
}
