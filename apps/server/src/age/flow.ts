import { type CapturePayload, RISK_FLAGS, type SessionCodeName } from '@ostiary/contract'
import { scoreOf } from '../documents/index.ts'
import type { RiskFlag } from '../risk/index.ts'
import {
  type AcceptedCapture,
  type DocumentAsk,
  documentOf,
  type FinalState,
  type Flow,
  type FlowRules,
  failDocument,
  flowOfArea,
  flowStatusOf,
  nextState,
  type Progress,
  type RunningSession,
  type Sessions,
  type Step,
  withDocument,
} from '../sessions/index.ts'
import { DEFAULT_DOCUMENT_POLICY } from '../settings/index.ts'
import type { Ending } from './ending.ts'
import type { AgeRequest } from './request.ts'
import { redirectTarget } from './result.ts'
import { type AgeProgress, type AgeSession, ageSessionsIn } from './session.ts'
import { askedAges, hasDocumentInDoubt, mayNeedDocument, needsDocument } from './verdict.ts'

type RunningAgeSession = RunningSession<AgeRequest, AgeProgress>

/** What is different in an age check: the verdict at its end, and a document where the face is not enough. */
export function createAgeFlow({ sessions, ending }: { sessions: Sessions; ending: Ending }): Flow {
  return flowOfArea(ageSessionsIn(sessions), {
    rules: ageRules,
    consented,
    captured: async (session, capture) => captured(session, capture),
    documentRead,
    // An age check counts no failures against anybody and keeps no notes.
    countFor: () => undefined,
    noted: ({ progress }) => progress,
    conclude: ending.conclude,
  })
}

export function ageRules(session: AgeSession): FlowRules {
  const { request, sessionId } = session
  return {
    describe: () => ({
      type: 'AGE',
      requirements: [...request.requirements],
      verification: null,
      ages: askedAges(request, request.policy),
    }),
    wantsAge: true,
    takesConditions: false,
    /** Where a document is asked for in doubt, it decides instead. */
    hasOtherWay: hasDocumentInDoubt(request),
    document: mayNeedDocument(request) ? documentAskOf(session) : null,
    simulatedDelayMs: request.sandbox?.delayMs ?? null,
    payloadFault(payload: CapturePayload, hasSelfie: boolean): string | undefined {
      if (hasSelfie) return 'selfie'
      if (payload.estimate.frames === 0 || payload.face || payload.local) return 'schema'
      return payload.match && !isWithReadDocument(session, payload.match) ? 'match' : undefined
    },
    failuresOf: (name: SessionCodeName, noTryLeft: boolean) => (noTryLeft ? [name, 'ATTEMPTS_EXCEEDED'] : [name]),
    endReply(state: FinalState) {
      const flowStatus = flowStatusOf(state)
      if (!flowStatus) throw new Error(`${state} is no end`)
      return { redirectUrl: redirectTarget(request.redirectUrl, { sessionId, flowStatus }) }
    },
  }
}

function documentAskOf({ request, progress }: AgeSession): DocumentAsk {
  const { types, expiryGraceDays, reuseCheck } = request.policy.documents ?? DEFAULT_DOCUMENT_POLICY
  return {
    when: request.requirements.includes('identity_document') ? 'always' : 'step_up',
    acceptedTypes: types,
    expiryGraceDays,
    age: { threshold: request.documentAgeThreshold, format: request.documentAgeReturnFormat },
    matchThreshold: request.faceMatchThreshold,
    reuseCheck,
    comparesFace: (progress?.own ?? null) !== null,
    mayLook: true,
  }
}

/** Only the device that read the document holds the numbers of its portrait. */
function isWithReadDocument({ progress }: AgeSession, { document }: NonNullable<CapturePayload['match']>): boolean {
  const { read } = documentOf(progress)
  return read !== null && read.nonce === document && read.thumbprint === progress?.holder?.thumbprint
}

/** After a handoff the flow goes on where it was: the result of the face step stays, and a document that was read does. */
export function consented(session: RunningAgeSession): Step<AgeProgress> {
  const { progress } = session
  const ready = nextState(session, 'consent_given')
  const isDocumentFirst = session.request.requirements[0] === 'identity_document'
  const isDocumentNext = progress.own !== null || (isDocumentFirst && !documentOf(progress).read)
  return { state: isDocumentNext ? nextState({ ...session, state: ready }, 'document_needed') : ready, progress }
}

/**
 * A session that was sent to the document step stays there. A handoff at a process of the last release starts the face step again, and a
 * second estimate must not replace a doubtful first one.
 */
export function captured(session: RunningAgeSession, capture: AcceptedCapture): Step<AgeProgress> {
  const { progress } = session
  const { payload, estimateYears, unstable, unfit } = capture
  const wasSentOn = progress.own !== null
  const face = { estimateYears, doubtful: wasSentOn || unstable || unfit || progress.flags.some(isStrong) }
  const known = { ...progress, own: face }
  const done = nextState(session, 'estimated')
  const { read } = documentOf(progress)
  if (read && payload.match) return compareWithDocument({ ...session, state: done, progress: known }, payload.match)
  // The device does not hold the portrait any more: the document is shown once more, and compared with this capture.
  if (read) return { state: nextState({ ...session, state: done }, 'document_needed'), progress: forgotten(known) }
  if (wasSentOn || needsDocument(session.request, face, session.request.policy))
    return { state: nextState({ ...session, state: done }, 'document_needed'), progress: known }
  return { state: done, progress: known, end: { how: 'reached' } }
}

const forgotten = (progress: Progress<AgeProgress>) => withDocument(progress, { read: null })

/** The document was read before the face. A portrait of somebody else costs a try of the document step. */
function compareWithDocument(
  session: RunningAgeSession,
  match: NonNullable<CapturePayload['match']>,
): Step<AgeProgress> {
  const { request } = session
  const { read } = documentOf(session.progress)
  const score = scoreOf(match.score)
  const progress = withDocument(session.progress, { read: read && { ...read, score } })
  const matching = { ...session, state: nextState(session, 'compare_faces') }
  if (score < request.faceMatchThreshold) return failDocument(ageRules(session), matching, progress, 'FACE_NOT_MATCH')
  return { state: matching.state, progress, end: { how: 'reached' } }
}

/** The last step, unless the face comes after it. */
export function documentRead(session: RunningAgeSession): Step<AgeProgress> {
  const { progress, request } = session
  const state = nextState(session, 'document_read')
  const isFaceNext = progress.own === null && request.requirements.includes('face')
  return { state, progress, ...(!isFaceNext && { end: { how: 'reached' } as const }) }
}

/** Behaviour that is hard to explain otherwise: where the host allows it, a document is asked for. */
const isStrong = ({ code }: RiskFlag) => code.startsWith('BH_') && (RISK_FLAGS[code].floor ?? 0) >= STRONG_FLOOR
const STRONG_FLOOR = 60
