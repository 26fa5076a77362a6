/**
 * The threads that match, shared by all files. Each file is cut into pieces, and the next piece is always one of the file that
 * has had the least time of the threads: so a small file does not wait for a large one, nor for one whose rows take very long.
 */
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../platform/clock.ts'
import type { SharedList } from './open-list.ts'
import { MATCHES_PER_ROW, type Row, type RowsAnswer } from './rows.ts'
import type { FromThread, ToThread } from './thread.ts'

export interface FileTask {
  /** Lists that were opened with `open`. */
  keys: readonly string[]
  dataset: string
  threshold: number
  rows: readonly Row[]
  signal: AbortSignal
}

export interface Pool {
  open(key: string, list: SharedList): void
  close(key: string): void
  /** Has the threads ready: each needs half a second to read its code. */
  start(): void
  /** Answers in the order of the rows, piece by piece. Rejects when the signal fires or a thread fails. */
  run(task: FileTask): Promise<RowsAnswer[]>
  stop(): Promise<void>
}

/** The lists are outside of this. Without a limit a thread lets its garbage pile up to several times what it needs. */
const THREAD_MEMORY = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 512 }
const ROWS_PER_PIECE = 250
/** Low thresholds find very much per row; a file that is given up must not hold its thread for long. */
const FEW_ROWS = 25
const LOW_THRESHOLD = 0.7
/** After this many matched rows a file shows only the best match of each further row: its answer stays bounded. */
const GENEROUS_ROWS = 5_000

/** Time of the threads that a file has had, what one of its pieces took at last, and how many are under way. */
export interface Served {
  usedMs: number
  pieceMs: number
  open: number
}

/** Who has had the least; what pieces under way will take counts already. Of those that had as much, the first. */
export function leastServed<T extends Served>(files: readonly T[]): T | undefined {
  const dueOf = ({ usedMs, open, pieceMs }: Served) => usedMs + open * pieceMs
  return files.reduce<T | undefined>((least, file) => (least && dueOf(least) <= dueOf(file) ? least : file), undefined)
}

interface Running extends Served {
  task: FileTask
  /** Rows per piece. */
  size: number
  next: number
  matched: number
  answers: RowsAnswer[]
  finish(error?: Error): void
}

interface Thread {
  worker: Worker
  busy: { file: Running; piece: number; sinceMs: number } | null
}

export function createPool(threads: number, clock: Pick<Clock, 'monotonicMs'>): Pool {
  const lists = new Map<string, SharedList>()
  const files: Running[] = []
  let crew: Thread[] = []
  let nextId = 0
  let stopped = false

  function hire(): Thread {
    const worker = new Worker(new URL('./thread.ts', import.meta.url), { resourceLimits: THREAD_MEMORY })
    const thread: Thread = { worker, busy: null }
    worker.unref()
    worker.on('message', (message: FromThread) => receive(thread, message))
    worker.on('error', (error) => replace(thread, error instanceof Error ? error : new Error(String(error))))
    for (const [key, list] of lists) tell(thread, { kind: 'open', key, list })
    return thread
  }

  function hireAll(): void {
    while (crew.length < threads) crew.push(hire())
  }

  /** A thread that dies takes only the file it was working on with it. */
  function replace(thread: Thread, error: Error): void {
    crew = crew.filter((other) => other !== thread)
    thread.busy?.file.finish(error)
    if (!stopped) crew.push(hire())
    give()
  }

  function receive(thread: Thread, message: FromThread): void {
    const { busy } = thread
    thread.busy = null
    if (busy) {
      const { file, piece, sinceMs } = busy
      file.open--
      file.pieceMs = clock.monotonicMs() - sinceMs
      file.usedMs += file.pieceMs
      if (message.kind === 'failed') {
        const failure = new Error(message.message)
        if (message.stack !== undefined) failure.stack = message.stack
        file.finish(failure)
      } else {
        file.answers[piece] = message.answer
        file.matched += message.answer.matched
        if (file.next * file.size >= file.task.rows.length && file.open === 0) file.finish()
      }
    }
    give()
  }

  /** Every idle thread takes the next piece of the file whose turn it is; of those that had as much it then goes to the end of the line. */
  function give(): void {
    for (const thread of crew) {
      if (thread.busy) continue
      const file = leastServed(files.filter(({ next, size, task }) => next * size < task.rows.length))
      if (!file) return
      files.push(...files.splice(files.indexOf(file), 1))
      const piece = file.next++
      file.open++
      const { keys, dataset, threshold, rows } = file.task
      thread.busy = { file, piece, sinceMs: clock.monotonicMs() }
      tell(thread, {
        kind: 'rows',
        id: nextId++,
        keys: [...keys],
        task: {
          dataset,
          threshold,
          rows: rows.slice(piece * file.size, (piece + 1) * file.size),
          matchesPerRow: file.matched < GENEROUS_ROWS ? MATCHES_PER_ROW : 1,
        },
      })
    }
  }

  function tell(thread: Thread, message: ToThread): void {
    thread.worker.postMessage(message)
  }

  return {
    open(key, list) {
      lists.set(key, list)
      for (const thread of crew) tell(thread, { kind: 'open', key, list })
    },
    close(key) {
      lists.delete(key)
      for (const thread of crew) tell(thread, { kind: 'close', key })
    },
    start: hireAll,
    run(task) {
      return new Promise((resolve, reject) => {
        if (stopped) return reject(new Error('The service is stopping'))
        if (task.signal.aborted) return reject(task.signal.reason)
        if (task.keys.length === 0) return reject(new Error('There is no list to screen against'))
        if (task.rows.length === 0) return resolve([])
        hireAll()
        const onAbort = () => file.finish(task.signal.reason)
        const file: Running = {
          task,
          size: task.threshold < LOW_THRESHOLD ? FEW_ROWS : ROWS_PER_PIECE,
          next: 0,
          open: 0,
          // Who comes later does not get at once all the time that the others have had.
          usedMs: files.length === 0 ? 0 : Math.min(...files.map(({ usedMs }) => usedMs)),
          pieceMs: 0,
          matched: 0,
          answers: [],
          finish(error) {
            const at = files.indexOf(file)
            if (at < 0) return
            files.splice(at, 1)
            task.signal.removeEventListener('abort', onAbort)
            if (error) reject(error)
            else resolve(file.answers)
          },
        }
        files.push(file)
        task.signal.addEventListener('abort', onAbort)
        give()
      })
    },
    async stop() {
      stopped = true
      for (const file of [...files]) file.finish(new Error('The service is stopping'))
      await Promise.all(crew.splice(0).map(({ worker }) => worker.terminate()))
    },
  }
}
