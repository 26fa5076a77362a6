import type { PasskeyOptions } from '@ostiary/contract'
import type { TokenShelf } from '../local-token/token-shelf.ts'

/** What ENROLL, SIGN-IN and VERIFY need of the browser. */
export interface World {
  isFramed: boolean
  /** Null where the browser has no passkeys. */
  passkeys: Passkeys | null
  tokens: TokenShelf
  /** To be called by a tap. Null where the browser does not let us. */
  openWindow(): OwnWindow | null
}

export interface Passkeys {
  /** Makes one, or asks for one. Rejects as `navigator.credentials` does. */
  ask(asked: PasskeyOptions): Promise<object>
}

export interface OwnWindow {
  go(url: string): void
  close(): void
}
