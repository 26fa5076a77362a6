import {
  type AgeResult,
  type CaptureAssurance,
  type ConsentRecord,
  type DocumentRecord,
  type FlowStatus,
  findSessionCodeName,
  type Indicators,
  RISK_LEVELS,
  type RiskEvaluation,
  SESSION_CODES,
  type SessionCodeName,
  withSpoof,
} from '@ostiary/contract'
import { simulatedRecord } from '../documents/index.ts'
import { evaluateRisk, storedOverrides, withoutVerdict } from '../risk/index.ts'
import {
  captureAssuranceOf,
  codeHashOf,
  consentOf,
  documentOf,
  type FlowEnd,
  type Progress,
  type ReturnTicket,
} from '../sessions/index.ts'
import { DEFAULT_DOCUMENT_POLICY, withParameters } from '../settings/index.ts'
import type { AgeRequest, SimulatedOutcome } from './request.ts'
import type { AgeSession } from './session.ts'
import {
  type Decision,
  type DocumentFacts,
  decide,
  documentOfAge,
  isLeftInDoubt,
  mayNeedDocument,
  type Steps,
  sandboxDecision,
  type VerdictRequest,
} from './verdict.ts'

/** How a session is to end. A test key may name the outcome, or codes that a session of a desktop ends with. */
export type AgeEnd = FlowEnd | { how: 'simulated'; outcome: SimulatedOutcome } | { how: 'expired'; desktop: boolean }

/** The status of a flow that ends so. */
export function flowStatusAt({ how }: AgeEnd): FlowStatus {
  if (how === 'cancelled') return 'CANCELLED'
  return how === 'expired' ? 'EXPIRED' : 'COMPLETED'
}

/** The whole result of a session that ends now. */
export function endedResult(
  session: AgeSession,
  end: AgeEnd,
  { endedAt, ticket }: { endedAt: Date; ticket: ReturnTicket | null },
): AgeResult {
  const { request, progress } = session
  const flowStatus = flowStatusAt(end)
  const isCompleted = flowStatus === 'COMPLETED'
  const simulated = simulatedBy(end, request)
  const evaluated = simulated ? simulatedRisk(request, simulated) : riskOf(request, progress, stepsOf(session))
  const isBlocked = isCompleted && request.policy.enforceBlock && evaluated.recommendation === 'BLOCK'
  const completion = { failures: end.how === 'failed' ? end.failures : [], simulated, isBlocked }
  const decision = isCompleted ? decisionOf(session, completion) : null
  const { types } = request.policy.documents ?? DEFAULT_DOCUMENT_POLICY
  const record = simulated ? simulatedRecord(types, endedAt) : (documentOf(progress).read?.record ?? null)
  return toResult({
    token: request.token,
    sessionId: session.sessionId,
    request,
    flowStatus,
    decision,
    metadata: request.metadata,
    ...(progress?.indicators && { indicators: progress.indicators }),
    risk: evaluated,
    ...(mayNeedDocument(request) && { document: decision?.result.documentAge ? record : null }),
    errors: faultsOf(progress, end, completion),
    createdAt: session.createdAt,
    expiresAt: session.expiresAt,
    endedAt,
    consent: consentOf(progress),
    capture: captureAssuranceOf(progress),
    livemode: session.livemode,
    ...(request.policy.redirectCode === true && { codeHash: codeHashOf(ticket) }),
  })
}

/** What a test session ends with: as the test key says now, or said when it created the session. */
function simulatedBy(end: AgeEnd, { sandbox }: AgeRequest): SimulatedOutcome | null {
  if (end.how !== 'simulated') return null
  return 'outcome' in end ? end.outcome : sandbox
}

interface Completion {
  failures: readonly SessionCodeName[]
  simulated: SimulatedOutcome | null
  isBlocked: boolean
}

function decisionOf(session: AgeSession, { failures, simulated, isBlocked }: Completion): Decision {
  const failure = isBlocked ? 'POLICY_BLOCKED' : failures[0]
  if (simulated) return simulatedDecision(session.request, simulated, failure)
  return decide({ ...stepsOf(session), ...(failure && { failure }) })
}

