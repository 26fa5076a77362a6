/**
 * The worker pool that screens files. Each file is split into chunks. The next chunk always comes from the file that has used
 * the least thread time, so a small file does not wait for a large one, nor for one whose rows take very long.
 */
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../platform/clock.ts'
import type { SharedList } from './open-list.ts'
import { MATCHES_PER_ROW, type RowsAnswer, type ScreeningRow } from './rows.ts'
import type { FromThread, ToThread } from './thread.ts'

export interface FileTask {
  /** Keys of lists that `open` has opened. */
  keys: readonly string[]
  dataset: string
  threshold: number
  rows: readonly ScreeningRow[]
  signal: AbortSignal
}

export interface Pool {
  open(key: string, list: SharedList): void
  close(key: string): void
  /** Spawns the threads ahead of the first file: each needs half a second to load its code. */
  start(): void
  /** Resolves with one answer per chunk, in the order of the rows. Rejects when the signal fires or a thread fails. */
  run(task: FileTask): Promise<RowsAnswer[]>
  stop(): Promise<void>
}

/** Shared lists do not count towards this. Without a limit a thread's garbage grows to several times what it needs. */
const THREAD_MEMORY = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 512 }
const ROWS_PER_CHUNK = 250
/** Low thresholds find many matches per row. Small chunks keep an aborted file from occupying its thread for long. */
const ROWS_PER_SMALL_CHUNK = 25
const LOW_THRESHOLD = 0.7
/** After this many matched rows, each further row of a file shows only its best match. This limits the size of the answer. */
const FULLY_SHOWN_ROWS = 5_000

/** The thread time that a file has used, how long its latest chunk took, and how many of its chunks are running. */
export interface FileUsage {
  usedMs: number
  chunkMs: number
  runningChunks: number
}

/** The file that has used the least time, with the expected time of its running chunks. The first one if several are equal. */
export function leastServed<T extends FileUsage>(files: readonly T[]): T | undefined {
  const expectedMs = ({ usedMs, runningChunks, chunkMs }: FileUsage) => usedMs + runningChunks * chunkMs
  return files.reduce<T | undefined>(
    (least, file) => (least && expectedMs(least) <= expectedMs(file) ? least : file),
    undefined,
  )
}

interface RunningFile extends FileUsage {
  task: FileTask
  /** Rows per chunk. */
  size: number
  next: number
  matched: number
  answers: RowsAnswer[]
  finish(error?: Error): void
}

interface PoolWorker {
  thread: Worker
  busy: { file: RunningFile; chunk: number; sinceMs: number } | null
}

export function createPool(threads: number, clock: Pick<Clock, 'monotonicMs'>): Pool {
  const lists = new Map<string, SharedList>()
  const files: RunningFile[] = []
  let workers: PoolWorker[] = []
  let nextId = 0
  let stopped = false

  function spawn(): PoolWorker {
    const thread = new Worker(new URL('./thread.ts', import.meta.url), { resourceLimits: THREAD_MEMORY })
    const worker: PoolWorker = { thread, busy: null }
    thread.unref()
    thread.on('message', (message: FromThread) => receive(worker, message))
    thread.on('error', (error) => replace(worker, error instanceof Error ? error : new Error(String(error))))
    for (const [key, list] of lists) post(worker, { kind: 'open', key, list })
    return worker
  }

  function spawnAll(): void {
    while (workers.length < threads) workers.push(spawn())
  }

  /** A thread that dies fails only the file that it was working on. */
  function replace(worker: PoolWorker, error: Error): void {
    workers = workers.filter((other) => other !== worker)
    worker.busy?.file.finish(error)
    if (!stopped) workers.push(spawn())
    dispatch()
  }

  function receive(worker: PoolWorker, message: FromThread): void {
    const { busy } = worker
    worker.busy = null
    if (busy) {
      const { file, chunk, sinceMs } = busy
      file.runningChunks--
      file.chunkMs = clock.monotonicMs() - sinceMs
      file.usedMs += file.chunkMs
      if (message.kind === 'failed') {
        const failure = new Error(message.message)
        if (message.stack !== undefined) failure.stack = message.stack
        file.finish(failure)
      } else {
        file.answers[chunk] = message.answer
        file.matched += message.answer.matched
        if (file.next * file.size >= file.task.rows.length && file.runningChunks === 0) file.finish()
      }
    }
    dispatch()
  }

  /** Gives every idle thread a chunk of the least served file, then moves that file to the end, so that equal files alternate. */
  function dispatch(): void {
    for (const worker of workers) {
      if (worker.busy) continue
      const file = leastServed(files.filter(({ next, size, task }) => next * size < task.rows.length))
      if (!file) return
      files.push(...files.splice(files.indexOf(file), 1))
      const chunk = file.next++
      file.runningChunks++
      const { keys, dataset, threshold, rows } = file.task
      worker.busy = { file, chunk, sinceMs: clock.monotonicMs() }
      post(worker, {
        kind: 'rows',
        id: nextId++,
        keys: [...keys],
        task: {
          dataset,
          threshold,
          rows: rows.slice(chunk * file.size, (chunk + 1) * file.size),
          matchesPerRow: file.matched < FULLY_SHOWN_ROWS ? MATCHES_PER_ROW : 1,
        },
      })
    }
  }

  function post(worker: PoolWorker, message: ToThread): void {
    worker.thread.postMessage(message)
  }

  return {
    open(key, list) {
      lists.set(key, list)
      for (const worker of workers) post(worker, { kind: 'open', key, list })
    },
    close(key) {
      lists.delete(key)
      for (const worker of workers) post(worker, { kind: 'close', key })
    },
    start: spawnAll,
    run(task) {
      return new Promise((resolve, reject) => {
        if (stopped) return reject(new Error('The service is stopping'))
        if (task.signal.aborted) return reject(task.signal.reason)
        if (task.keys.length === 0) return reject(new Error('There is no list to screen against'))
        if (task.rows.length === 0) return resolve([])
        spawnAll()
        const onAbort = () => file.finish(task.signal.reason)
        const file: RunningFile = {
          task,
          size: task.threshold < LOW_THRESHOLD ? ROWS_PER_SMALL_CHUNK : ROWS_PER_CHUNK,
          next: 0,
          runningChunks: 0,
          // Starts level with the least served file. From 0, a late file would keep the threads until it had caught up.
          usedMs: files.length === 0 ? 0 : Math.min(...files.map(({ usedMs }) => usedMs)),
          chunkMs: 0,
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
        dispatch()
      })
    },
    async stop() {
      stopped = true
      for (const file of [...files]) file.finish(new Error('The service is stopping'))
      await Promise.all(workers.splice(0).map(({ thread }) => thread.terminate()))
    },
  }
}
