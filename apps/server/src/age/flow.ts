import { type CapturePayload, RISK_FLAGS, type SessionCodeName } from '@ostiary/contract'
import type { RiskFlag } from '../risk/index.ts'
import {
  type AcceptedCapture,
  type FinalState,
  type Flow,
  type FlowEnd,
  type FlowRules,
  flowOfArea,
  flowStatusOf,
  nextState,
  type RunningSession,
  type Sessions,
  type Step,
} from '../sessions/index.ts'
import type { Ending, EndRequest } from './ending.ts'
import type { AgeRequest } from './request.ts'
import { redirectTarget } from './result.ts'
import { type AgeProgress, type AgeSession, ageSessionsIn } from './session.ts'
import { needsDocument } from './verdict.ts'

type RunningAgeSession = RunningSession<AgeRequest, AgeProgress>

/** What is different in an age check: the verdict at its end, and a document where the face is not enough. */
export function createAgeFlow({ sessions, ending }: { sessions: Sessions; ending: Ending }): Flow {
  return flowOfArea(ageSessionsIn(sessions), {
    rules: ageRules,
    consented,
    captured,
    // An age check counts no failures against anybody and keeps no notes.
    settled: async (_tx, { progress }) => progress,
    conclude: (tx, session, end) => ending.conclude(tx, session, endRequestOf(session, end)),
  })
}

export function ageRules({ request, sessionId }: AgeSession): FlowRules {
  return {
    describe: () => ({ type: 'AGE', requirements: [...request.requirements], verification: null }),
    wantsAge: true,
    takesConditions: false,
    /** Where a document can be asked for, it decides instead. */
    hasOtherWay: request.stepUpEnabled || request.requirements.includes('identity_document'),
    simulatedDelayMs: request.sandbox?.delayMs ?? null,
    payloadFault(payload: CapturePayload, hasSelfie: boolean): string | undefined {
      if (hasSelfie) return 'selfie'
      return payload.estimate.frames === 0 || payload.face || payload.local ? 'schema' : undefined
    },
    failuresOf: (name: SessionCodeName, noTryLeft: boolean) => (noTryLeft ? [name, 'ATTEMPTS_EXCEEDED'] : [name]),
    endReply(state: FinalState) {
      const flowStatus = flowStatusOf(state)
      if (!flowStatus) throw new Error(`${state} is no end`)
      return { redirectUrl: redirectTarget(request.redirectUrl, { sessionId, flowStatus }) }
    },
  }
}

export function consented(_tx: unknown, session: RunningAgeSession): Step<AgeProgress> {
  const { progress } = session
  const ready = nextState(session, 'consent_given')
  const documentFirst = session.request.requirements[0] === 'identity_document'
  return { state: documentFirst ? nextState({ ...session, state: ready }, 'document_needed') : ready, progress }
}

/**
 * A session that was sent to the document step stays there. A handoff starts the face step again, and a second estimate must not
 * replace a doubtful first one.
 */
export function captured(session: RunningAgeSession, capture: AcceptedCapture): Step<AgeProgress> {
  const { progress } = session
  const { estimateYears, unstable, unfit } = capture
  const wasSentOn = progress.own !== null
  const face = { estimateYears, doubtful: wasSentOn || unstable || unfit || progress.flags.some(isStrong) }
  const known = { ...progress, own: face }
  const done = nextState(session, 'estimated')
  if (needsDocument(session.request, face, session.request.policy))
    return { state: nextState({ ...session, state: done }, 'document_needed'), progress: known }
  return { state: done, progress: known, end: { how: 'reached' } }
}

function endRequestOf({ request }: AgeSession, end: FlowEnd): EndRequest {
  if (end.how === 'cancelled') return { flow: 'CANCELLED', code: end.code }
  if (end.how === 'expired') return { flow: 'EXPIRED' }
  if (end.how === 'simulated') return { flow: 'COMPLETED', simulated: request.sandbox }
  return end.how === 'failed' ? { flow: 'COMPLETED', failures: end.failures } : { flow: 'COMPLETED' }
}

/** Behaviour that is hard to explain otherwise: where the host allows it, a document is asked for. */
const isStrong = ({ code }: RiskFlag) => code.startsWith('BH_') && (RISK_FLAGS[code].floor ?? 0) >= STRONG_FLOOR
const STRONG_FLOOR = 60
