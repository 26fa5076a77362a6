import type { PasskeyOptions } from '@ostiary/contract'
import type { TokenStorage } from '../local-token/token-storage.ts'

/** What ENROLL, SIGN-IN and VERIFY need of the browser. */
export interface BrowserApis {
  isFramed: boolean
  /** Null where the browser has no passkeys. */
  passkeys: Passkeys | null
  tokens: TokenStorage
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
