/** A worker thread of the pool: keeps the lists that the pool opened and screens chunks of files. */
import { parentPort } from 'node:worker_threads'
import { systemClock } from '../../platform/clock.ts'
import { type OpenList, openList, type SharedList } from './open-list.ts'
import { answerRows, type RowsAnswer, type RowsTask } from './rows.ts'

export type ToThread =
  | { kind: 'open'; key: string; list: SharedList }
  | { kind: 'close'; key: string }
  /** After `mostMs` the thread answers with the rows that it has done. */
  | { kind: 'rows'; id: number; keys: string[]; task: RowsTask; mostMs: number }

export type FromThread =
  | { kind: 'ready' }
  | { kind: 'answer'; id: number; answer: RowsAnswer; cpuMs: number }
  | { kind: 'failed'; id: number; message: string; stack: string | undefined }

const lists = new Map<string, OpenList>()
/** Lists that could not be opened. The thread tries again when a file needs them. */
const failures = new Map<string, SharedList>()

function listAt(key: string): OpenList {
  const failed = failures.get(key)
  if (failed) open(key, failed)
  const list = lists.get(key)
  if (!list) throw new Error('The thread does not have this list')
  return list
}

/** A list that cannot be opened must not end the thread, which also serves other lists. */
function open(key: string, list: SharedList): void {
  try {
    lists.set(key, openList(list))
    failures.delete(key)
  } catch {
    failures.set(key, list)
  }
}

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'open') open(message.key, message.list)
  else if (message.kind === 'close') {
    lists.get(message.key)?.close()
    lists.delete(message.key)
    failures.delete(message.key)
  } else {
    const { id, keys, task, mostMs } = message
    try {
      const startedAtMs = systemClock.monotonicMs()
      const startedCpuMs = cpuMs()
      const isTimeUp = () => systemClock.monotonicMs() - startedAtMs >= mostMs
      const answer = answerRows(keys.map(listAt), task, isTimeUp)
      const { results, records, hits } = answer
      const moved = [results.buffer, records.buffer, ...(hits ? [hits.buffer] : [])]
      reply({ kind: 'answer', id, answer, cpuMs: cpuMs() - startedCpuMs }, moved)
    } catch (error) {
      const { message: text, stack } = error as Error
      reply({ kind: 'failed', id, message: text, stack })
    }
  }
})

/** What this thread has computed. It does not grow while others have the processor. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The memory of `moved` goes to the other side instead of being copied. */
function reply(message: FromThread, moved: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, moved)
}

reply({ kind: 'ready' })
