import {
  type CaptureAssurance,
  type CaptureConditions,
  type ConsentRecord,
  type Indicators,
  type RiskEvaluation,
  SESSION_CODES,
  type SessionCodeName,
  type SessionOutcome,
  type VerificationFault,
  type VerificationWebhook,
  withSpoof,
} from '@ostiary/contract'
import { evaluateRisk, storedOverrides, withoutVerdict } from '../risk/index.ts'
import type { Progress } from '../sessions/index.ts'
import { withParameters } from '../settings/index.ts'
import type { VerificationRequest } from './request.ts'
import type { VerificationEnd } from './types.ts'

/** Everything a webhook is made of. */
export interface WebhookFacts {
  sessionId: string
  request: VerificationRequest
  end: VerificationEnd
  /** A desktop opened it and could not run it. */
  desktop: boolean
  indicators: Indicators | null
  risk: RiskEvaluation
  endedAt: Date
  /** Of the one-time code; null if no browser has ended the session. */
  codeHash: string | null
  /** What the user answered to the consent question, on the device that finished; null if that device did not answer. */
  consent: ConsentRecord | null
  /** As the device reported them; null if it did not. */
  conditions: CaptureConditions | null
  /** How the movements differed from what everybody gets. */
  capture?: CaptureAssurance | undefined
  livemode: boolean
  /** What a device said about why a session by token could not compare. */
  reasons: readonly { name: SessionCodeName; reason: string }[]
  /** Whether the selfie is in it. Only what is sent has it, once; what is kept never. */
  withImages: boolean
}

export type EndState = VerificationEnd['state']

/** The body of the webhook, with the fields in the order of the specification's table. */
export function toWebhook(facts: WebhookFacts): VerificationWebhook {
  const { sessionId, request, end } = facts
  const errors = faultsOf(facts)
  const isFailedSignIn = end.state !== 'SUCCESS' && request.type === 'SIGN-IN'
  return {
    sessionId,
    status: end.state === 'SUCCESS' ? 'SUCCESS' : isFailedSignIn ? 'error' : 'FAILED',
    ...(request.transactionId !== null && { transactionId: request.transactionId }),
    message: end.state === 'SUCCESS' ? 'Ok' : (errors[0]?.message ?? SESSION_CODES.INTERNAL.message),
    ...(end.state === 'SUCCESS' && personPart(request, end, facts.endedAt)),
    errors,
    ...(isFailedSignIn && { errorCodes: errors.map(({ code }) => code) }),
    ...detailsPart(facts),
    ...(end.state === 'FAILED' && end.retryAfterSeconds !== undefined && { retryAfter: end.retryAfterSeconds }),
    ...(request.sendImages && { images: facts.withImages ? imagesOf(end) : [] }),
    ...(facts.indicators && { indicators: facts.indicators }),
    riskEvaluation: end.state === 'SUCCESS' ? facts.risk : withoutVerdict(facts.risk),
    type: request.type,
    outcome: outcomeOf(end.state),
    ...(end.state === 'SUCCESS' && foundPart(request, end)),
    ...(request.nonce !== null && { nonce: request.nonce }),
    codeHash: facts.codeHash,
    ...(facts.conditions && { captureConditions: facts.conditions }),
    ...(end.state === 'SUCCESS' && facts.capture && { assurance: facts.capture }),
    consent: facts.consent,
    livemode: facts.livemode,
  }
}

/** Why a session by token could not compare: the codes alone do not say it. */
function detailsPart({ end, reasons }: WebhookFacts): Pick<VerificationWebhook, 'errorDetails'> {
  if (end.state !== 'FAILED') return {}
  const known = reasons.filter(({ name }) => end.failures.includes(name))
  if (known.length === 0) return {}
  return { errorDetails: known.map(({ name, reason }) => ({ code: SESSION_CODES[name].code, name, reason })) }
}

type Success = Extract<VerificationEnd, { state: 'SUCCESS' }>

function personPart({ contactInformation }: VerificationRequest, { person, document }: Success, endedAt: Date) {
  return {
    puid: person.puid,
    guid: person.guid,
    identityInformation: {
      ...(document && { documentType: document.type }),
      verificationDate: String(endedAt.getTime()),
    },
    ...(contactInformation && { contactInformation }),
  }
}

function foundPart({ type, estimateAge }: VerificationRequest, { estimatedAge, matchedBy, document }: Success) {
  return {
    ...(document && { document }),
    ...(estimateAge && estimatedAge !== undefined && { estimatedAge }),
    ...(type !== 'ENROLL' && matchedBy !== undefined && { matchedBy }),
  }
}

function imagesOf(end: VerificationEnd): NonNullable<VerificationWebhook['images']> {
  const selfie = end.state === 'SUCCESS' ? end.selfie : undefined
  return selfie === undefined ? [] : [{ type: 'portrait', data: selfie }]
}

function faultsOf({ end, desktop }: WebhookFacts): VerificationFault[] {
  return withSpoof([...new Set(codesOf(end, desktop))]).map((name) => {
    const { code, message } = SESSION_CODES[name]
    return { code, message }
  })
}

function codesOf(end: VerificationEnd, desktop: boolean): readonly SessionCodeName[] {
  switch (end.state) {
    case 'SUCCESS':
      return end.notes ?? []
    case 'FAILED':
      return end.failures
    case 'CANCELLED':
      return [end.code]
    case 'EXPIRED':
      return desktop || end.desktop ? ['SESSION_EXPIRED', 'DESKTOP'] : ['SESSION_EXPIRED']
  }
}

const OUTCOMES: Readonly<Record<EndState, SessionOutcome>> = {
  SUCCESS: 'SUCCEEDED',
  FAILED: 'FAILED',
  CANCELLED: 'CANCELLED',
  EXPIRED: 'EXPIRED',
}

/** One vocabulary for areas C and D. */
export function outcomeOf(state: EndState): SessionOutcome {
  return OUTCOMES[state]
}

/** Whether the tenant enforces the recommendation of the risk evaluation, and it is to block. */
export function blocks(request: VerificationRequest, progress: Progress | null): boolean {
  return request.policy.enforceBlock && riskOf(request, progress).recommendation === 'BLOCK'
}

/**
 * The risk by the flags so far. Behaviour is not evaluated in this area, so flags of that kind are left out, except those that always
 * count. `simulated`: a test key chose the end.
 */
export function riskOf(request: VerificationRequest, progress: Progress | null, simulated = false): RiskEvaluation {
  return evaluateRisk({
    simulated,
    flags: progress?.flags ?? [],
    browserEvaluated: progress?.indicators != null,
    behavioralEvaluated: false,
    overrides: storedOverrides(request.policy.risk),
  })
}

/** Where the user is sent when the flow has ended: the host's URL with the session and how it ended, and never a person. */
export function redirectTargetOf(
  { redirectUrl }: Pick<VerificationRequest, 'redirectUrl'>,
  { sessionId, status }: { sessionId: string; status: EndState },
): string {
  return withParameters(redirectUrl, { sessionId, status })
}
