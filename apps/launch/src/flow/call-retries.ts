import { isPassing } from './problem-of.ts'

export interface RetryOptions {
  /** Ends the waiting: the user left the screen, or the session has ended. */
  signal: AbortSignal
  /** Resolves after the time, earlier when the network comes back; rejects when the signal ends. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  onLost(): void
  onBack(): void
}

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 10_000

/** Makes a call until it is answered. What is refused for a reason that does not pass is thrown at once. */
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

/** Twice as long each time, up to ten seconds; as long as the service asks for when it does. */
export function waitMs(failures: number, retryAfterSeconds: number | undefined): number {
  const doubled = Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS)
  return Math.max(doubled, (retryAfterSeconds ?? 0) * 1000)
}
