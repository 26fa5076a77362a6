import type { LaunchState, OpenedSession } from '@ostiary/contract'
import type { Capture } from '@ostiary/device'
import type { Sample } from '../capture/capture-types.ts'
import type { PageDeps } from './deps.ts'
import type { SessionLink } from './session.ts'
import type { Store } from './store.ts'

/** What ENROLL, SIGN-IN and VERIFY add to the flow. Loaded only for them, so this file has only the types. */
export interface VerificationPart {
  /** What is sent with a capture. Called once per capture, while the engine still has its best sample. */
  complete(nonce: string): Promise<Completion>
  /** The measured samples of a capture. Called before `complete`. */
  seen(samples: readonly Sample[]): void
  /** The server has judged a submit. Returns other claims if it wants the same capture with them, else undefined. */
  judged(session: LaunchState): Completion['claims'] | undefined
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
  claims: Pick<Capture, 'face' | 'local' | 'metadata'>
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
