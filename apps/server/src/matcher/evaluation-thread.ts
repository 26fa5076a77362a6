/** A thread that evaluates (evaluations.ts). */
import { parentPort } from 'node:worker_threads'
import { type EvaluationInput, evaluate } from '@ostiary/token'
import type { ThreadAnswer } from '../platform/task-threads.ts'

parentPort?.on('message', async (input: EvaluationInput) => {
  try {
    const result = await evaluate(input)
    parentPort?.postMessage({ result } satisfies ThreadAnswer<Uint8Array>, [result.buffer as ArrayBuffer])
  } catch (thrown) {
    const { name, message } = thrown as Error
    parentPort?.postMessage({ error: { name, message } } satisfies ThreadAnswer<Uint8Array>)
  }
})
