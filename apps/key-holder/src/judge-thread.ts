/** A thread that judges (judgements.ts). */
import { type JudgeInput, type Judgement, judge, TokenFormatError } from '@ostiary/token'

/** A bad format is an answer: an error loses its class on its way to the main thread. */
export async function run(input: JudgeInput): Promise<Judgement | { badFormat: string }> {
  try {
    return await judge(input)
  } catch (error) {
    if (error instanceof TokenFormatError) return { badFormat: error.message }
    throw error
  }
}
