/** Why there is no camera: the reasons of session code -7. */
export const CAMERA_PROBLEMS = [
  'permission_denied',
  'not_found',
  'in_use',
  'constraints',
  'insecure_context',
  'policy_blocked',
  'track_ended',
] as const
export type CameraProblem = (typeof CAMERA_PROBLEMS)[number]

export class CameraError extends Error {
  readonly problem: CameraProblem

  constructor(problem: CameraProblem, cause?: unknown) {
    super(`No camera: ${problem}`, cause === undefined ? undefined : { cause })
    this.name = 'CameraError'
    this.problem = problem
  }
}

/** A camera that runs. The real one shows its picture in a video element; tests may bring recorded pictures. */
export interface Camera {
  /** For the preview; undefined for a camera without one. */
  readonly stream: MediaStream | undefined
  /** As the browser names it; only looked at on the device. */
  readonly label: string
  readonly width: number
  readonly height: number
  /** The picture of this moment. */
  grab(): Promise<ImageBitmap>
  /** Called once if the camera stops by itself. */
  onEnded(listener: () => void): void
  stop(): void
}
