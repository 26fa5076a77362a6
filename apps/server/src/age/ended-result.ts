import { findSessionCodeName, RISK_LEVELS, type RiskEvaluation, type SessionCodeName } from '@ostiary/contract'
import { simulatedRecord } from '../documents/index.ts'
import { evaluateRisk, storedOverrides } from '../risk/index.ts'
import {
  captureAssuranceOf,
  codeHashOf,
  consentOf,
  documentOf,
  type Progress,
  type ReturnTicket,
} from '../sessions/index.ts'
import { DEFAULT_DOCUMENT_POLICY } from '../settings/index.ts'
import type { AgeRequest, SimulatedOutcome } from './request.ts'
import { type SessionFault, toResult } from './result.ts'
import type { AgeSession } from './session.ts'
import {
  type Decision,
  type DocumentFacts,
  decide,
  documentOfAge,
  mayNeedDocument,
  sandboxDecision,
} from './verdict.ts'

/** How a session is to end. */
export type EndRequest =
  | { flow: 'COMPLETED'; failures?: readonly SessionCodeName[]; simulated?: SimulatedOutcome | null }
  | { flow: 'CANCELLED'; code: 'USER_CANCELLED' | 'CONSENT_DECLINED' | 'HOST_CANCELLED' }
  | { flow: 'EXPIRED'; desktop?: boolean }

/** The whole result of a session that ends now. */
export function endedResult(
  session: AgeSession,
  end: EndRequest,
  { endedAt, ticket }: { endedAt: Date; ticket: ReturnTicket | null },
) {
  const { request, progress } = session
  const simulated = end.flow === 'COMPLETED' ? (end.simulated ?? null) : null
  const evaluated = simulated ? simulatedRisk(request, simulated) : riskOf(request, progress)
  const isBlocked = end.flow === 'COMPLETED' && request.policy.enforceBlock && evaluated.recommendation === 'BLOCK'
  const decision = end.flow === 'COMPLETED' ? decisionOf(session, end, isBlocked) : null
  const { types } = request.policy.documents ?? DEFAULT_DOCUMENT_POLICY
  const record = simulated ? simulatedRecord(types, endedAt) : (documentOf(progress).read?.record ?? null)
  return toResult({
    token: request.token,
    sessionId: session.sessionId,
    request,
    flowStatus: end.flow,
    decision,
    metadata: request.metadata,
    ...(progress?.indicators && { indicators: progress.indicators }),
    risk: evaluated,
    ...(mayNeedDocument(request) && { document: decision?.result.documentAge ? record : null }),
    errors: faultsOf(progress, end, isBlocked),
    createdAt: session.createdAt,
    expiresAt: session.expiresAt,
    endedAt,
    consent: consentOf(progress),
    capture: captureAssuranceOf(progress),
    livemode: session.livemode,
    ...(request.policy.redirectCode === true && { codeHash: codeHashOf(ticket) }),
  })
}

function decisionOf(
  { request, progress }: AgeSession,
  { failures = [], simulated }: Extract<EndRequest, { flow: 'COMPLETED' }>,
  isBlocked: boolean,
): Decision {
  const settings = request.policy
  const failure = isBlocked ? 'POLICY_BLOCKED' : failures[0]
  if (simulated) return simulatedDecision(request, simulated, failure)
  const face = progress?.own
  const document = documentFactsOf(progress)
  return decide({
    request,
    settings,
    ...(face && { face }),
    ...(document && { document }),
    ...(failure && { failure }),
  })
}

const THRESHOLD_RESULTS = {
  above: 'AGE_ABOVE_THRESHOLD',
  at: 'AGE_AT_THRESHOLD',
  below: 'AGE_BELOW_THRESHOLD',
} as const

function documentFactsOf(progress: Progress | null): DocumentFacts | undefined {
  const { read } = documentOf(progress)
  if (!read?.age) return undefined
  const { result, years } = read.age
  return {
    thresholdResult: THRESHOLD_RESULTS[result],
    ...(years !== undefined && { ageYears: years }),
    faceMatchScore: read.score,
  }
}

/** The real rules decide where the simulated outcome names ages; otherwise the decision is the outcome that it names. */
function simulatedDecision(
  request: AgeRequest,
  simulated: SimulatedOutcome,
  blocked: SessionCodeName | undefined,
): Decision {
  const { faceAge, documentAge, faceMatchScore = null } = simulated
  const failure = blocked ?? simulated.errors.map(findSessionCodeName)[0]
  if (failure === undefined && faceAge === undefined && documentAge === undefined) {
    return sandboxDecision(request, request.policy, simulated.outcome)
  }
  const decided = decide({
    request,
    settings: request.policy,
    ...(faceAge !== undefined && { face: { estimateYears: faceAge, doubtful: false } }),
    ...(documentAge !== undefined && { document: documentOfAge(request, documentAge, faceMatchScore) }),
    ...(failure && { failure }),
  })
  return { ...decided, basis: decided.basis && 'sandbox' }
}

function faultsOf(progress: Progress | null, end: EndRequest, isBlocked: boolean): SessionFault[] {
  const last = (name: SessionCodeName): SessionFault => {
    const noted = progress?.failures.findLast((failure) => failure.name === name)
    return noted?.reason === undefined ? { name } : { name, reason: noted.reason }
  }
  if (end.flow === 'CANCELLED') return [last(end.code)]
  if (end.flow === 'EXPIRED') {
    return [...(progress?.desktop || end.desktop ? [last('DESKTOP')] : []), last('SESSION_EXPIRED')]
  }
  const blocked = isBlocked ? [last('POLICY_BLOCKED')] : []
  if (!end.simulated) return [...blocked, ...(end.failures ?? []).map(last)]
  return [
    ...blocked,
    ...end.simulated.errors.flatMap((code) => findSessionCodeName(code) ?? []).map((name) => ({ name })),
  ]
}

/** The risk by the flags so far. Without signals its score is 0, and a person should look. */
export function riskOf(request: AgeRequest, progress: Progress | null, simulated = false): RiskEvaluation {
  return evaluateRisk({
    simulated,
    flags: progress?.flags ?? [],
    browserEvaluated: progress?.indicators != null,
    behavioralEvaluated: progress?.behaviour ?? false,
    overrides: storedOverrides(request.policy.risk),
  })
}

/** The lowest score of the simulated level, with what the tenant's own policy recommends at it; no flag is made up. */
function simulatedRisk(request: AgeRequest, { risk }: SimulatedOutcome): RiskEvaluation {
  const base = riskOf(request, null, true)
  const found = RISK_LEVELS.find(({ level }) => level === risk)
  if (!found) return base
  const { min: score, level } = found
  const blocks = level === 'HIGH' && storedOverrides(request.policy.risk).highBlocks
  return { ...base, score, level, recommendation: blocks ? 'BLOCK' : found.recommendation }
}
