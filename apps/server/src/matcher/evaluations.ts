import { availableParallelism } from 'node:os'
import { createTaskThreads } from '@ostiary/service-kit/task-threads'
import { type EvaluationInput, TokenFormatError } from '@ostiary/token'

export type Evaluate = (input: EvaluationInput) => Promise<Uint8Array>

/**
 * The matcher's half of a comparison, in threads. In the main thread its 40 ms would hold up every other call, and what it allocates would
 * let the whole heap be collected at each sign-in (docs/scaling.md). One processor is left for everything else.
 */
export function createEvaluations(): { evaluate: Evaluate; stop(): Promise<void> } {
  const script = new URL('./evaluation-thread.ts', import.meta.url)
  const threads = createTaskThreads<EvaluationInput, Uint8Array | { badFormat: string }>(
    script,
    Math.max(1, availableParallelism() - 1),
  )
  return {
    async evaluate({ isEnrolment, ...given }) {
      const parts = {
        token: copyOf(given.token),
        publicKey: copyOf(given.publicKey),
        matcherShare: copyOf(given.matcherShare),
        probe: copyOf(given.probe),
        secret: copyOf(given.secret),
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
