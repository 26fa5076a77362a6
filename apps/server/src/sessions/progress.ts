import type { DeviceKey, Indicators, Movement, SessionCodeName } from '@ostiary/contract'
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

/** A flag that was raised stays raised, once. */
export function withFlags(progress: Progress, raised: readonly RiskFlag[]): Progress {
  const known = new Set(progress.flags.map(({ code }) => code))
  const added = raised.filter(({ code }, at) => !known.has(code) && raised.findIndex((one) => one.code === code) === at)
  return added.length === 0 ? progress : { ...progress, flags: [...progress.flags, ...added] }
}
