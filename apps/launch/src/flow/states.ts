import type { LaunchState } from '@ostiary/contract'
import type { CameraProblem } from '../camera/camera-types.ts'

/** Why a session cannot be shown, or not any more. */
export const SESSION_PROBLEMS = [
  'unknown_link',
  'gone',
  'no_network',
  'other_device',
  'code_refused',
  'busy',
  'step_missing',
  'fault',
] as const
export type SessionProblem = (typeof SESSION_PROBLEMS)[number]

/** What a user can do better at the next try. What the server found stays `neutral`: it never says which check failed. */
export const TIPS = ['neutral', 'light', 'alone', 'face', 'quality', 'camera', 'models', 'late'] as const
export type Tip = (typeof TIPS)[number]

/** How far the other device is, for the one that watches. */
export const VIEWER_STAGES = ['scanned', 'consent', 'face', 'document', 'passkey', 'done'] as const
export type ViewerStage = (typeof VIEWER_STAGES)[number]

/** `prime`: the user is told what comes. `asking`: the browser asks. Else why there is no camera. */
export type CameraStatus = 'prime' | 'asking' | CameraProblem

/** Why a passkey did not come to be. Browsers do not say more: a device without one looks like a user who says no. */
export const PASSKEY_PROBLEMS = ['cancelled', 'none_here', 'refused', 'unsupported', 'failed'] as const
export type PasskeyProblem = (typeof PASSKEY_PROBLEMS)[number]

/** `prime`: the user is told what comes. `asking`: the browser asks. `checking`: the service looks at the answer. */
export type PasskeyStatus = 'prime' | 'asking' | 'checking' | PasskeyProblem

/** `app` is the app inside which this page is open; null when it is one, and nobody knows which. */
export type Unsupported = { kind: 'in_app'; app: string | null } | { kind: 'no_camera_api' }

/** Where the page is. One state for each screen, with what only that screen needs. */
export type State =
  | { at: 'loading' }
  | { at: 'problem'; problem: SessionProblem }
  | { at: 'unsupported'; why: Unsupported }
  | { at: 'welcome'; answering: boolean }
  | { at: 'camera'; status: CameraStatus }
  | { at: 'capture' }
  | { at: 'sending' }
  | { at: 'retry'; tip: Tip }
  | { at: 'passkey'; status: PasskeyStatus }
  | { at: 'handoff'; status: 'making' | 'ready' | 'refused' }
  | { at: 'viewer'; stage: ViewerStage }
  | { at: EndScreen }

export const END_SCREENS = ['done', 'ended', 'expired', 'cancelled', 'declined'] as const
export type EndScreen = (typeof END_SCREENS)[number]

/** What happens, and what is told with it. */
export interface EventFacts {
  /** This browser has no camera. Found before the session is opened, so that the same link works in another one. */
  unsupported: { why: Unsupported }
  /** The session is open here; also when it was opened again because the page had lost track of it. */
  opened: { session: LaunchState }
  /** The server said where the session stands. */
  updated: { session: LaunchState }
  /** A call was refused or got no answer, and there is no going on without it. */
  refused: { problem: SessionProblem }
  answered: object
  camera_asked: object
  camera_failed: { problem: CameraProblem }
  camera_ready: object
  captured: object
  capture_failed: { code: number }
  /** The passkey step has come so far. */
  passkey: { status: PasskeyStatus }
  /** The server has judged a capture, or a passkey. */
  judged: { session: LaunchState }
  /** The user wants the session to be opened again. */
  reopened: object
  handoff_asked: object
  handoff_ready: object
  handoff_refused: object
}
export type EventType = keyof EventFacts
export type EventOf<T extends EventType> = { [P in T]: { type: P } & EventFacts[P] }[T]
export type Event = EventOf<EventType>
