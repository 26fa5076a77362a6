import type { DeviceClock } from '@ostiary/device'

/** Resolves at this time of the monotonic clock, or at once if it has passed. Rejects with the signal's reason. */
export async function waitUntil(clock: DeviceClock, atMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  // Timers may fire a little early, so it waits again for the rest.
  for (let leftMs = atMs - clock.monotonicMs(); leftMs > 0; leftMs = atMs - clock.monotonicMs())
    await sleep(Math.ceil(leftMs), signal)
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
}
