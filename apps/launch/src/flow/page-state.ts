import type { LaunchState } from '@ostiary/contract'
import * as codes from '@ostiary/contract/codes'
import { FACE_STATES, SERVICE_STATES, type SessionState } from '@ostiary/contract/states'
import type { State, Tip, ViewerStage } from './states.ts'

/**
 * The steps after consent. Each has states of the server and screens of the page; status `prime` explains a step before the browser prompts.
 * To add a step, add an entry here, a state in states.ts, its row in the table of machine.ts, and a screen.
 */
const STEPS: readonly ServerStep[] = [
  {
    serverStates: FACE_STATES,
    firstScreen: { at: 'camera', status: 'prime' },
    retryScreen: (errorCode) => ({ at: 'retry', tip: tipOf(errorCode) }),
  },
  // The part of the document step finds out what comes first, and shows what the server objected to.
  { serverStates: ['DOC_ACTIVE'], firstScreen: { at: 'document', stage: 'wait' } },
  // The server still works on what the device has submitted; the page only waits.
  { serverStates: SERVICE_STATES, firstScreen: { at: 'sending' } },
  {
    serverStates: ['PASSKEY_ACTIVE'],
    firstScreen: { at: 'passkey', status: 'prime' },
    // The server did not accept the passkey.
    retryScreen: () => ({ at: 'passkey', status: 'refused' }),
  },
]
interface ServerStep {
  serverStates: readonly SessionState[]
  firstScreen: State
  /** After a try that failed. */
  retryScreen?: (errorCode: number | undefined) => State
}

/**
 * The page state for a session as the server reports it: when it is opened, when the server has judged a capture or a passkey, and when
 * another device takes over.
 */
export function pageStateOf(session: LaunchState): State {
  if (session.flowStatus !== null) return endOf(session)
  // Before the consent: a user whom somebody else sent the code must not get that far.
  if (session.numberNeeded) return { at: 'number', sending: false }
  // In HANDOFF_WAIT nobody runs the check, and the handoff code is shown. A device that got the session by a handoff and hands it on
  // to a third device keeps the role `holder` until the third one uses the code.
  if (session.role === 'viewer' || session.state === 'HANDOFF_WAIT') return watching(session)
  // The user has not answered the question for consent. `answering` is true while the answer is being sent.
  if (session.state === 'CREATED' || session.state === 'OPENED') return { at: 'welcome', answering: false }
  const step = STEPS.find(({ serverStates }) => serverStates.includes(session.state))
  if (!step) return { at: 'problem', problem: 'step_missing' }
  return (session.errors.length > 0 && step.retryScreen?.(session.errors[0])) || step.firstScreen
}

/**
 * The end screen. A flow that ran to its end is `done` if an age check has a verdict or a verification has SUCCESS, and `ended` if it has
 * neither (FAILED, or error codes). `done` is the same for every verdict: the page never shows the verdict, that is left to the host.
 */
export function endOf({ flowStatus, errors, state }: LaunchState): State {
  if (flowStatus === 'EXPIRED') return { at: 'expired' }
  if (flowStatus === 'CANCELLED') return { at: errors.includes(codes.CONSENT_DECLINED) ? 'declined' : 'cancelled' }
  return { at: errors.length > 0 || state === 'FAILED' ? 'ended' : 'done' }
}

/**
 * A device that does not run the check requests a handoff code (a QR code) for another device, or shows that device's progress. After a
 * wrong number it requests none by itself: somebody else may have typed it, and the user has to know first.
 */
function watching({ state, errors }: LaunchState): State {
  if (state !== 'HANDOFF_WAIT' && state !== 'CREATED') return { at: 'viewer', stage: stageOf(state) }
  return { at: 'handoff', status: errors.includes(codes.HANDOFF_EXPIRED) ? 'number_wrong' : 'making' }
}

export function stageOf(serverState: SessionState): ViewerStage {
  return STAGE_OF[serverState] ?? 'done'
}

const STAGE_OF: Readonly<Partial<Record<SessionState, ViewerStage>>> = {
  OPENED: 'scanned', // The other device has scanned the QR code.
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

/**
 * What the user can do better. Error codes that the device reports have their own tips. Every error code of the server gives `neutral`,
 * because the page must not reveal which check failed. The reason is known only while the page that failed is open.
 */
export function tipOf(errorCode: number | undefined, reason?: string): Tip {
  const ofReason = errorCode === codes.QUALITY_LOW ? QUALITY_TIPS.get(reason) : undefined
  return ofReason ?? TIP_OF.get(errorCode) ?? 'neutral'
}

/** Reasons of QUALITY_LOW (capture/placement.ts). */
const QUALITY_TIPS: ReadonlyMap<string | undefined, Tip> = new Map([
  ['too_far', 'far'],
  ['too_close', 'near'],
])

/** Each tip has a text of its own, `retry.<tip>` in texts/en.json. `models`: a neural network could not be loaded or run. */
const TIP_OF: ReadonlyMap<number | undefined, Tip> = new Map([
  [codes.CAMERA_FAIL, 'camera'],
  [codes.LOW_LIGHT, 'light'],
  [codes.MULTIPLE_FACES, 'alone'],
  [codes.NO_FACE, 'face'],
  [codes.MODEL_LOAD_FAILED, 'models'],
  [codes.NETWORK_LOST, 'connection'],
  [codes.FACE_SCAN_ERROR, 'models'],
  [codes.FACE_OBSTRUCTED, 'covered'],
  [codes.QUALITY_LOW, 'quality'],
])

/** For so long after its time the service takes a step that was begun: `SESSION_LIMITS.graceSeconds`. */
const GRACE_MS = 120_000

/** Whether this screen would lose something if the session were opened again, so long after its time. */
export function isUnderWay({ at }: Pick<State, 'at'>, lateMs: number): boolean {
  return at === 'capture' || at === 'sending' || (at === 'document' && lateMs < GRACE_MS)
}
