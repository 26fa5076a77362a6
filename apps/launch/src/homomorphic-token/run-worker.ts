import type { EnrolJob, EnrolMessage, ProbeJob, ProbeMessage } from './make-message.ts'

/** Null: it failed. */
export interface WorkerAnswer {
  message: EnrolMessage | ProbeMessage | null
}

/** As much of a Worker as is used here. */
export interface TokenWorker {
  postMessage(job: EnrolJob | ProbeJob, transfer: Transferable[]): void
  terminate(): void
  onmessage: ((event: MessageEvent<WorkerAnswer>) => void) | null
  onerror: ((event: ErrorEvent) => void) | null
}

/** Slow phones included; a worker that has not answered by then never will. */
const TIMEOUT_MS = 60_000

/** Runs one job in a worker of its own and ends the worker, whatever comes of it. */
export function runWorker(start: () => TokenWorker, job: EnrolJob): Promise<EnrolMessage>
export function runWorker(start: () => TokenWorker, job: ProbeJob): Promise<ProbeMessage>
export async function runWorker(
  start: () => TokenWorker,
  job: EnrolJob | ProbeJob,
): Promise<EnrolMessage | ProbeMessage> {
  const worker = start()
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    return await new Promise((resolve, reject) => {
      const fail = () => reject(new Error('The worker of the token failed'))
      worker.onmessage = ({ data: { message } }) => (message ? resolve(message) : fail())
      worker.onerror = fail
      timer = setTimeout(fail, TIMEOUT_MS)
      const vector = job.vector.slice()
      // Moved, not copied: this page keeps no second one.
      worker.postMessage({ ...job, vector }, [vector.buffer])
    })
  } finally {
    clearTimeout(timer)
    worker.terminate()
  }
}
