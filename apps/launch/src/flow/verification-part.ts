import type { LaunchState, OpenedSession } from '@ostiary/contract'
import type { Capture } from '@ostiary/device'
import type { PageDeps } from './deps.ts'
import type { SessionLink } from './session.ts'
import type { Store } from './store.ts'

/** What ENROLL, SIGN-IN and VERIFY add to the flow. It is loaded only for them: this file has nothing but its shape. */
export interface VerificationPart {
  /** What goes out with a capture. Asked for once per capture, while the engine still knows its best sample. */
  complete(nonce: string): Promise<Completion>
  /** The server has judged what was sent. Returns what it wants with the same capture, in the place of what went with it. */
  judged(session: LaunchState): Completion['claims'] | undefined
  /** Asks the browser for a passkey. To be called by a tap: browsers refuse it otherwise. */
  askPasskey(): void
  /** The user has no passkey to give. */
  skipPasskey(): void
  /** Goes on in a window of its own. To be called by a tap. */
  popOut(): void
  /** The flow is over: keeps what this browser needs next time, and forgets the rest. */
  end(session: LaunchState | null): Promise<void>
}

export interface Completion {
  claims: Pick<Capture, 'face' | 'local'>
  /** JPEG, when the host gets the picture. */
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
