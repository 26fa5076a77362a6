import { availableParallelism } from 'node:os'
import { createFairSlots } from '@ostiary/service-kit/fair-slots'
import { createTaskThreads } from '@ostiary/service-kit/task-threads'
import { type EvaluationInput, TokenFormatError } from '@ostiary/token'
import { AppError } from '../platform/errors.ts'

/** Evaluations of the same owner share one share of the threads. */
export type Evaluate = (owner: string, input: EvaluationInput) => Promise<Uint8Array>

const MOST_WAITING = 20
/** Shorter than the page waits for an answer. */
const WAIT_MS = 8_000

/**
 * The matcher's half of a comparison, in threads. In the main thread its 40 ms would hold up every other call, and what it allocates would
 * let the whole heap be collected at each sign-in (docs/scaling.md). One processor is left for everything else.
 */
export function createEvaluations(): { evaluate: Evaluate; stop(): Promise<void> } {
  const script = new URL('./evaluation-thread.ts', import.meta.url)
  const count = Math.max(1, availableParallelism() - 1)
  const threads = createTaskThreads<EvaluationInput, Uint8Array | { badFormat: string }>(script, count)
  // With one more than there are threads, which no owner alone can take, another owner is the next.
  const shares = createFairSlots({ total: count + 1, perOwner: count, mostWaiting: MOST_WAITING })

  async function inTurn<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const free = await shares.takeWithin(owner, WAIT_MS)
    if (!free) throw tooManyWait()
    try {
      return await work()
    } finally {
      free()
    }
  }

  return {
    async evaluate(owner, { isEnrolment, ...given }) {
      const parts = {
        token: copyOf(given.token),
        publicKey: copyOf(given.publicKey),
        matcherShare: copyOf(given.matcherShare),
        probe: copyOf(given.probe),
        secret: copyOf(given.secret),
      }
      const moved = Object.values(parts).map(({ buffer }) => buffer)
      const answer = await inTurn(owner, () => threads.run({ ...parts, isEnrolment }, moved))
      if ('badFormat' in answer) throw new TokenFormatError(answer.badFormat)
      return answer
    },
    stop: () => threads.stop(),
  }
}

const tooManyWait = () =>
  new AppError(
    'unavailable',
    'DEPENDENCY_DOWN',
    'Too many tokens of this account wait for their evaluation, try again',
    {
      retryAfterSeconds: 5,
    },
  )

/** With a buffer of its own, which moves to the thread. */
const copyOf = (bytes: Uint8Array) => new Uint8Array(bytes)
