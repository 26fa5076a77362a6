import { createHash } from 'node:crypto'
import { PASSKEY_LIMITS } from '@ostiary/contract'
import type { KnownCredential } from './types.ts'

/** ES256, EdDSA and RS256, in the order of preference. They cover the keys of phones, browsers and security keys. */
export const ALGORITHMS = [-7, -8, -257] as const

/** Authenticators may truncate names after so many bytes. */
const NAME_BYTES = 64

export interface CreationRequest {
  rpId: string
  challenge: string
  /** Shown to the person in the list of their passkeys. */
  rpName: string
  userName: string
}

/** For `navigator.credentials.create`, in its JSON form. */
export function creationOptions({ rpId, challenge, rpName, userName }: CreationRequest): Record<string, unknown> {
  const name = shorten(userName)
  return {
    challenge,
    rp: { id: rpId, name: shorten(rpName) },
    user: { id: userHandleOf(challenge), name, displayName: name },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: PASSKEY_LIMITS.answerMs,
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
  }
}

/** For `navigator.credentials.get`, in its JSON form. */
export function requestOptions(
  rpId: string,
  challenge: string,
  credentials: readonly KnownCredential[],
): Record<string, unknown> {
  return {
    challenge,
    rpId,
    allowCredentials: credentials.map(({ credentialId, transports }) => ({
      type: 'public-key',
      id: credentialId,
      ...(transports.length > 0 && { transports }),
    })),
    timeout: PASSKEY_LIMITS.answerMs,
    userVerification: 'required',
  }
}

/**
 * The id under which the authenticator stores the passkey. The answer must contain the same id, and the id must reveal nothing
 * about the person: so it is derived from the challenge, which is random and not kept.
 */
export function userHandleOf(challenge: string): string {
  return createHash('sha256').update('ostiary/passkey-user/').update(challenge).digest('base64url')
}

/** Truncates between characters. */
function shorten(name: string): string {
  let bytes = 0
  let end = 0
  for (const character of name) {
    bytes += Buffer.byteLength(character)
    if (bytes > NAME_BYTES) break
    end += character.length
  }
  return name.slice(0, end)
}
