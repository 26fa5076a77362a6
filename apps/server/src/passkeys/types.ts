/** Whose person it is. */
export interface Owner {
  tenantId: string
  livemode: boolean
}

/** A passkey as its registration was verified. Bytes in base64url. */
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

/** What an authenticator needs to be told of a passkey in order to use it. */
export interface KnownCredential {
  credentialId: string
  transports: string[]
}

/** The counters of a person's passkeys at one moment, by the hash of the id in base64url. Those that do not count are not in it. */
export type Counters = Readonly<Record<string, number>>

export type PasskeyRefusal =
  /** Not what an authenticator answers with. */
  | 'malformed'
  | 'wrong_type'
  | 'wrong_challenge'
  | 'wrong_origin'
  /** Another relying party, nobody was there or verified, an algorithm or key that is not taken, a wrong signature. */
  | 'not_verified'
  /** Not a passkey of this person. */
  | 'unknown_credential'
  /** Its counter went back at an earlier time. */
  | 'suspended'
  /** Its counter went back now; from now on it is suspended. */
  | 'counter_back'
  /** Its counter is behind because the passkey was used since this was asked for. */
  | 'overtaken'
  /** The challenge was answered before. */
  | 'replayed'
  /** To be registered, and on record already. */
  | 'taken'
  /** The person has as many as are kept. */
  | 'full'

export type Refused = { ok: false; reason: PasskeyRefusal }
export type Verdict<T = object> = ({ ok: true } & T) | Refused

export const refuse = (reason: PasskeyRefusal): Refused => ({ ok: false, reason })
