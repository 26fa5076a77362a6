import type {
  CaptureAssurance,
  CaptureConditions,
  DeviceKey,
  Indicators,
  Movement,
  MovementKind,
  SessionArea,
  SessionCodeName,
} from '@ostiary/contract'
import type { PrivateJwk } from '@ostiary/crypto'
import { emptyLog, kindsLeft, type LogState } from '../capture-checks/index.ts'
import type { Place, RiskFlag } from '../risk/index.ts'
import type { DocumentProgress } from './document-progress.ts'

/** A device that has shown its key. It signs each call; the counter makes every call good for one time. */
export interface BoundDevice {
  key: DeviceKey
  thumbprint: string
  counter: number
  /** Not there for a device that a process of the last release bound. */
  place?: Place
  /** Its page tells the size of its camera's pictures. Absent for a device that the last release has bound. */
  tellsCamera?: true
  /** Learnt when the device opens the session. A device that the last release has bound has none until its next call. */
  time?: DeviceTime
}

/** What a device's clock shows, by the times in its calls. */
export interface DeviceTime {
  /** How far it was ahead of ours when it was learnt; negative when it was behind. */
  aheadSeconds: number
  /** The latest time of a call. */
  latestSeconds: number
}

export interface OpenChallenge {
  nonce: string
  steps: { movement: Movement; atMs: number }[]
  sampleAtMs: number[]
  expiresAtMs: number
  submits: number
  /** In the document step: a look at the face for the comparison alone. */
  isLook?: true
  /** What the challenge leaves out, and its pace, where the user asked for that. */
  cannot?: readonly MovementKind[] | undefined
  pace?: 'slow' | undefined
}

/** Two digits that the user reads on the device that made a code, and types on the one that opened it. */
export interface HandoffNumber {
  digits: string
  /** The code was made where the first device's user is: on the first device, or on one that has sent the right number itself. */
  isOfFirstUser: boolean
}

/**
 * How far a flow has come, and what its devices have claimed so far. Sealed in the session and deleted when it ends. `Own` is what
 * the session's area adds; nothing outside that area reads it.
 */
export interface Progress<Own = unknown> {
  holder: BoundDevice | null
  /** The device that handed the session over and watches. */
  viewer: BoundDevice | null
  /** The user has extended the session. */
  extended?: true
  /** Devices that took the session over, and codes that were made for it. */
  handoffs: number
  codes: number
  /** The code that waits to be opened, and the number that is shown with it. */
  handoff: { codeHash: string; expiresAtMs: number; number?: HandoffNumber } | null
  /** The number that the device which holds the session has to send first. Absent in sessions of the last release. */
  number?: HandoffNumber | null
  /**
   * The thumbprint of the device before which the first device's user is: it has sent the right number. Not a boolean, because a process of the
   * last release copies what it does not know to the next device.
   */
  matched?: string | null
  /** A desktop opened it and may not run it. */
  desktop: boolean
  locale: string
  /** The answer of the device that holds the session. `accepted` is there only when the user refused. */
  consent: { version: string; locale: string; atMs: number; accepted?: boolean } | null
  sealKey: PrivateJwk | null
  /** Tries of the face step that were begun. */
  attempt: number
  /** Tries in which the movements were not seen. */
  mismatches: number
  challenge: OpenChallenge | null
  /** Kinds of movement that the user cannot make. Only grows. Absent where none is, and in sessions of the last release. */
  cannot?: readonly MovementKind[]
  /** The user needs more time for each movement. */
  pace?: 'slow'
  /** Challenges that replaced one under way because of that, without a try. */
  replaced?: number
  /** Nonces of answered challenges, oldest first. */
  usedNonces: string[]
  log: LogState
  flags: RiskFlag[]
  indicators: Indicators | null
  /** Light, movement and camera of the last capture. Absent where none were sent, and in sessions of the last release. */
  conditions?: CaptureConditions | null
  behaviour: boolean
  /** Absent until the session comes to need a document, and in sessions of the last release. */
  document?: DocumentProgress
  /** What went wrong so far, oldest first. */
  failures: { name: SessionCodeName; reason?: string }[]
  /** Null until the area has something to add. */
  own: Own | null
}

export function newProgress(locale: string): Progress<never> {
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
    own: null,
  }
}

/** How the movements differed from what everybody gets; undefined if they did not. */
export function captureAssuranceOf(progress: Pick<Progress, 'cannot' | 'pace'> | null): CaptureAssurance | undefined {
  const { cannot = [], pace } = progress ?? {}
  if (cannot.length === 0 && !pace) return undefined
  return { ...(cannot.length > 0 && { movements: kindsLeft(cannot) }), ...(pace && { pace }) }
}

/** A flag that was raised stays raised, once. */
export function withFlags<P extends Pick<Progress, 'flags'>>(progress: P, raised: readonly RiskFlag[]): P {
  const known = new Set(progress.flags.map(({ code }) => code))
  const added = raised.filter(({ code }, at) => !known.has(code) && raised.findIndex((one) => one.code === code) === at)
  return added.length === 0 ? progress : { ...progress, flags: [...progress.flags, ...added] }
}

/** Progress as JSON. The part of an area has a name of its own there: `face` of an age session, `verification` of the others. */
export interface StoredProgress extends Omit<Progress, 'own' | 'challenge'> {
  challenge: StoredChallenge | null
  face?: unknown
  verification?: unknown
}

type StoredChallenge = OpenChallenge & { untilMs?: number }

const OWN_NAMES = { age: 'face', verification: 'verification' } as const satisfies Record<
  SessionArea,
  keyof StoredProgress
>

/** During an upgrade the last release runs beside this one, on the same sessions: both must be able to read what the other wrote. */
export function toStored(area: SessionArea, { own, challenge, ...shared }: Progress): StoredProgress {
  const stored = challenge?.cannot || challenge?.pace ? overForLastRelease(challenge) : challenge
  return { ...shared, challenge: stored, face: null, ...(own !== null && { [OWN_NAMES[area]]: own }) }
}

export function fromStored(area: SessionArea, stored: StoredProgress): Progress {
  const { face: _face, verification: _verification, challenge, ...shared } = stored
  return { ...shared, challenge: challenge && restored(challenge), own: stored[OWN_NAMES[area]] ?? null }
}

/**
 * A process of the last release would judge such a challenge by its rules for all movements, which one recording meets in every second play, and its
 * result would not name what was left out. So the challenge is over for it, and the user tries again.
 */
function overForLastRelease(challenge: OpenChallenge): StoredChallenge {
  return { ...challenge, expiresAtMs: 0, untilMs: challenge.expiresAtMs }
}

function restored({ untilMs, ...challenge }: StoredChallenge): OpenChallenge {
  return untilMs === undefined ? challenge : { ...challenge, expiresAtMs: untilMs }
}
