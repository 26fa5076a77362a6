import type { Challenge, Movement } from '@ostiary/contract'
import type { Capture, DeviceClock } from '@ostiary/device'
import type { Guidance } from '@ostiary/faces'
import type { Camera } from '../camera/camera-types.ts'
import type { Engine, LoadedModels } from '../engine/engine.ts'

/** What the capture screen shows at a moment. */
export interface CaptureView {
  /** `find`: the user places the face in the oval. `challenge`: movements are asked for. `measure`: the device computes. */
  phase: 'find' | 'challenge' | 'measure'
  guidance: Guidance | null
  /** The movement that is asked for now. */
  movement: Movement | null
  /** How many movements were seen, of how many. */
  movementsSeen: number
  movementsTotal: number
  /** Of the whole capture, 0 to 1. */
  progress: number
}

/** What a session asks of a capture beside liveness. */
export interface CaptureOutputs {
  /** The age is estimated. */
  ages: boolean
  /** The best picture is kept until it is asked for. */
  selfie: boolean
}

export interface CaptureDeps {
  camera: Camera
  engine: Engine
  models: LoadedModels
  outputs: CaptureOutputs
  clock: DeviceClock
  /** Asked for when the face is well placed; the capture begins when it resolves. */
  challenge(): Promise<Challenge>
  log(type: 'challenge_received' | 'movement_shown' | 'movement_seen' | 'capture_done', n?: number): void
  onView(view: CaptureView): void
  /** Lets a user who cannot satisfy the guidance start anyway. */
  startAnyway: AbortSignal
  signal: AbortSignal
}

/** The capture without what only the page knows: browser indicators are added before it is sealed. */
export type FaceCapture = Omit<Capture, 'indicators' | 'browser' | 'metadata'>

/** A try that came to nothing on the device, with its session code (docs/session-codes.md). */
export class CaptureFailure extends Error {
  readonly code: number
  readonly reason: string | undefined

  constructor(code: number, reason?: string) {
    super(`The capture failed with ${code}${reason ? ` (${reason})` : ''}`)
    this.name = 'CaptureFailure'
    this.code = code
    this.reason = reason
  }
}

/** Finds the face, runs one challenge and measures it. Rejects with CaptureFailure, or with the signal's reason. */
export type RunCapture = (deps: CaptureDeps) => Promise<FaceCapture>
