import type { PasskeyOptions } from '@ostiary/contract'
import type { TokenClaims, TokenClaimsOptions } from '../homomorphic-token/claims.ts'
import type { TokenStorage } from '../local-token/token-storage.ts'

/** What ENROLL, SIGN-IN and VERIFY need from the browser. */
export interface BrowserApis {
  isFramed: boolean
  /** Null where the browser has no passkeys. */
  passkeys: Passkeys | null
  tokens: TokenStorage
  /** Null for sessions in which the vector is sent. */
  createTokens: ((options: TokenClaimsOptions) => TokenClaims) | null
  sensors: Sensors
  /** Call it from a tap. Null if the browser refuses. */
  openWindow(): OwnWindow | null
}

/** Light and movement during a capture. Never asks the user for a permission. */
export interface Sensors {
  /** Measures until `stop`, which returns the means. */
  start(): { stop(): Sensed }
}

/** Null where the device has no such sensor, or would ask before it is read. */
export interface Sensed {
  lux: number | null
  /** Root mean square of the acceleration without gravity, in m/s². */
  motion: number | null
}

export interface Passkeys {
  /** Creates or uses a passkey. Rejects as `navigator.credentials` does. */
  ask(asked: PasskeyOptions): Promise<object>
}

export interface OwnWindow {
  go(url: string): void
  close(): void
}
