import * as codes from '@ostiary/contract/codes'
import type { Sighting } from '@ostiary/faces'
import { type CaptureDeps, CaptureFailure } from './capture-types.ts'
import { waitUntil } from './wait.ts'

/** Between two questions to a camera that has no new picture. */
const PAUSE_MS = 100

export interface Glance {
  sighting: Sighting
  /** When the picture was taken. */
  atMs: number
}

/** One look at what the camera shows; undefined, after a pause, while it shows nothing new. */
export async function glance(deps: CaptureDeps, signal: AbortSignal): Promise<Glance | undefined> {
  const { clock, engine } = deps
  const picture = await grab(deps)
  const atMs = clock.monotonicMs()
  if (!picture) {
    await waitUntil(clock, atMs + PAUSE_MS, signal)
    return undefined
  }
  if (signal.aborted) picture.close()
  signal.throwIfAborted()
  const sighting = await orScanError(engine.look(picture))
  signal.throwIfAborted()
  return { sighting, atMs }
}

/** A camera may have nothing to give just now: the tab is hidden, or its last picture is the one we have. */
export function grab({ camera }: Pick<CaptureDeps, 'camera'>): Promise<ImageBitmap | undefined> {
  return camera.grab().catch(() => undefined)
}

/** What goes wrong inside the engine is a failure of the capture, and says nothing about the user. */
export function orScanError<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    const failure = new CaptureFailure(codes.FACE_SCAN_ERROR)
    failure.cause = error
    throw failure
  })
}
