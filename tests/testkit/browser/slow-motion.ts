import type { LiveCamera } from './live-camera.ts'

/**
 * How many times slower time passes after an inconclusive attempt of a face check. A challenge sets times to the tenth of a second;
 * a machine that stalls misses them, and no person and no page is at fault. The attempt must end before the service forgets the
 * challenge (90 s; it takes at most 10 s in real time). Measured on a machine that lost half of its time: 5 was not always enough.
 */
const SLOW_MOTION = 7

/** A page of any browser. */
export interface Evaluates {
  evaluate(expression: string): Promise<unknown>
}

/**
 * Sets the speed of what follows: the clock and the timers of the page, and the puppet before its
 * camera, are slower by the same factor. To the page it is the same as a faster machine. Browser, camera, models and service are
 * the real ones and know nothing of it. A page that is loaded again starts at normal speed.
 */
export async function setSpeed(frame: Evaluates, camera: LiveCamera, speed: 'slow' | 'normal'): Promise<void> {
  const factor = speed === 'slow' ? SLOW_MOTION : 1
  camera.slowDown(factor)
  await frame.evaluate(slowPage(factor))
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
