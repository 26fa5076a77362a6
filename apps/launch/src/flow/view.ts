import type { Brand, Handoff, LaunchState, VerificationFacts, VerificationType } from '@ostiary/contract'
import type { Camera } from '../camera/camera-types.ts'
import type { CaptureView } from '../capture/capture-types.ts'
import type { LoadProgress } from '../engine/engine.ts'
import type { State } from './states.ts'

/** Everything a screen can show. The flow changes it; screens only read it. */
export interface View {
  state: State
  session: LaunchState | null
  brand: Brand | null
  /** Of an ENROLL, SIGN-IN or VERIFY session; null for age checks. */
  verification: VerificationView | null
  /** A call gets no answer and is being repeated. */
  offline: boolean
  /** Of the models, while they are fetched; null when they are ready. */
  loading: LoadProgress | null
  camera: Camera | null
  /** Null until the face engine is ready. */
  capture: CaptureView | null
  /** The guidance has not been satisfied for a while. */
  mayStartAnyway: boolean
  handoff: Handoff | null
  /** The first device may not run the flow: it is a desktop and the host wants phones. */
  barred: boolean
  takeBackRefused: boolean
  /** This device joined with a code: at the end the first one goes on. */
  secondDevice: boolean
  /** A host listens: it is told of the end, and the page does not leave by itself. */
  embedded: boolean
  /** The app inside which this page is open, if it is one. */
  inApp: { name: string | null } | null
  /** By how much the server's clock is ahead of this device's. */
  serverAheadMs: number
}

/** What screens know of an ENROLL, SIGN-IN or VERIFY session. */
export interface VerificationView extends VerificationFacts {
  type: VerificationType
  requirements: readonly string[]
  /** Passkeys are not to be had inside a frame: the flow needs a window of its own. */
  mustPopOut: boolean
  /** What the browser will be asked for; unknown before the service has said. */
  passkeyMode?: 'create' | 'get'
}

/** What a user can do. */
export interface Actions {
  consent(accepted: boolean): void
  startCamera(): void
  startAnyway(): void
  askHandoff(): void
  /** Goes on here: after a handoff, or when none was possible. */
  takeBack(): void
  cancel(): void
  askPasskey(): void
  skipPasskey(): void
  /** Goes on in a window of its own. */
  popOut(): void
  reopen(): void
  closePage(): void
}

export const FIRST_VIEW: View = {
  state: { at: 'loading' },
  session: null,
  brand: null,
  verification: null,
  offline: false,
  loading: { loadedBytes: 0, totalBytes: 0 },
  camera: null,
  capture: null,
  mayStartAnyway: false,
  handoff: null,
  barred: false,
  takeBackRefused: false,
  secondDevice: false,
  embedded: false,
  inApp: null,
  serverAheadMs: 0,
}
