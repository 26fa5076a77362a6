import {
  type AgeResult,
  type CaptureAssurance,
  type ConsentRecord,
  type DocumentRecord,
  type FlowStatus,
  type Indicators,
  type RiskEvaluation,
  SESSION_CODES,
  type SessionCodeName,
} from '@ostiary/contract'
import { withParameters } from '../settings/index.ts'
import type { Decision, VerdictRequest } from './verdict.ts'

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
    result: decision?.result ?? { confidenceScore: null, faceMatch: null },
    thresholds: {
      ageThreshold: request.ageThreshold,
      compareThreshold: request.faceMatchThreshold,
      faceMatchThreshold: request.faceMatchThreshold,
      documentAgeThreshold: request.documentAgeThreshold,
    },
    metadata: facts.metadata,
    ...(facts.indicators && { indicators: facts.indicators }),
    riskEvaluation: facts.risk,
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
  return [...byName.values()]
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
  decision?.basis === 'face' || (decision?.basis === 'document' && decision.result.faceMatch !== null)

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
