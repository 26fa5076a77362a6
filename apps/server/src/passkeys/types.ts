/** A passkey after its registration was verified. Bytes are base64url. */
export interface NewCredential {
  credentialId: string
  publicKey: string
  counter: number
  transports: string[]
  deviceType: 'singleDevice' | 'multiDevice'
  backedUp: boolean
  aaguid: string
  userHandle: string
}

/** What an authenticator needs to know about a passkey to use it. */
export interface KnownCredential {
  credentialId: string
  transports: string[]
}

/** The counters of a person's passkeys at one time, by the hash of the id in base64url. Passkeys that do not count are not in it. */
export type Counters = Readonly<Record<string, number>>

export type PasskeyRefusal =
  /** The text is not an answer of an authenticator. */
  | 'malformed'
  | 'wrong_type'
  | 'wrong_challenge'
  | 'wrong_origin'
  /** Another relying party, user not present or not verified, an algorithm or key that we do not accept, or a wrong signature. */
  | 'not_verified'
  /** Not a passkey of this person. */
  | 'unknown_credential'
  /** Suspended, because its counter went back at an earlier sign-in. */
  | 'suspended'
  /** Its counter went back at this sign-in; it is suspended from now on. */
  | 'counter_back'
  /** Its counter is behind because the passkey was used after this challenge was created. */
  | 'overtaken'
  /** The challenge was answered before. */
  | 'replayed'
  /** The credential to register is already registered. */
  | 'taken'
  /** The person has the maximum number of passkeys. */
  | 'full'

export type Refused = { ok: false; reason: PasskeyRefusal }
export type Verdict<T = object> = ({ ok: true } & T) | Refused

export const refuse = (reason: PasskeyRefusal): Refused => ({ ok: false, reason })
