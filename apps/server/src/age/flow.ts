import { type CapturePayload, RISK_FLAGS, type SessionCodeName } from '@ostiary/contract'
import type { Queryable } from '../platform/db.ts'
import type { RiskFlag } from '../risk/index.ts'
import {
  type FinalState,
  type Flow,
  type FlowEnd,
  flowStatusOf,
  nextState,
  type Progress,
  type Seen,
  type Step,
} from '../sessions/index.ts'
import type { AgeSession, Ending, EndingWish } from './ending.ts'
import { redirectTarget } from './result.ts'
import { needsDocument } from './verdict.ts'

/** What is an age check's own in a flow: the verdict at its end, and a document where the face is not enough. */
export function createAgeFlow({ ending }: { ending: Ending }): Flow {
  return {
    ...AGE_RULES,
    conclude: (tx: Queryable, session: AgeSession, progress: Progress | null, end: FlowEnd) =>
      ending.conclude(tx, session, progress, wishOf(session, end)),
  }
}

/** Everything that needs no database. */
export const AGE_RULES = {
  describe: ({ request }: AgeSession) => ({
    type: 'AGE' as const,
    requirements: [...request.requirements],
    verification: null,
  }),

  redirectUrl({ request, sessionId }: AgeSession, state: FinalState): string {
    const flowStatus = flowStatusOf(state)
    if (!flowStatus) throw new Error(`${state} is no end`)
    return redirectTarget(request.redirectUrl, { sessionId, flowStatus })
  },

  wishDelayMs: ({ request }: AgeSession): number | null => request.sandbox?.delayMs ?? null,

  consented(session: AgeSession, progress: Progress): Step {
    const ready = nextState(session, 'consent_given')
    const documentFirst = session.request.requirements[0] === 'identity_document'
    return { state: documentFirst ? nextState({ ...session, state: ready }, 'document_needed') : ready, progress }
  },

  failuresOf: (name: SessionCodeName, tries: boolean): SessionCodeName[] =>
    tries ? [name, 'ATTEMPTS_EXCEEDED'] : [name],

  wantsAge: () => true,

  /** Where a document can be asked for, it decides instead. */
  hasOtherWay: ({ request }: AgeSession) => request.stepUpEnabled || request.requirements.includes('identity_document'),

  faultOf(_session: AgeSession, payload: CapturePayload, hasSelfie: boolean): string | undefined {
    if (hasSelfie) return 'selfie'
    return payload.estimate.frames === 0 || payload.face || payload.local ? 'schema' : undefined
  },

  /** A face that was sent on to a document stays so: a handoff begins the step again, and is no second throw of the dice. */
  captured(session: AgeSession, progress: Progress, { estimateYears, unstable, unfit }: Seen): Step {
    const sentOn = progress.face !== null
    const face = { estimateYears, doubtful: sentOn || unstable || unfit || progress.flags.some(isStrong) }
    const seen = { ...progress, face }
    const done = nextState(session, 'estimated')
    if (needsDocument(session.request, face, session.request.policy))
      return { state: nextState({ ...session, state: done }, 'document_needed'), progress: seen }
    return { state: done, progress: seen, end: { how: 'reached' } }
  },
}

function wishOf({ request }: AgeSession, end: FlowEnd): EndingWish {
  if (end.how === 'cancelled') return { flow: 'CANCELLED', code: end.code }
  if (end.how === 'expired') return { flow: 'EXPIRED' }
  if (end.how === 'wished') return { flow: 'COMPLETED', wish: request.sandbox }
  return end.how === 'failed' ? { flow: 'COMPLETED', failures: end.failures } : { flow: 'COMPLETED' }
}

/** Behaviour that is hard to explain otherwise: where the host allows it, a document is asked for. */
const isStrong = ({ code }: RiskFlag) => code.startsWith('BH_') && (RISK_FLAGS[code].floor ?? 0) >= STRONG_FLOOR
const STRONG_FLOOR = 60
