/** A thread that judges (judgements.ts). */
import { parentPort } from 'node:worker_threads'
import { type JudgeInput, type Judgement, judge } from '@ostiary/token'
import type { ThreadAnswer } from './platform/task-threads.ts'

parentPort?.on('message', async (input: JudgeInput) => {
  const reply = (answer: ThreadAnswer<Judgement>) => parentPort?.postMessage(answer)
  try {
    reply({ result: await judge(input) })
  } catch (thrown) {
    const { name, message } = thrown as Error
    reply({ error: { name, message } })
  }
})
