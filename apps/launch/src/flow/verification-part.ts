import type { LaunchState, OpenedSession } from '@ostiary/contract'
import type { Capture } from '@ostiary/device'
import type { CaptureFailure, Sample } from '../capture/capture-types.ts'
import type { PageDeps } from './deps.ts'
import type { SessionLink } from './session.ts'
import type { Store } from './store.ts'

/** What ENROLL, SIGN-IN and VERIFY add to the flow. Loaded only for them, so this file has only the types. */
export interface VerificationPart {
  /** Why a capture would lead to nothing on this device; undefined if nothing is known to stand in the way. */
  obstacle(): Promise<CaptureFailure | undefined>
  /**
   * What is sent with a capture. Called once per capture, while the engine still has its best sample. `signal` ends with the try. Sends a token or a
   * probe itself. Throws CaptureFailure, or the error of a call.
   */
  complete(nonce: string, signal: AbortSignal): Promise<Completion>
  /** The measured samples of a capture. Called before `complete`. */
  seen(samples: readonly Sample[]): void
  /** The server has judged a submit. Returns other claims if it wants the same capture with them, else undefined. */
  judged(session: LaunchState): Promise<Completion['claims'] | undefined>
  /** Asks the browser for a passkey. Call it from a tap: browsers refuse it otherwise. */
  askPasskey(): void
  /** The user has no passkey. */
  skipPasskey(): void
  /** Continues in a separate window. Call it from a tap. */
  popOut(): void
  /** The flow is over: saves what this browser needs next time and deletes the rest. */
  end(session: LaunchState | null): Promise<void>
}

export interface Completion {
  claims: Pick<Capture, 'face' | 'token' | 'successor' | 'local' | 'metadata'>
  /** A JPEG, if the host gets the picture. */
  selfie?: Uint8Array<ArrayBuffer>
}

export interface VerificationLink {
  opened: OpenedSession
  deps: PageDeps
  store: Store
  session: SessionLink
  /** Ends with the flow. */
  signal: AbortSignal
}
export type CreateVerification = (link: VerificationLink) => VerificationPart
