import { availableParallelism } from 'node:os'
import { type EvaluationInput, TokenFormatError } from '@ostiary/token'
import { createTaskThreads, type TaskThreads } from '../platform/task-threads.ts'

export type Evaluate = (input: EvaluationInput) => Promise<Uint8Array>

const BAD_FORMAT = new TokenFormatError('').name

/**
 * The matcher's half of a comparison, in threads. In the main thread its 40 ms would hold up every other call, and what it allocates would
 * let the whole heap be collected at each sign-in (docs/benchmarks.md). One processor is left for everything else.
 */
export function createEvaluations(threads: TaskThreads<EvaluationInput, Uint8Array> = startThreads()): {
  evaluate: Evaluate
  stop(): Promise<void>
} {
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
      try {
        return await threads.run({ ...parts, isEnrolment }, moved)
      } catch (error) {
        throw error instanceof Error && error.name === BAD_FORMAT ? new TokenFormatError(error.message) : error
      }
    },
    stop: () => threads.stop(),
  }
}

/** With a buffer of its own, which moves to the thread. */
const copyOf = (bytes: Uint8Array) => new Uint8Array(bytes)

const startThreads = () =>
  createTaskThreads<EvaluationInput, Uint8Array>(
    new URL('./evaluation-thread.ts', import.meta.url),
    Math.max(1, availableParallelism() - 1),
  )
