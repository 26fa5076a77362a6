import type { DeviceClock } from './event-log.ts'

/** The clocks that every browser has. */
export const systemClock: DeviceClock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
}
