import { availableParallelism } from 'node:os'
import { createTaskThreads } from '@ostiary/service-kit/task-threads'
import { type JudgeInput, type Judgement, type judge, TokenFormatError } from '@ostiary/token'

/**
 * The key holder's half of a comparison, in threads. In the main thread, what it allocates would let the whole heap be collected at each
 * sign-in (docs/scaling.md), and other calls would wait. One processor is left for everything else.
 */
export function createJudgements(): { judge: typeof judge; stop(): Promise<void> } {
  const script = new URL('./judge-thread.ts', import.meta.url)
  const threads = createTaskThreads<JudgeInput, Judgement | { badFormat: string }>(
    script,
    Math.max(1, availableParallelism() - 1),
  )
  return {
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
