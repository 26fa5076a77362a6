import {
  type FlowStatus,
  findSessionCodeName,
  RISK_LEVELS,
  type RiskEvaluation,
  type SessionCodeName,
} from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import type { Db, Queryable } from '../platform/db.ts'
import type { LabelledCounter } from '../platform/hot-metrics.ts'
import type { Log } from '../platform/log.ts'
import { evaluateRisk, storedOverrides } from '../risk/index.ts'
import { createExpiry, type Progress, type Session, type Sessions } from '../sessions/index.ts'
import type { WebhookService } from '../webhooks/index.ts'
import type { AgeRequest, SandboxWish } from './request.ts'
import { type SessionFault, toResult, toResultBytes } from './result.ts'
import { type Decision, decide, sandboxDecision } from './verdict.ts'

export type AgeSession = Session<AgeRequest, Progress>

/** How a session is to end. */
export type EndingWish =
  | { flow: 'COMPLETED'; failures?: readonly SessionCodeName[]; wish?: SandboxWish | null }
  | { flow: 'CANCELLED'; code: 'USER_CANCELLED' | 'CONSENT_DECLINED' | 'HOST_CANCELLED' }
  | { flow: 'EXPIRED' }

interface Deps {
  clock: Clock
  sessions: Sessions
  webhooks: WebhookService
  log: Log
  /** Sessions that ended, by how. */
  metrics: LabelledCounter
}

const EVENTS: Readonly<Record<FlowStatus, string>> = {
  COMPLETED: 'age.session.completed',
  CANCELLED: 'age.session.cancelled',
  EXPIRED: 'age.session.expired',
}

/** The end of an age session: the verdict, the result and its webhook, in one transaction, so that none is without the others. */
export function createEnding({ clock, sessions, webhooks, log, metrics }: Deps) {
  function prepare(session: AgeSession, progress: Progress | null, wish: EndingWish, at: Date) {
    const purgeAt = new Date(at.getTime() + session.request.policy.retentionSeconds * 1000)
    const result = toResultBytes(endedResult(session, progress, wish, at), session.request.metadataText)
    return { session, purgeAt, result }
  }

  function messageOf({ session, purgeAt, result }: ReturnType<typeof prepare>, flow: FlowStatus, at: Date) {
    const { callback } = session.request
    if (!callback) return []
    const { tenantId, livemode, keyId, sessionId } = session
    const { url, headers } = callback
    const shared = {
      tenantId,
      livemode,
      keyId,
      area: 'C' as const,
      event: EVENTS[flow],
      subjectId: sessionId,
      sequence: 1,
    }
    return [{ ...shared, url, headers, body: result, now: at, purgeAt }]
  }

  /** Ends a session that the transaction holds. Returns the state it has then. */
  async function conclude(
    tx: Queryable,
    session: AgeSession,
    progress: Progress | null,
    wish: EndingWish,
  ): Promise<FlowStatus> {
    const at = clock.now()
    const ended = prepare(session, progress, wish, at)
    await sessions.end(tx, session, { state: wish.flow, at, purgeAt: ended.purgeAt, result: ended.result })
    await webhooks.enqueue(tx, messageOf(ended, wish.flow, at))
    metrics.count(wish.flow)
    return wish.flow
  }

  const expire = createExpiry(
    { clock, sessions, log },
    {
      area: 'C',
      prepare: (session: AgeSession, at) => prepare(session, session.progress, { flow: 'EXPIRED' }, at),
      follow: (tx, ended, at) =>
        webhooks.enqueue(
          tx,
          ended.flatMap((one) => messageOf(one, 'EXPIRED', at)),
        ),
    },
  )

  return {
    conclude,

    /** Ends a session that the transaction holds when its time is over and no sweeper has come by yet. Returns whether it was. */
    async expireIfDue(tx: Queryable, session: AgeSession): Promise<boolean> {
      if (session.endedAt !== null || clock.now() <= session.dueAt) return false
      await conclude(tx, session, session.progress, { flow: 'EXPIRED' })
      return true
    },

    /** Ends sessions whose time is over. Returns how many it dealt with. */
    async expireDue(db: Db): Promise<number> {
      const { expired, putOff } = await expire(db)
      metrics.count('EXPIRED', expired)
      return expired + putOff
    },
  }
}
export type Ending = ReturnType<typeof createEnding>

