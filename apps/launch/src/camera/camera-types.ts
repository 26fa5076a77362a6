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

/** Opens a camera: that of the face without constraints, or the one that they ask for. */
export type OpenCamera = (wanted?: MediaTrackConstraints) => Promise<Camera>

/** A running camera. The real one draws into a video element; tests supply recorded pictures. */
export interface Camera {
  /** For the preview; undefined for a camera without one. */
  readonly stream: MediaStream | undefined
  /** The browser's name for it. It never leaves the device. */
  readonly label: string
  readonly width: number
  readonly height: number
  /** Takes the current picture. */
  grab(): Promise<ImageBitmap>
  /** Called once if the camera stops by itself. */
  onEnded(listener: () => void): void
  stop(): void
}
