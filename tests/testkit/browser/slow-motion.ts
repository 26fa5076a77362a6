import type { Frame } from 'playwright-core'
import type { LiveCamera } from './live-camera.ts'

/**
 * How many times slower time passes in each attempt of a face check: the first in real time, and each one that was inconclusive
 * makes the next slower. A challenge sets times to the tenth of a second; a machine that stalls misses them, and no person and
 * no page is at fault. The last one must end before the service forgets the challenge (90 s; it takes at most 10 s in real time).
 */
const SLOWDOWN = [1, 5, 7] as const

/**
 * Runs `act` in slow motion: the clock and the timers of the page, and the puppet before its camera, are slower by the same factor.
 * To the page it is the same as a faster machine. Browser, camera, models and service are the real ones and know nothing of it.
 */
export async function inSlowMotion<T>(
  { frame, camera, misses }: { frame: Frame; camera: LiveCamera; misses: number },
  act: () => Promise<T>,
): Promise<T> {
  const factor = SLOWDOWN[Math.min(misses, SLOWDOWN.length - 1)] ?? 1
  if (factor === 1) return act()
  camera.slowDown(factor)
  await frame.evaluate(slowPage(factor))
  try {
    return await act()
  } finally {
    camera.slowDown(1)
    // The page may have gone on to another address, which starts at normal speed.
    await frame.evaluate(slowPage(1)).catch(() => {})
  }
}

/** Slows `performance.now` and `setTimeout`, by which the page measures and waits. The wall clock, by which it signs, stays right. */
const slowPage = (factor: number) => `(() => {
  const KEY = Symbol.for('slow motion')
  if (!globalThis[KEY]) {
    const now = performance.now.bind(performance)
    const wait = globalThis.setTimeout
    let factor = 1, sinceMs = now(), passedMs = sinceMs
    performance.now = () => passedMs + (now() - sinceMs) / factor
    globalThis.setTimeout = (run, ms = 0, ...rest) => wait(run, ms * factor, ...rest)
    globalThis[KEY] = (next) => {
      passedMs = performance.now()
      sinceMs = now()
      factor = next
    }
  }
  globalThis[KEY](${factor})
})()`
