import type { Clock } from './platform/clock.ts'

/**
 * Holds every answer back until `deadlineMs` has passed, and a later one until the next multiple. How long the checks took, and so
 * which of them failed, cannot be read from the time of an answer.
 */
export async function onDeadline<T>(clock: Clock, deadlineMs: number, work: () => Promise<T>): Promise<T> {
  const started = clock.monotonicMs()
  try {
    return await work()
  } finally {
    const tookMs = clock.monotonicMs() - started
    const answerMs = Math.max(1, Math.ceil(tookMs / deadlineMs)) * deadlineMs
    // A timer may fire a little early.
    for (let leftMs = answerMs - tookMs; leftMs > 0; leftMs = started + answerMs - clock.monotonicMs())
      await clock.sleep(Math.ceil(leftMs))
  }
}
