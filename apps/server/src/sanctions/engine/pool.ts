/**
 * The worker pool that screens files. Each file is split into chunks that end after a short time. The next chunk always comes from the
 * owner that has used the least thread time, and of its files from the one that has used the least. So a small file does not wait
 * for a large one, nor for one whose rows take very long, and a tenant gains nothing by sending many files.
 */
import { Worker } from 'node:worker_threads'
import { RUN_LIMITS, SANCTIONS_LIMITS } from '@ostiary/contract'
import type { Clock } from '../../platform/clock.ts'
import { AppError } from '../../platform/errors.ts'
import type { Rows } from '../packed-people.ts'
import { HIT_BYTES } from './hits.ts'
import type { SharedList } from './open-list.ts'
import type { RowsAnswer, ScreeningRow } from './rows.ts'
import type { FromThread, ToThread } from './thread.ts'

export interface FileTask {
  /** Files of the same owner share one share of the threads. */
  owner: string
  /** Keys of lists that `open` has opened. */
  keys: readonly string[]
  dataset: string
  threshold: number
  rows: Rows<ScreeningRow>
  signal: AbortSignal
  /** Processor time that these rows may take, where it is less than what a file may take. */
  cpuMsMax?: number
  /** Takes the processor time of each chunk from the budget of the caller. */
  spend?(cpuMs: number): void
  /** The key of the run's hashes, where the file is a part of a run. */
  hitKey?: Uint8Array
}

export interface Pool {
  open(key: string, list: SharedList): void
  close(key: string): void
  /** Spawns the threads ahead of the first file: each needs half a second to load its code. */
  start(): void
  /**
   * Resolves with one answer per chunk, in the order of the rows. Rejects when the signal fires, a thread fails or the file has used
   * more processor time than a file may.
   */
  run(task: FileTask): Promise<RowsAnswer[]>
  stop(): Promise<void>
}

export interface PoolLimits {
  /** A chunk ends after the row during which this time has passed. */
  endChunkAfterMs?: number
  /**
   * Processor time that the rows of one file may take below the default threshold. At it every file completes, as the interface says:
   * what its rows take comes out of the caller's budget and out of its share of the threads.
   */
  fileCpuMs?: number
}

/** Shared lists do not count towards this. Without a limit a thread's garbage grows to several times what it needs. */
const THREAD_MEMORY = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 512 }
const ROWS_PER_CHUNK = 250
/** Crafted rows take 20 ms to a second each, usual ones 0.2 ms. This is how long a file waits for another owner's chunk. */
const END_CHUNK_AFTER_MS = 50
/** After this many matched rows, each further row of a file shows only its best match. This limits the size of the answer. */
const FULLY_SHOWN_ROWS = 5_000

/** The thread time that a file or an owner has used, how long its latest chunk took, and how many of its chunks are running. */
export interface Usage {
  usedMs: number
  chunkMs: number
  runningChunks: number
}

/** Who has used the least time, with the expected time of the running chunks. The first one if several are equal. */
export function leastServed<T extends Usage>(candidates: readonly T[]): T | undefined {
  const expectedMs = ({ usedMs, runningChunks, chunkMs }: Usage) => usedMs + runningChunks * chunkMs
  return candidates.reduce<T | undefined>(
    (least, each) => (least && expectedMs(least) <= expectedMs(each) ? least : each),
    undefined,
  )
}

/** A newcomer starts level with the least served. From 0, it would keep the threads until it had caught up. */
function newUsage(others: readonly Usage[]): Usage {
  const usedMs = others.length === 0 ? 0 : Math.min(...others.map((other) => other.usedMs))
  return { usedMs, chunkMs: 0, runningChunks: 0 }
}

interface Owner extends Usage {
  name: string
  files: RunningFile[]
}

/** Rows of a file, by their numbers. */
interface Span {
  from: number
  to: number
}

