import type { DebugEntry, DeviceKey, MatchMethod, SessionCodeName } from '@ostiary/contract'
import type { NewCredential } from '../passkeys/index.ts'
import type { OpenChallenge, Progress } from '../sessions/index.ts'

/** What an ENROLL, SIGN-IN or VERIFY session adds to the progress of its flow. Deleted with the rest when the session ends. */
export interface VerificationProgress {
  /** Names the slow work that is under way, by the nonce that was answered. The result of an earlier try's work is not applied. */
  workId: string | null
  /** The feature vector of the capture, in base64url, one byte a number. */
  vector: string | null
  /** The token or probe of the capture, where the tenant stores tokens. Sessions of the last release have none. */
  token: TokenProgress | null
  /** Enrolments of tokens that were evaluated, or begun. Sessions of the last release have none. */
  tokenEnrolments: number
  /** SIGN-IN and VERIFY: a new token that becomes the person's if the session succeeds. */
  successor: TokenProgress | null
  /** The capture is of the simulated model, which only test sessions accept. Absent before a capture, and in sessions of the last release. */
  isSimulated?: boolean
  estimateYears: number | null
  /** JPEG in base64. */
  selfie: string | null
  /** ENROLL: the id of the person that this session creates, if it creates one: work that runs twice recognises its own. */
  newPersonId: string | null
  /** ENROLL: the public key of the token that the browser keeps. */
  localKey: DeviceKey | null
  /** SIGN-IN and VERIFY: what the browser says about its own comparison. Not checked yet. */
  claim: { hit: boolean; proof: string } | null
  /** The challenge that a claim without a vector has answered: the vector may still come for it. */
  claimedFor: OpenChallenge | null
  /** The local key that signed an accepted claim. */
  localThumbprint: string | null
  person: { puid: string; guid: string; matchedBy: MatchMethod } | null
  /** `counters`: of the person's passkeys when the challenge was made. Sessions of an earlier version have none. */
  passkey: { challenge: string; expiresAtMs: number; counters?: Readonly<Record<string, number>> } | null
  passkeyTries: number
  /** ENROLL: what the authenticator registered, until there is a person to bind it to. */
  credential: NewCredential | null
  /** ENROLL of a person who is enrolled already: they have shown a passkey that is on record for them. */
  passkeyShown: boolean
  /** Whose failures a success clears: the person found, and their own browser. */
  cleared: LockoutSubject[]
  /** Codes for the webhook of a success. */
  notes: SessionCodeName[]
  /** What a failure counts against. */
  subjects: LockoutSubject[]
  /** Those of them that this session has counted against already. */
  counted: LockoutSubject[]
  debug: DebugEntry[]
}

/** What was begun for one challenge. Texts are base64url. */
export interface TokenProgress {
  tokenId: string
  account: string
  /** SIGN-IN and VERIFY: the person whose token it is. */
  puid: string | null
  /** Of the challenge. */
  nonce: string
  keyHolderNonce: string
  matcherNonce: string
  /** Null until the token is enrolled, or the probe stored. */
  probeHash: string | null
}

/** A person, a device, a network, or the second tries of a person who is recognised in the end, as a keyed hash. */
export interface LockoutSubject {
  kind: 'person' | 'device' | 'network' | 'retries'
  hash: string
  /** The failure that makes it wait first, if not the fifth: a /48 has a little more than an address. */
  failures?: number
}

/** The progress of a session of this area. */
export type OwnProgress = Progress<VerificationProgress>

export function newVerificationProgress(): VerificationProgress {
  return {
    workId: null,
    vector: null,
    token: null,
    tokenEnrolments: 0,
    successor: null,
    estimateYears: null,
    selfie: null,
    newPersonId: null,
    localKey: null,
    claim: null,
    claimedFor: null,
    localThumbprint: null,
    person: null,
    passkey: null,
    passkeyTries: 0,
    credential: null,
    passkeyShown: false,
    cleared: [],
    notes: [],
    subjects: [],
    counted: [],
    debug: [],
  }
}

/** The own part of a progress. What an earlier version did not write has its initial value. */
export function verificationOf(progress: Pick<OwnProgress, 'own'> | null): VerificationProgress {
  return { ...newVerificationProgress(), ...progress?.own }
}

/** Reasons that a page of a token tenant reports: it holds no key of a token, or the key holder is away. */
const TOKEN_REASONS: Readonly<Record<string, readonly SessionCodeName[]>> = {
  no_hint: ['USER_NOT_ENROLLED'],
  key_holder: ['INTERNAL'],
  key_holder_pin: ['INTERNAL'],
  token_key: ['INTERNAL'],
  token_storage: ['INTERNAL'],
}

export function tokenReasonsOf(progress: Pick<OwnProgress, 'failures'> | null) {
  return (progress?.failures ?? []).flatMap(({ name, reason }) =>
    reason !== undefined && TOKEN_REASONS[reason]?.includes(name) ? [{ name, reason }] : [],
  )
}

export function withVerification(progress: OwnProgress, change: Partial<VerificationProgress>): OwnProgress {
  return { ...progress, own: { ...verificationOf(progress), ...change } }
}
