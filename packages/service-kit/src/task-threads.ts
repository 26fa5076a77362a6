import { Piscina } from 'piscina'

/** Threads that do one kind of work. Each does one task at a time; more tasks wait for the first thread that is free. */
export interface TaskThreads<Task, Result> {
  /** `moved` buffers of the task go to the thread without a copy: the caller can no longer read them. */
  run(task: Task, moved?: readonly ArrayBuffer[]): Promise<Result>
  /** Fails what is open, and takes nothing more. */
  stop(): Promise<void>
}

/** Work of this kind leaves much garbage that is soon free. A small heap of its own keeps the collection cheap. */
const MEMORY = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 }

/** Calls `run` of the script, in as many threads as are needed, up to `most`. They stay, and do not keep the process alive. */
export function createTaskThreads<Task, Result>(script: URL, most: number): TaskThreads<Task, Result> {
  const pool = new Piscina<Task, Result>({
    filename: script.href,
    name: 'run',
    minThreads: 0,
    maxThreads: most,
    idleTimeout: Number.POSITIVE_INFINITY,
    recordTiming: false,
    resourceLimits: MEMORY,
  })
  let isStopped = false
  return {
    async run(task, moved = []) {
      // Without this, piscina would start new threads after the end.
      if (isStopped) throw new Error('The service is stopping')
      return pool.run(task, { transferList: [...moved] })
    },
    async stop() {
      isStopped = true
      await pool.destroy()
    },
  }
}
