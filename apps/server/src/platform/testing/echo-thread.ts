/** A thread for tests: answers, fails or ends as its task says. */
import { parentPort } from 'node:worker_threads'

export interface EchoTask {
  does: 'answer' | 'fail' | 'end'
  bytes?: Uint8Array
}

parentPort?.on('message', ({ does, bytes }: EchoTask) => {
  if (does === 'end') process.exit(1)
  if (does === 'fail') parentPort?.postMessage({ error: { name: 'TokenFormatError', message: 'bad bytes' } })
  else parentPort?.postMessage({ result: bytes?.length ?? 0 })
})
