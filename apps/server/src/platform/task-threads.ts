import { Worker } from 'node:worker_threads'

/** Threads that do one kind of work. Each does one task at a time; more tasks wait for the first thread that is free. */
export interface TaskThreads<Task, Result> {
  /** `moved` buffers of the task go to the thread without a copy: the caller can no longer read them. */
  run(task: Task, moved?: readonly ArrayBuffer[]): Promise<Result>
  stop(): Promise<void>
}

/** What a thread answers to a task: the result, or the name and the message of the error. */
export type ThreadAnswer<Result> = { result: Result } | { error: { name: string; message: string } }

/** A failure in a thread. `name` is that of the error there. */
export class ThreadError extends Error {
  constructor({ name, message }: { name: string; message: string }) {
    super(message)
    this.name = name
  }
}

/** Work of this kind leaves much garbage that is soon free. A small heap of its own keeps the collection cheap. */
const MEMORY = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 }

interface Waiting<Task, Result> {
  task: Task
  moved: readonly ArrayBuffer[]
  resolve(result: Result): void
  reject(error: Error): void
}

/** Starts a thread when a task finds all others busy, up to `most`. They do not keep the process alive. */
export function createTaskThreads<Task, Result>(script: URL, most: number): TaskThreads<Task, Result> {
  const waiting: Waiting<Task, Result>[] = []
  const idle: Worker[] = []
  const busy = new Map<Worker, Waiting<Task, Result>>()
  let isStopped = false

  function start(): Worker {
    const thread = new Worker(script, { resourceLimits: MEMORY })
    thread.unref()
    thread.on('message', (answer: ThreadAnswer<Result>) => {
      const done = take(thread)
      idle.push(thread)
      if (done && 'result' in answer) done.resolve(answer.result)
      else if (done && 'error' in answer) done.reject(new ThreadError(answer.error))
      dispatch()
    })
    // A thread that dies fails only its own task, and the next task starts another.
    const fail = (error: Error) => {
      const at = idle.indexOf(thread)
      if (at >= 0) idle.splice(at, 1)
      take(thread)?.reject(error)
      dispatch()
    }
    thread.on('error', (error) => fail(error instanceof Error ? error : new Error(String(error))))
    thread.on('exit', () => fail(new Error('A thread has ended')))
    return thread
  }

  function take(thread: Worker): Waiting<Task, Result> | undefined {
    const task = busy.get(thread)
    busy.delete(thread)
    return task
  }

  function dispatch(): void {
    while (waiting.length > 0 && !isStopped) {
      const thread = idle.pop() ?? (busy.size < most ? start() : undefined)
      const next = thread && waiting.shift()
      if (!next) return
      busy.set(thread, next)
      thread.postMessage(next.task, next.moved)
    }
  }

  return {
    run(task, moved = []) {
      if (isStopped) return Promise.reject(new Error('The service is stopping'))
      return new Promise((resolve, reject) => {
        waiting.push({ task, moved, resolve, reject })
        dispatch()
      })
    },
    async stop() {
      isStopped = true
      const threads = [...idle, ...busy.keys()]
      for (const { reject } of [...waiting.splice(0), ...busy.values()]) reject(new Error('The service is stopping'))
      busy.clear()
      await Promise.all(threads.map((thread) => thread.terminate()))
    },
  }
}