interface RunningFile extends Usage {
  task: FileTask
  owner: Owner
  /** Rows that no thread has yet, in order. */
  waiting: Span[]
  cpuMs: number
  matched: number
  hits: number
  answers: { from: number; answer: RowsAnswer }[]
  finish(error?: Error): void
}

interface PoolWorker {
  thread: Worker
  /** False while the thread loads its code. Rows that it got then would wait for it while another thread is free. */
  isReady: boolean
  busy: { file: RunningFile; span: Span; sinceMs: number } | null
}

export function createPool(
  threads: number,
  clock: Pick<Clock, 'monotonicMs'>,
  { endChunkAfterMs = END_CHUNK_AFTER_MS, fileCpuMs = Number.POSITIVE_INFINITY }: PoolLimits = {},
): Pool {
  const lists = new Map<string, SharedList>()
  let owners: Owner[] = []
  let workers: PoolWorker[] = []
  let nextId = 0
  let stopped = false

  function spawn(): PoolWorker {
    const thread = new Worker(new URL('./thread.ts', import.meta.url), { resourceLimits: THREAD_MEMORY })
    const worker: PoolWorker = { thread, isReady: false, busy: null }
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
    if (worker.busy) {
      endChunk(worker.busy)
      worker.busy.file.finish(error)
    }
    if (!stopped) workers.push(spawn())
    dispatch()
  }

  function mostCpuMs({ task: { threshold, cpuMsMax = Number.POSITIVE_INFINITY } }: RunningFile): number {
    return threshold < SANCTIONS_LIMITS.scoreThresholdDefault ? Math.min(fileCpuMs, cpuMsMax) : cpuMsMax
  }

  function endChunk({ file, sinceMs }: NonNullable<PoolWorker['busy']>): void {
    const tookMs = clock.monotonicMs() - sinceMs
    for (const usage of [file, file.owner]) {
      usage.runningChunks--
      usage.chunkMs = tookMs
      usage.usedMs += tookMs
    }
    forgetIfDone(file.owner)
  }

  /** An owner whose file was dropped keeps its threads until their chunks end. Forgotten earlier, it could take more of them. */
  function forgetIfDone(owner: Owner): void {
    if (owner.files.length === 0 && owner.runningChunks === 0) owners = owners.filter((other) => other !== owner)
  }

  function receive(worker: PoolWorker, message: FromThread): void {
    const { busy } = worker
    worker.isReady = true
    worker.busy = null
    if (busy && message.kind === 'answer') busy.file.task.spend?.(message.cpuMs)
    if (busy && message.kind !== 'ready') {
      const { file, span } = busy
      endChunk(busy)
      if (message.kind === 'failed') {
        const failure = new Error(message.message)
        if (message.stack !== undefined) failure.stack = message.stack
        file.finish(failure)
      } else {
        const { answer } = message
        file.answers.push({ from: span.from, answer })
        file.matched += answer.matched
        file.hits += (answer.hits?.length ?? 0) / HIT_BYTES
        file.cpuMs += message.cpuMs
        const rest = { from: span.from + answer.rows, to: span.to }
        if (rest.from < rest.to) file.waiting.unshift(rest)
        if (file.hits > RUN_LIMITS.hits) file.finish(tooManyHits())
        else if (file.waiting.length === 0 && file.runningChunks === 0) file.finish()
        else if (file.cpuMs > mostCpuMs(file)) file.finish(tooCostly(file.task, mostCpuMs(file)))
      }
    }
    dispatch()
  }

  /** Gives idle threads chunks of the least served file of the least served owner, then moves both to the end, so that equals alternate. */
  function dispatch(): void {
    for (;;) {
      const owner = leastServed(owners.filter((each) => each.runningChunks < threads && each.files.some(hasRows)))
      const file = owner && leastServed(owner.files.filter(hasRows))
      const worker = file && idleWorker()
      if (!worker) return
      moveToEnd(owners, owner)
      moveToEnd(owner.files, file)
      give(worker, file)
    }
  }

  /**
   * One extra thread starts when a second owner finds all threads busy. No owner alone can take it, so that the other does not wait for
   * the end of a chunk.
   */
  function idleWorker(): PoolWorker | undefined {
    if (workers.length === threads && workers.every(({ busy }) => busy) && !stopped) workers.push(spawn())
    return workers.find(({ isReady, busy }) => isReady && !busy)
  }

  function give(worker: PoolWorker, file: RunningFile): void {
    const span = takeRows(file)
    for (const usage of [file, file.owner]) usage.runningChunks++
    const { keys, dataset, threshold, rows, hitKey } = file.task
    worker.busy = { file, span, sinceMs: clock.monotonicMs() }
    post(worker, {
      kind: 'rows',
      id: nextId++,
      keys: [...keys],
      task: {
        dataset,
        threshold,
        rows: rows.slice(span.from, span.to),
        fullyShownRows: Math.max(0, FULLY_SHOWN_ROWS - file.matched),
        ...(hitKey && { hitKey }),
      },
      mostMs: endChunkAfterMs,
    })
  }

  function post(worker: PoolWorker, message: ToThread): void {
    worker.thread.postMessage(message)
  }

  function ownerOf(name: string): Owner {
    const known = owners.find((owner) => owner.name === name)
    if (known) return known
    const owner: Owner = { name, files: [], ...newUsage(owners) }
    owners.push(owner)
    return owner
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
        const owner = ownerOf(task.owner)
        const onAbort = () => file.finish(task.signal.reason)
        const file: RunningFile = {
          task,
          owner,
          waiting: [{ from: 0, to: task.rows.length }],
          cpuMs: 0,
          matched: 0,
          hits: 0,
          answers: [],
          ...newUsage(owner.files),
          finish(error) {
            const at = owner.files.indexOf(file)
            if (at < 0) return
            owner.files.splice(at, 1)
            forgetIfDone(owner)
            task.signal.removeEventListener('abort', onAbort)
            if (error) reject(error)
            else resolve(inOrder(file.answers))
          },
        }
        owner.files.push(file)
        task.signal.addEventListener('abort', onAbort)
        dispatch()
      })
    },
    async stop() {
      stopped = true
      for (const file of owners.flatMap(({ files }) => files)) file.finish(new Error('The service is stopping'))
      await Promise.all(workers.splice(0).map(({ thread }) => thread.terminate()))
    },
  }
}

