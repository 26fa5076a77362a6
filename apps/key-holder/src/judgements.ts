import { availableParallelism } from 'node:os'
import { createFairSlots } from '@ostiary/service-kit/fair-slots'
import { createTaskThreads } from '@ostiary/service-kit/task-threads'
import { type JudgeInput, type Judgement, type judge, TokenFormatError } from '@ostiary/token'
import { CallError } from './errors.ts'

/** Waits until a thread is as good as free for this realm, and runs `work`. */
export type InTurn = <T>(realm: string, work: () => Promise<T>) => Promise<T>

const MOST_WAITING = 20
const WAITING = {
  /** Shorter than the server waits for an answer. */
  waitMs: 8_000,
  refusal: () => new CallError(503, 'Too many evaluations of this realm wait, try again'),
}

/**
 * The key holder's half of a comparison, in threads. In the main thread, what it allocates would let the whole heap be collected at each
 * sign-in (docs/scaling.md), and other calls would wait. One processor is left for everything else.
 */
export function createJudgements(): { judge: typeof judge; inTurn: InTurn; stop(): Promise<void> } {
  const script = new URL('./judge-thread.ts', import.meta.url)
  const count = Math.max(1, availableParallelism() - 1)
  const threads = createTaskThreads<JudgeInput, Judgement | { badFormat: string }>(script, count)
  // With one more than there are threads, which no realm alone can take, another realm is the next.
  const shares = createFairSlots({ total: count + 1, perOwner: count, mostWaiting: MOST_WAITING })
  return {
    inTurn: (realm, work) => shares.withSlotWithin(realm, WAITING, work),
    async judge({ isEnrolment, ...given }) {
      const parts = {
        token: copyOf(given.token),
        probe: copyOf(given.probe),
        evaluation: copyOf(given.evaluation),
        keyShare: copyOf(given.keyShare),
      }
      const moved = Object.values(parts).map(({ buffer }) => buffer)
      const answer = await threads.run({ ...parts, isEnrolment }, moved)
      if ('badFormat' in answer) throw new TokenFormatError(answer.badFormat)
      return answer
    },
    stop: () => threads.stop(),
  }
}

/** With a buffer of its own, which moves to the thread. */
const copyOf = (bytes: Uint8Array) => new Uint8Array(bytes)
