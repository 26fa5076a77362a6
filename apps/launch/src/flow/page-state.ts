import type { LaunchState } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { FACE_STATES, SERVICE_STATES, type SessionState } from '@ostiary/contract/states'
import type { State, Tip, ViewerStage } from './states.ts'

const CHOSE_TO_DECLINE: State = { at: 'declined' }

/**
 * The steps after consent: the server's states of each step and its first screen. To add a step, add an entry here, a state, its
 * row in the table of machine.ts, and a screen.
 */
const STEPS: readonly ServerStep[] = [
  {
    serverStates: FACE_STATES,
    first: { at: 'camera', status: 'prime' },
    again: (code) => ({ at: 'retry', tip: tipOf(code) }),
  },
  // The server is still processing the submit; the page only waits.
  { serverStates: SERVICE_STATES, first: { at: 'sending' } },
  {
    serverStates: ['PASSKEY_ACTIVE'],
    first: { at: 'passkey', status: 'prime' },
    again: () => ({ at: 'passkey', status: 'refused' }),
  },
]
interface ServerStep {
  serverStates: readonly SessionState[]
  first: State
  /** The screen after a try that was not accepted. */
  again?: (code: number | undefined) => State
}

/** The page state for a session of the server: after opening, after a judgement, and when the device's role changes. */
export function pageStateOf(session: LaunchState): State {
  if (session.flowStatus !== null) return endOf(session)
  // A second device that made a code for a third stays the holder until the code is used.
  if (session.role === 'viewer' || session.state === 'HANDOFF_WAIT') return watching(session)
  if (session.state === 'CREATED' || session.state === 'OPENED') return { at: 'welcome', answering: false }
  const step = STEPS.find(({ serverStates }) => serverStates.includes(session.state))
  if (!step) return { at: 'problem', problem: 'step_missing' }
  return (session.errors.length > 0 && step.again?.(session.errors[0])) || step.first
}

/** A flow with a verdict ends on `done`, whatever the verdict: only the host may show it. */
export function endOf({ flowStatus, errors, state }: LaunchState): State {
  if (flowStatus === 'EXPIRED') return { at: 'expired' }
  if (flowStatus === 'CANCELLED')
    return errors.includes(codes.CONSENT_DECLINED) ? CHOSE_TO_DECLINE : { at: 'cancelled' }
  return { at: errors.length > 0 || state === 'FAILED' ? 'ended' : 'done' }
}

/** A device that does not hold the session shows the code for another device, or that device's progress. */
function watching({ state }: LaunchState): State {
  return state === 'HANDOFF_WAIT' || state === 'CREATED'
    ? { at: 'handoff', status: 'making' }
    : { at: 'viewer', stage: stageOf(state) }
}

export function stageOf(serverState: SessionState): ViewerStage {
  return STAGE_OF[serverState] ?? 'done'
}

const STAGE_OF: Readonly<Partial<Record<SessionState, ViewerStage>>> = {
  OPENED: 'scanned',
  READY: 'consent',
  CONSENTED: 'consent',
  FACE_ACTIVE: 'face',
  FACE_DONE: 'face',
  LOCAL_COMPARE: 'face',
  SERVER_COMPARE: 'face',
  DOC_ACTIVE: 'document',
  DOC_DONE: 'document',
  MATCHING: 'document',
  PASSKEY_ACTIVE: 'passkey',
}

/** Codes of the device have their own tips. Every code of the server gives the neutral one: it must not reveal the check. */
export function tipOf(code: number | undefined): Tip {
  return TIP_OF.get(code) ?? 'neutral'
}

const TIP_OF: ReadonlyMap<number | undefined, Tip> = new Map([
  [codes.CAMERA_FAIL, 'camera'],
  [codes.LOW_LIGHT, 'light'],
  [codes.MULTIPLE_FACES, 'alone'],
  [codes.NO_FACE, 'face'],
  [codes.MODEL_LOAD_FAILED, 'models'],
  [codes.NETWORK_LOST, 'late'],
  [codes.FACE_SCAN_ERROR, 'models'],
  [codes.FACE_OBSTRUCTED, 'face'],
  [codes.QUALITY_LOW, 'quality'],
])
