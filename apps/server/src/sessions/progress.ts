import type { DebugEntry, DeviceKey, Indicators, MatchMethod, Movement, SessionCodeName } from '@ostiary/contract'
import type { PrivateJwk } from '@ostiary/crypto'
import { emptyLog, type LogState } from '../capture/index.ts'
import type { RiskFlag } from '../risk/index.ts'

/** A device that has shown its key. It signs each call; the counter makes every call good for one time. */
export interface BoundDevice {
  key: DeviceKey
  thumbprint: string
  counter: number
}

export interface OpenChallenge {
  nonce: string
  steps: { movement: Movement; atMs: number }[]
  sampleAtMs: number[]
  expiresAtMs: number
  submits: number
}

/** How far a flow has come, and what its devices have claimed on the way. Sealed in the session; gone when it ends. */
export interface Progress {
  holder: BoundDevice | null
  /** The device that handed the session over and watches. */
  viewer: BoundDevice | null
  /** Devices that took the session over, and codes that were made for it. */
  handoffs: number
  codes: number
  handoff: { codeHash: string; expiresAtMs: number } | null
  /** A desktop opened it and may not run it. */
  desktop: boolean
  locale: string
  consent: { version: string; locale: string; atMs: number } | null
  sealKey: PrivateJwk | null
  /** Tries of the face step that were begun. */
  attempt: number
  /** Tries in which the movements were not seen. */
  mismatches: number
  challenge: OpenChallenge | null
  usedNonces: string[]
  log: LogState
  flags: RiskFlag[]
  indicators: Indicators | null
  behaviour: boolean
  /** What went wrong on the way, oldest first. */
  failures: { name: SessionCodeName; reason?: string }[]
  face: { estimateYears: number; doubtful: boolean } | null
  /** Of an ENROLL, SIGN-IN or VERIFY session. */
  verification?: VerificationProgress
}

/** What such a session knows on its way. Gone with the rest when it ends. */
export interface VerificationProgress {
  /** Names the slow work that is under way, by the nonce that was answered: what belongs to an earlier try is not applied. */
  workId: string | null
  /** The feature vector of the capture, in base64url, one byte a number. */
  vector: string | null
  estimateYears: number | null
  /** JPEG in base64. */
  selfie: string | null
  /** ENROLL: the id of the person that this session makes, if it makes one: work that is done twice knows its own. */
  newPersonId: string | null
  /** ENROLL: the public key of the token that the browser keeps. */
  localKey: DeviceKey | null
  /** SIGN-IN and VERIFY: what the browser says of its own comparison. Not looked at yet. */
  claim: { hit: boolean; proof: string } | null
  /** The challenge that a claim without a vector has answered: the vector may still come for it. */
  claimedFor: OpenChallenge | null
  /** The local key that has shown itself. */
  localThumbprint: string | null
  person: { puid: string; guid: string; matchedBy: MatchMethod } | null
  /** `counters`: of the person's passkeys when the challenge was made. Sessions of an earlier version have none. */
  passkey: { challenge: string; expiresAtMs: number; counters?: Readonly<Record<string, number>> } | null
  passkeyTries: number
  /** ENROLL: what the authenticator registered, until there is a person to bind it to. */
  credential: NewCredential | null
  /** ENROLL of somebody who is enrolled already: they have shown a passkey that is on record for them. */
  passkeyShown: boolean
  /** Whose failures a success wipes out: the person found, and the browser that is theirs. */
  cleared: LockoutSubject[]
  /** Codes for the webhook of a success. */
  notes: SessionCodeName[]
  /** Whom a failure counts against. */
  subjects: LockoutSubject[]
  /** Those of them that this session has counted against already. */
  counted: LockoutSubject[]
  debug: DebugEntry[]
}

/** A person, a device, a network, or the second tries of one who is recognised in the end, as a keyed hash. */
export interface LockoutSubject {
  kind: 'person' | 'device' | 'network' | 'retries'
  hash: string
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

export function newProgress(locale: string): Progress {
  return {
    holder: null,
    viewer: null,
    handoffs: 0,
    codes: 0,
    handoff: null,
    desktop: false,
    locale,
    consent: null,
    sealKey: null,
    attempt: 0,
    mismatches: 0,
    challenge: null,
    usedNonces: [],
    log: emptyLog(),
    flags: [],
    indicators: null,
    behaviour: false,
    failures: [],
    face: null,
  }
}

export function newVerificationProgress(): VerificationProgress {
  return {
    workId: null,
    vector: null,
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

/** A flag that was raised stays raised, once. */
export function withFlags(progress: Progress, raised: readonly RiskFlag[]): Progress {
  const known = new Set(progress.flags.map(({ code }) => code))
  const added = raised.filter(({ code }, at) => !known.has(code) && raised.findIndex((one) => one.code === code) === at)
  return added.length === 0 ? progress : { ...progress, flags: [...progress.flags, ...added] }
}
