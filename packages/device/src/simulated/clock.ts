import type { DeviceClock } from '../event-log.ts'

/** A clock that the simulation can advance. */
export interface SimulatedClock extends DeviceClock {
  pass(ms: number): Promise<void>
}

export interface SimulatedClockOptions {
  /** Waits in real time, which moves `base`. Without it, time passes only in the device's claims. */
  wait?: (ms: number) => Promise<void>
}

/**
 * The wall clock is always that of `base`: a proof must have the true time, while the log may claim any. The claimed time
 * advances only by `pass`, so that one seed gives one log.
 */
export function createSimulatedClock(base: DeviceClock, { wait }: SimulatedClockOptions = {}): SimulatedClock {
  let claimedMs = 0
  return {
    nowMs: () => base.nowMs(),
    monotonicMs: () => (wait ? base.monotonicMs() : claimedMs),
    async pass(ms) {
      if (wait) await wait(ms)
      else claimedMs += ms
    },
  }
}
