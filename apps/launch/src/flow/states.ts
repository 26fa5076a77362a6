import type { LaunchState } from '@ostiary/contract'
import type { CameraProblem } from '../camera/camera-types.ts'
import type { DocumentStage } from '../documents/document-types.ts'

/** Why a session cannot be shown, or can no longer be shown. */
export const SESSION_PROBLEMS = [
  'unknown_link',
  'gone',
  'no_network',
  'other_device',
  'code_refused',
  'number_wrong',
  'phone_needed',
  'busy',
  'step_missing',
  'fault',
] as const
export type SessionProblem = (typeof SESSION_PROBLEMS)[number]

/** How to do better at the next try. Failures of the server's checks give `neutral`: the server never says which check failed. */
export const TIPS = [
  'neutral',
  'light',
  'alone',
  'face',
  'quality',
  'far',
  'near',
  'covered',
  'camera',
  'models',
  'connection',
] as const
export type Tip = (typeof TIPS)[number]

/** The other device's progress, as the watching device shows it. */
export const VIEWER_STAGES = ['scanned', 'consent', 'face', 'document', 'passkey', 'done'] as const
export type ViewerStage = (typeof VIEWER_STAGES)[number]

/** `prime`: explains what comes next. `asking`: the browser asks. Else the reason why there is no camera. */
export type CameraStatus = 'prime' | 'asking' | CameraProblem

/** Why there is no passkey. Browsers do not say more: a device without a passkey looks like a user who refuses. */
export const PASSKEY_PROBLEMS = ['cancelled', 'none_here', 'refused', 'unsupported', 'failed'] as const
export type PasskeyProblem = (typeof PASSKEY_PROBLEMS)[number]

/** `prime`: explains what comes next. `asking`: the browser asks. `checking`: the service verifies the answer. */
export type PasskeyStatus = 'prime' | 'asking' | 'checking' | PasskeyProblem

/** `number_wrong`: the other device sent a wrong number, so the code is void. The user decides whether there is a new one. */
export type HandoffStatus = 'making' | 'ready' | 'refused' | 'number_wrong'

/** `app`: the app whose built-in browser shows this page; null if its name is unknown. */
export type Unsupported = { kind: 'in_app'; app: string | null } | { kind: 'no_camera_api' }

/** The state of the page: one per screen, with the data that only this screen needs. */
export type State =
  | { at: 'loading' }
  | { at: 'problem'; problem: SessionProblem }
  | { at: 'unsupported'; why: Unsupported }
  /** This device joined with a code, and asks for the number on the first screen. */
  | { at: 'number'; sending: boolean }
  | { at: 'welcome'; answering: boolean }
  | { at: 'camera'; status: CameraStatus }
  | { at: 'capture' }
  | { at: 'sending' }
  | { at: 'retry'; tip: Tip }
  | { at: 'document'; stage: DocumentStage }
  | { at: 'passkey'; status: PasskeyStatus }
  | { at: 'handoff'; status: HandoffStatus }
  | { at: 'viewer'; stage: ViewerStage }
  | { at: EndScreen }

export const END_SCREENS = ['done', 'ended', 'expired', 'cancelled', 'declined'] as const
export type EndScreen = (typeof END_SCREENS)[number]

/** The events and their data. */
export interface EventFacts {
  /** This browser has no camera. Checked before the session is opened, so that the same link still works in another browser. */
  unsupported: { why: Unsupported }
  /** The session was opened, or opened again because the page's state was outdated. */
  opened: { session: LaunchState }
  /** The server sent the current session. */
  updated: { session: LaunchState }
  /** A call failed, and the flow cannot continue without it. */
  refused: { problem: SessionProblem }
  /** The user has typed the number, and it is being sent. */
  number_typed: object
  answered: object
  /** The models are far from loaded: the page shows their progress with the camera off. */
  models_awaited: object
  camera_asked: object
  camera_failed: { problem: CameraProblem }
  camera_ready: object
  captured: object
  capture_failed: { code: number; reason?: string | undefined }
  /** The document step has another screen. */
  document: { stage: DocumentStage }
  /** The passkey step has a new status. */
  passkey: { status: PasskeyStatus }
  /** The server has judged a capture, a document or a passkey. */
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