/** The whole result of a session that ends now. */
function endedResult(session: AgeSession, progress: Progress | null, wish: EndingWish, endedAt: Date) {
  const { request } = session
  const sandbox = wish.flow === 'COMPLETED' ? (wish.wish ?? null) : null
  const evaluated = sandbox ? sandboxRisk(request, sandbox) : riskOf(request, progress)
  const isBlocked = wish.flow === 'COMPLETED' && request.policy.enforceBlock && evaluated.recommendation === 'BLOCK'
  const decision = wish.flow === 'COMPLETED' ? decisionOf(request, progress, wish, isBlocked) : null
  return toResult({
    token: request.token,
    sessionId: session.sessionId,
    request,
    flowStatus: wish.flow,
    decision,
    metadata: request.metadata,
    ...(progress?.indicators && { indicators: progress.indicators }),
    risk: evaluated,
    errors: faultsOf(progress, wish, isBlocked),
    createdAt: session.createdAt,
    expiresAt: session.expiresAt,
    endedAt,
    livemode: session.livemode,
  })
}

function decisionOf(
  request: AgeRequest,
  progress: Progress | null,
  { failures = [], wish }: Extract<EndingWish, { flow: 'COMPLETED' }>,
  isBlocked: boolean,
): Decision {
  const settings = request.policy
  const failure = isBlocked ? 'POLICY_BLOCKED' : failures[0]
  if (wish) return wishedDecision(request, wish, failure)
  const face = progress?.face
  return decide({ request, settings, ...(face && { face }), ...(failure && { failure }) })
}

/** With ages in the wish the real rules decide over them; otherwise the outcome is as wished. */
function wishedDecision(request: AgeRequest, wish: SandboxWish, blocked: SessionCodeName | undefined): Decision {
  const { faceAge, documentAge, faceMatchScore = null } = wish
  const failure = blocked ?? wish.errors.map(findSessionCodeName)[0]
  if (failure === undefined && faceAge === undefined && documentAge === undefined) {
    return sandboxDecision(request, request.policy, wish.outcome)
  }
  const decided = decide({
    request,
    settings: request.policy,
    ...(faceAge !== undefined && { face: { estimateYears: faceAge, doubtful: false } }),
    ...(documentAge !== undefined && { document: { ageYears: documentAge, faceMatchScore } }),
    ...(failure && { failure }),
  })
  return { ...decided, basis: decided.basis && 'sandbox' }
}

function faultsOf(progress: Progress | null, wish: EndingWish, isBlocked: boolean): SessionFault[] {
  const last = (name: SessionCodeName): SessionFault => {
    const noted = progress?.failures.findLast((failure) => failure.name === name)
    return noted?.reason === undefined ? { name } : { name, reason: noted.reason }
  }
  if (wish.flow === 'CANCELLED') return [last(wish.code)]
  if (wish.flow === 'EXPIRED') return [...(progress?.desktop ? [last('DESKTOP')] : []), last('SESSION_EXPIRED')]
  const blocked = isBlocked ? [last('POLICY_BLOCKED')] : []
  if (!wish.wish) return [...blocked, ...(wish.failures ?? []).map(last)]
  return [...blocked, ...wish.wish.errors.flatMap((code) => findSessionCodeName(code) ?? []).map((name) => ({ name }))]
}

/** What the flags so far come to; nothing yet is a low risk without signals. */
export function riskOf(request: AgeRequest, progress: Progress | null): RiskEvaluation {
  return evaluateRisk({
    flags: progress?.flags ?? [],
    browserEvaluated: progress?.indicators != null,
    behavioralEvaluated: progress?.behaviour ?? false,
    overrides: storedOverrides(request.policy.risk),
  })
}

/** The lowest score of the wished level, with what the tenant's own policy recommends at it; no flag is made up. */
function sandboxRisk(request: AgeRequest, { risk }: SandboxWish): RiskEvaluation {
  const base = riskOf(request, null)
  const wished = RISK_LEVELS.find(({ level }) => level === risk)
  if (!wished) return base
  const { min: score, level } = wished
  const blocks = level === 'HIGH' && storedOverrides(request.policy.risk).highBlocks
  return { ...base, score, level, recommendation: blocks ? 'BLOCK' : wished.recommendation }
}
