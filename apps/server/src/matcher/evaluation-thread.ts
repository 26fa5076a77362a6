/** A thread that evaluates (evaluations.ts). */
import { type EvaluationInput, evaluate, TokenFormatError } from '@ostiary/token'

/** A bad format is an answer: an error loses its class on its way to the main thread. */
export async function run(input: EvaluationInput): Promise<Uint8Array | { badFormat: string }> {
  try {
    return await evaluate(input)
  } catch (error) {
    if (error instanceof TokenFormatError) return { badFormat: error.message }
    throw error
  }
}