/** What the steps of the session found. */
function stepsOf({ request, progress }: AgeSession): Steps {
  const face = progress?.own
  const document = documentFactsOf(progress)
  return { request, settings: request.policy, ...(face && { face }), ...(document && { document }) }
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

function faultsOf(
  progress: Progress | null,
  end: AgeEnd,
  { failures, simulated, isBlocked }: Completion,
): SessionFault[] {
  const last = (name: SessionCodeName): SessionFault => {
    const noted = progress?.failures.findLast((failure) => failure.name === name)
    return noted?.reason === undefined ? { name } : { name, reason: noted.reason }
  }
  if (end.how === 'cancelled') return [last(end.code)]
  if (end.how === 'expired') {
    const isDesktop = progress?.desktop || ('desktop' in end && end.desktop)
    return [...(isDesktop ? [last('DESKTOP')] : []), last('SESSION_EXPIRED')]
  }
  const named = simulated?.errors.flatMap((code) => findSessionCodeName(code) ?? []).map((name) => ({ name }))
  return [...(isBlocked ? [last('POLICY_BLOCKED')] : []), ...(named ?? failures.map(last))]
}

/** The risk by the flags so far, and by what the steps found. Without signals its score is 0, and a person should look. */
function riskOf(request: AgeRequest, progress: Progress | null, steps: Steps | 'simulated' | null): RiskEvaluation {
  const isInDoubt = steps !== null && steps !== 'simulated' && isLeftInDoubt(steps)
  return evaluateRisk({
    simulated: steps === 'simulated',
    flags: [...(progress?.flags ?? []), ...(isInDoubt ? [{ code: 'BH_AGE_IN_DOUBT' } as const] : [])],
    browserEvaluated: progress?.indicators != null,
    behavioralEvaluated: progress?.behaviour ?? false,
    overrides: storedOverrides(request.policy.risk),
  })
}

/** The lowest score of the simulated level, with what the tenant's own policy recommends at it; no flag is made up. */
function simulatedRisk(request: AgeRequest, { risk }: SimulatedOutcome): RiskEvaluation {
  const base = riskOf(request, null, 'simulated')
  const found = RISK_LEVELS.find(({ level }) => level === risk)
  if (!found) return base
  const { min: score, level } = found
  const blocks = level === 'HIGH' && storedOverrides(request.policy.risk).highBlocks
  return { ...base, score, level, recommendation: blocks ? 'BLOCK' : found.recommendation }
}

/** The result so far of a session that is open. */
export function openResult(session: AgeSession): AgeResult {
  const { request, progress } = session
  return toResult({
    token: request.token,
    sessionId: session.sessionId,
    request,
    flowStatus: null,
    decision: null,
    metadata: request.metadata,
    risk: riskOf(request, null, null),
    ...(mayNeedDocument(request) && { document: null }),
    errors: [],
    createdAt: session.createdAt,
    expiresAt: session.expiresAt,
    endedAt: null,
    consent: consentOf(progress),
    livemode: session.livemode,
    progress: { state: session.state, attempt: progress?.attempt ?? 0 },
  })
}

/** Something that went wrong in a session, with the reason where its code has several. */
export interface SessionFault {
  name: SessionCodeName
  reason?: string
}

/** Everything a result is made of. */
export interface ResultFacts {
  token: string
  sessionId: string
  request: Pick<VerdictRequest, 'ageThreshold' | 'documentAgeThreshold' | 'faceMatchThreshold'>
  /** Null while the flow is open. */
  flowStatus: FlowStatus | null
  /** Counts only for a flow that was completed: one that was cancelled or expired has no verdict, whatever was found. */
  decision: Decision | null
  metadata: Record<string, unknown>
  indicators?: Indicators
  risk: RiskEvaluation
  /** Where the session may need one; null if none was read, or it counts for nothing. */
  document?: DocumentRecord | null
  errors: readonly SessionFault[]
  createdAt: Date
  expiresAt: Date
  endedAt: Date | null
  livemode: boolean
  /** Where the tenant asks for it. */
  codeHash?: string | null
  consent: ConsentRecord | null
  /** How the movements differed from what everybody gets. */
  capture?: CaptureAssurance | undefined
  progress?: { state: string; attempt: number }
}

/** The body of the result and of the webhook, with the fields in the order of the specification's table. */
export function toResult(facts: ResultFacts): AgeResult {
  const { request, flowStatus } = facts
  const decision = flowStatus === 'COMPLETED' ? facts.decision : null
  const status = decision?.status ?? 'AGE_UNKNOWN'
  const faults = withErrorsOf(decision, facts.errors)
  return {
    token: facts.token,
    sessionId: facts.sessionId,
    sessionStatus: status,
    status,
    flowStatus,
    result: decision?.result ?? {},
    thresholds: {
      ageThreshold: request.ageThreshold,
      compareThreshold: request.faceMatchThreshold,
      faceMatchThreshold: request.faceMatchThreshold,
      documentAgeThreshold: request.documentAgeThreshold,
    },
    metadata: facts.metadata,
    ...(facts.indicators && { indicators: facts.indicators }),
    riskEvaluation: decision?.basis ? facts.risk : withoutVerdict(facts.risk),
    ...(facts.document !== undefined && { document: facts.document }),
    errors: faults.map(({ name }) => SESSION_CODES[name].code),
    errorDetails: faults.map(({ name, reason }) => ({
      code: SESSION_CODES[name].code,
      name,
      ...(reason === undefined ? {} : { reason }),
    })),
    outcome: outcomeOf(flowStatus, status),
    assurance: { ...ASSURANCE[decision?.basis ?? 'none'], ...(isOfFace(decision) && facts.capture) },
    createdAt: facts.createdAt.toISOString(),
    expiresAt: facts.expiresAt.toISOString(),
    endedAt: facts.endedAt?.toISOString() ?? null,
    ...(facts.codeHash !== undefined && { codeHash: facts.codeHash }),
    consent: facts.consent,
    livemode: facts.livemode,
    ...(facts.progress && { progress: facts.progress }),
  }
}

/** The bytes of a result. `metadataText` replaces the metadata where serialising it again would change it. */
export function toResultBytes(result: AgeResult, metadataText: string | undefined): Buffer {
  if (metadataText === undefined) return Buffer.from(JSON.stringify(result))
  const members = Object.entries(result).map(
    ([name, value]) => `"${name}":${name === 'metadata' ? metadataText : JSON.stringify(value)}`,
  )
  return Buffer.from(`{${members.join()}}`)
}

/** One entry for each code; the first one's reason stands. */
function withErrorsOf(decision: Decision | null, noted: readonly SessionFault[]): SessionFault[] {
  const byName = new Map<SessionCodeName, SessionFault>()
  for (const fault of [...noted, ...(decision?.errors ?? []).map((name) => ({ name }))]) {
    if (!byName.has(fault.name)) byName.set(fault.name, fault)
  }
  return withSpoof([...byName.keys()]).map((name) => byName.get(name) ?? { name })
}

function outcomeOf(flowStatus: FlowStatus | null, status: AgeResult['status']): AgeResult['outcome'] {
  if (flowStatus !== 'COMPLETED') return flowStatus
  return status === 'AGE_UNKNOWN' ? 'FAILED' : 'SUCCEEDED'
}

/** What the verdict is worth. An estimate on the user's own device is not a verified age, and must not look like one. */
const ASSURANCE: Readonly<Record<Exclude<Decision['basis'], null> | 'none', AgeResult['assurance']>> = {
  face: { level: 'estimate', method: 'on-device face age estimation' },
  document: { level: 'document', method: 'on-device reading of an identity document' },
  sandbox: { level: 'sandbox', method: 'test mode' },
  none: { level: 'none', method: 'none' },
}

/** Whether the verdict rests on a face that was captured: by itself, or compared with a document. */
const isOfFace = (decision: Decision | null) =>
  decision?.basis === 'face' || (decision?.basis === 'document' && decision.result.faceMatch !== undefined)

/**
 * Where the user is sent when the flow has ended: the host's URL with `sessionId` and `flowStatus`, and never a result, which
 * anyone could write into a URL. A `state` that the host put there stays, as all its other parameters do, unchanged.
 */
export function redirectTarget(
  redirectUrl: string,
  { sessionId, flowStatus }: { sessionId: string; flowStatus: FlowStatus },
): string {
  return withParameters(redirectUrl, { sessionId, flowStatus })
}
