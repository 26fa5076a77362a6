import type { DeviceClock } from '../event-log.ts'

/** A clock that a simulated person can let run. */
export interface SimulatedClock extends DeviceClock {
  pass(ms: number): Promise<void>
}

export interface SimulatedClockOptions {
  /** Waits for real, by whatever means move `base`. Without it time passes only in what the device claims. */
  wait?: (ms: number) => Promise<void>
}

/**
 * The wall clock is always that of `base`: a proof must carry the true time, while the log may claim any. Claimed time is made
 * of nothing but what was passed, so that one seed gives one log.
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
