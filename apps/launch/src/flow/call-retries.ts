import { isPassing } from './problem-of.ts'

export interface RetryOptions {
  /** Ends the waiting: the user left the screen, or the session has ended. */
  signal: AbortSignal
  /** Resolves after this time, or earlier when the network comes back. Rejects when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  onLost(): void
  onBack(): void
}

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 10_000

/** Repeats a call until it gets an answer. Throws a lasting error at once. */
export async function callWithRetries<T>(call: () => Promise<T>, options: RetryOptions): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      const answer = await call()
      if (failures > 0) options.onBack()
      return answer
    } catch (error) {
      if (!isPassing(error) || options.signal.aborted) {
        if (failures > 0) options.onBack()
        throw error
      }
      options.onLost()
      await options.wait(waitMs(failures, error.retryAfterSeconds), options.signal)
    }
  }
}

/** Doubles with every failure, up to ten seconds. A longer `Retry-After` of the service wins. */
export function waitMs(failures: number, retryAfterSeconds: number | undefined): number {
  const doubled = Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS)
  return Math.max(doubled, (retryAfterSeconds ?? 0) * 1000)
}
