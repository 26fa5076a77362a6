import { availableParallelism } from 'node:os'
import { createFairSlots } from '@ostiary/service-kit/fair-slots'
import { createTaskThreads } from '@ostiary/service-kit/task-threads'
import { type EvaluationInput, TokenFormatError } from '@ostiary/token'
import { AppError } from '../platform/errors.ts'

export type Evaluations = ReturnType<typeof createEvaluations>

const MOST_WAITING = 20

/**
 * The matcher's half of a comparison, in threads. In the main thread its 40 ms would hold up every other call, and what it allocates would
 * let the whole heap be collected at each sign-in (docs/scaling.md). One processor is left for everything else.
 */
export function createEvaluations() {
  const script = new URL('./evaluation-thread.ts', import.meta.url)
  const count = Math.max(1, availableParallelism() - 1)
  const threads = createTaskThreads<EvaluationInput, Uint8Array | { badFormat: string }>(script, count)
  // With one more than there are threads, which no owner alone can take, another owner is the next.
  const shares = createFairSlots({ total: count + 1, perOwner: count, mostWaiting: MOST_WAITING })
  const places = createFairSlots({ total: Number.POSITIVE_INFINITY, perOwner: count + MOST_WAITING })

  return {
    /** Takes a place in the queue, before anything is counted. Returns what leaves it. Throws where too many of this owner have one. */
    enter(owner: string): () => void {
      const leave = places.take(owner)
      if (!leave) throw tooManyWait()
      return leave
    },
    /** Evaluations of the same owner share one share of the threads. */
    async evaluate(owner: string, { isEnrolment, ...given }: EvaluationInput): Promise<Uint8Array> {
      const parts = {
        token: copyOf(given.token),
        publicKey: copyOf(given.publicKey),
        matcherShare: copyOf(given.matcherShare),
        probe: copyOf(given.probe),
        secret: copyOf(given.secret),
      }
      const moved = Object.values(parts).map(({ buffer }) => buffer)
      const answer = await shares.withSlotWithin(owner, WAITING, () => threads.run({ ...parts, isEnrolment }, moved))
      if ('badFormat' in answer) throw new TokenFormatError(answer.badFormat)
      return answer
    },
    stop: () => threads.stop(),
  }
}

function tooManyWait(): AppError {
  const message = 'Too many tokens of this account wait for their evaluation, try again'
  return new AppError('unavailable', 'DEPENDENCY_DOWN', message, { retryAfterSeconds: 5 })
}

/** Shorter than the page waits for an answer. */
const WAITING = { waitMs: 8_000, refusal: tooManyWait }

/** With a buffer of its own, which moves to the thread. */
const copyOf = (bytes: Uint8Array) => new Uint8Array(bytes)