const hasRows = ({ waiting }: RunningFile) => waiting.length > 0

/** Takes the rows of the next chunk out of those that wait. */
function takeRows({ waiting }: RunningFile): Span {
  const [first] = waiting
  if (!first) throw new Error('The file has no rows left')
  const to = Math.min(first.to, first.from + ROWS_PER_CHUNK)
  if (to < first.to) waiting[0] = { from: to, to: first.to }
  else waiting.shift()
  return { from: first.from, to }
}

const inOrder = (answers: RunningFile['answers']) => answers.sort((a, b) => a.from - b.from).map(({ answer }) => answer)

function moveToEnd<T>(all: T[], one: T): void {
  all.push(...all.splice(all.indexOf(one), 1))
}

function tooCostly({ cpuMsMax }: FileTask, mostMs: number): AppError {
  const took = `Comparing these rows took more than ${mostMs / 1000} s of processor time`
  const why = `: below scoreThreshold ${SANCTIONS_LIMITS.scoreThresholdDefault} a file may not take more`
  return new AppError('too_large', 'FILE_TOO_COSTLY', cpuMsMax === undefined ? took + why : took)
}

export const tooManyHits = () =>
  new AppError(
    'conflict',
    'RUN_CONFLICT',
    `A run keeps at most ${RUN_LIMITS.hits} hits: raise scoreThreshold, or screen without a run`,
  )
