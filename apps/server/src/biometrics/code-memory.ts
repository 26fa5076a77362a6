import { Worker } from 'node:worker_threads'
import type { CodeAnswer, CodeMessage, CodeOrder } from './code-thread.ts'

/** The codes themselves live in a thread: a scan of a million takes some 12 ms, which would hold up every other call. */
export interface CodeMemory {
  ask(table: number, order: CodeOrder): Promise<CodeAnswer>
  /** How many scans wait or run. */
  scanning(): number
  stop(): Promise<void>
}

/** Numbers of codes to be removed and what is found: small. The codes are not on this heap. */
const HEAP = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 }

/**
 * Starts the thread with the first order. If it dies, its codes are gone: all that waits fails, `onLost` is called, and the next order starts
 * another with empty tables. It does not keep the process alive.
 */
export function createCodeMemory(maxBytes: number, onLost: () => void): CodeMemory {
  const waiting = new Map<number, { resolve(answer: CodeAnswer): void; reject(error: Error): void; isScan: boolean }>()
  let thread: Worker | undefined
  let nextId = 1
  let scans = 0
  let isStopped = false

  function start(): Worker {
    const started = new Worker(new URL('./code-thread.ts', import.meta.url), {
      workerData: maxBytes,
      resourceLimits: HEAP,
    })
    started.unref()
    started.on('message', (answer: CodeAnswer) => take(answer.id)?.resolve(answer))
    const fail = (error: Error) => {
      if (thread !== started) return
      thread = undefined
      for (const id of waiting.keys()) take(id)?.reject(error)
      if (!isStopped) onLost()
    }
    started.on('error', (error) => fail(error instanceof Error ? error : new Error(String(error))))
    started.on('exit', () => fail(new Error('The thread of codes has ended')))
    return started
  }

  function take(id: number) {
    const one = waiting.get(id)
    waiting.delete(id)
    if (one?.isScan) scans--
    return one
  }

  return {
    ask(table, order) {
      if (isStopped) return Promise.reject(new Error('The service is stopping'))
      thread ??= start()
      const message: CodeMessage = { ...order, table, id: nextId++ }
      const isScan = order.kind === 'scan'
      if (isScan) scans++
      return new Promise((resolve, reject) => {
        waiting.set(message.id, { resolve, reject, isScan })
        thread?.postMessage(message)
      })
    },
    scanning: () => scans,
    async stop() {
      isStopped = true
      const ended = thread?.terminate()
      for (const id of waiting.keys()) take(id)?.reject(new Error('The service is stopping'))
      await ended
    },
  }
}
