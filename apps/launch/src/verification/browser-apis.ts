import type { PasskeyOptions } from '@ostiary/contract'
import type { TokenStorage } from '../local-token/token-storage.ts'

/** What ENROLL, SIGN-IN and VERIFY need from the browser. */
export interface BrowserApis {
  isFramed: boolean
  /** Null where the browser has no passkeys. */
  passkeys: Passkeys | null
  tokens: TokenStorage
  /** Call it from a tap. Null if the browser refuses. */
  openWindow(): OwnWindow | null
}

export interface Passkeys {
  /** Creates or uses a passkey. Rejects as `navigator.credentials` does. */
  ask(asked: PasskeyOptions): Promise<object>
}

export interface OwnWindow {
  go(url: string): void
  close(): void
}
