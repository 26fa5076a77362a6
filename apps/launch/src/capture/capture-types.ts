import type { Challenge, Movement } from '@ostiary/contract'
import type { Capture, DeviceClock } from '@ostiary/device'
import type { Guidance, Measured } from '@ostiary/faces'
import type { Camera } from '../camera/camera-types.ts'
import type { Engine, LoadedModels } from '../engine/engine.ts'

/** What the capture screen shows. */
export interface CaptureView {
  /** `find`: the user places the face in the oval. `challenge`: movements are asked for. `measure`: the device computes. */
  phase: 'find' | 'challenge' | 'measure'
  guidance: Guidance | null
  /** The movement that the screen asks for now. */
  movement: Movement | null
  /** How many movements were seen. */
  movementsSeen: number
  movementsTotal: number
  /** Of the whole capture, 0 to 1. */
  progress: number
}

/** A measured sample and its time after the start of the capture. */
export interface Sample {
  tMs: number
  measured: Measured
}

/** What a session wants from a capture besides liveness. */
export interface CaptureOutputs {
  /** Estimate the age. */
  ages: boolean
  /** Keep the best picture until `selfie()` is called. */
  selfie: boolean
}

export interface CaptureDeps {
  camera: Camera
  engine: Engine
  models: LoadedModels
  outputs: CaptureOutputs
  clock: DeviceClock
  /** How long the page says that movements come, before it asks for them. */
  readyMs?(): number
  /** Called when the face is well placed. The movements start when it resolves. */
  challenge(): Promise<Challenge>
  log(type: 'challenge_received' | 'movement_shown' | 'movement_seen' | 'capture_done', n?: number): void
  onView(view: CaptureView): void
  /** The measured samples, before the capture is assembled. */
  onSamples?(samples: readonly Sample[]): void
  /** Lets a user who cannot satisfy the guidance start anyway. */
  startAnyway: AbortSignal
  signal: AbortSignal
}

/** The capture without the browser's signals, which the flow adds before it is sealed. */
export type FaceCapture = Omit<Capture, 'indicators' | 'browser' | 'metadata'>

/** A try that failed on the device, with its session code (docs/session-codes.md). */
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
