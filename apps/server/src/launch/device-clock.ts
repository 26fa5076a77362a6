import type { DeviceTime } from '../sessions/index.ts'

/**
 * How far the time of a call may be from what the device's clock should show, and how far it may go back. More than a slow network and
 * a clock that is being adjusted need, and too little to keep a signed call for later.
 */
export const CLOCK_DRIFT_SECONDS_MAX = 60

/** Learns a device's clock from the time in its first call. The clock may be wrong by any amount. */
export function learnTime(issuedAtSeconds: number, now: Date): DeviceTime {
  return { aheadSeconds: issuedAtSeconds - secondsOf(now), latestSeconds: issuedAtSeconds }
}

/** Whether a call has the time that the device's clock should show now. A clock that is wrong but steady passes. */
export function isInTime({ aheadSeconds, latestSeconds }: DeviceTime, issuedAtSeconds: number, now: Date): boolean {
  const expectedSeconds = secondsOf(now) + aheadSeconds
  return (
    Math.abs(issuedAtSeconds - expectedSeconds) <= CLOCK_DRIFT_SECONDS_MAX &&
    issuedAtSeconds >= latestSeconds - CLOCK_DRIFT_SECONDS_MAX
  )
}

/** The offset stays as it was learnt, so that a clock cannot be moved away in small steps. */
export function afterCall(time: DeviceTime, issuedAtSeconds: number): DeviceTime {
  return { ...time, latestSeconds: Math.max(time.latestSeconds, issuedAtSeconds) }
}

const secondsOf = (time: Date) => Math.floor(time.getTime() / 1000)
