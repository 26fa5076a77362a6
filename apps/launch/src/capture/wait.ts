import type { DeviceClock } from '@ostiary/device'
import { pause } from '../pause.ts'

/** Resolves at this time of the monotonic clock, or at once if it has passed. Rejects with the signal's reason. */
export async function waitUntil(clock: DeviceClock, atMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  // Timers may fire a little early, so it waits again for the rest.
  for (let leftMs = atMs - clock.monotonicMs(); leftMs > 0; leftMs = atMs - clock.monotonicMs())
    await pause(Math.ceil(leftMs), signal)
}
