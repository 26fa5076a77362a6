import type { TokenBegun, TokenEnrolBody, TokenEnrolled, TokenProbeBody } from '@ostiary/contract'
import { LAUNCH_PATHS } from '@ostiary/contract/paths'
import type { createSignedCalls } from './signed-calls.ts'

type Deps = Pick<ReturnType<typeof createSignedCalls>, 'withLock' | 'post'>

/** A token that this device holds the key of, with the proof (`proveToken`). */
export interface HeldToken {
  tokenId: string
  proof: string
}

/**
 * The calls of the homomorphic token. Each may be repeated when its answer was lost: `tokenBegin` then answers with ids and nonces of which
 * the last ones count; `tokenEnrol` and `tokenProbe` must be repeated with the same body, which the service takes for the same token or probe.
 */
export function createTokenCalls({ withLock, post }: Deps) {
  return {
    /** Call it after `challenge`. An ENROLL, and a device that holds no key, names no token. */
    tokenBegin: (held?: HeldToken): Promise<TokenBegun> =>
      withLock(() => post<TokenBegun>(LAUNCH_PATHS.tokenBegin, { ...held })),
    /** SIGN-IN and VERIFY: begins a new token for `tokenEnrol`, which replaces the old one or a stored vector. */
    tokenBeginSuccessor: (): Promise<TokenBegun> =>
      withLock(() => post<TokenBegun>(LAUNCH_PATHS.tokenBegin, { for: 'successor' })),
    tokenEnrol: (body: Omit<TokenEnrolBody, 'sessionId'>): Promise<TokenEnrolled> =>
      withLock(() => post<TokenEnrolled>(LAUNCH_PATHS.tokenEnrol, body)),
    tokenProbe: (body: Omit<TokenProbeBody, 'sessionId'>): Promise<{ tokenId: string }> =>
      withLock(() => post<{ tokenId: string }>(LAUNCH_PATHS.tokenProbe, body)),
  }
}
