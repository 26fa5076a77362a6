import { LOCKOUT } from '@ostiary/contract'

/** The counted failures of one person, device or network. */
export interface LockState {
  failures: number
  /** The first of them. */
  since: Date
  lockedUntil: Date | null
}

const WINDOW_MS = LOCKOUT.windowSeconds * 1000

/** One more failure. From the fifth on (or another, `first`) each makes the next ones wait, and longer every time. */
export function afterFailure(before: LockState | undefined, now: Date, first: number = LOCKOUT.failures): LockState {
  if (!before || now >= failuresExpireAt(before)) return { failures: 1, since: now, lockedUntil: null }
  const failures = before.failures + 1
  const waits = LOCKOUT.waitSeconds
  const seconds = waits[Math.min(failures - first, waits.length - 1)]
  const lockedUntil = seconds === undefined ? before.lockedUntil : new Date(now.getTime() + seconds * 1000)
  return { failures, since: before.since, lockedUntil }
}

/** Seconds until the next session is accepted; 0 when it is accepted now. */
export function waitSecondsOf({ lockedUntil }: LockState, now: Date): number {
  return lockedUntil ? Math.max(0, Math.ceil((lockedUntil.getTime() - now.getTime()) / 1000)) : 0
}

/** When the failures expire: a window after the first failure, or after the last wait. */
export function failuresExpireAt({ since, lockedUntil }: LockState): Date {
  return new Date((lockedUntil ?? since).getTime() + WINDOW_MS)
}
