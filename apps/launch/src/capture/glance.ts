import * as codes from '@ostiary/contract/codes'
import { DeviceError } from '@ostiary/device'
import type { Sighting } from '@ostiary/faces'
import { type CaptureDeps, CaptureFailure } from './capture-types.ts'
import { waitUntil } from './wait.ts'

/** Pause before asking a camera again that has no new picture. */
const PAUSE_MS = 100

export interface Glance {
  sighting: Sighting
  /** When the picture was taken. */
  atMs: number
}

/** Looks at the current picture once. Returns undefined, after a pause, if the camera has no new one. */
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

/** A camera may have no new picture: the tab is hidden, or the last picture was used already. */
export function grab({ camera }: Pick<CaptureDeps, 'camera'>): Promise<ImageBitmap | undefined> {
  return camera.grab().catch(() => undefined)
}

/** An error inside the engine fails the capture with FACE_SCAN_ERROR: it says nothing about the user. Other errors stay what they are. */
export function orScanError<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    if (error instanceof CaptureFailure || error instanceof DeviceError) throw error
    const failure = new CaptureFailure(codes.FACE_SCAN_ERROR)
    failure.cause = error
    throw failure
  })
}
