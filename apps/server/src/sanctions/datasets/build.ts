import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { SnapshotFacts } from '../engine/snapshot.ts'
import type { BuildJob, BuildProgress, FromBuild } from './build-main.ts'

export interface BuildOptions {
  onProgress?: ((progress: BuildProgress) => void) | undefined
  signal?: AbortSignal | undefined
}

/** A very large list needs more than Node's default limit of 4 GB. */
const MEMORY_MB = 8192

/**
 * Builds the snapshot of a list, with its index, in a process of its own (build-main.ts). When the file at `job.draft` is
 * complete and verified, `keep` gives it the name of a version and puts it into service. The build process lives until then. When
 * this process is killed in between, the build process removes the drafts.
 */
export function buildSnapshot<T>(
  job: BuildJob,
  { onProgress, signal }: BuildOptions,
  keep: (facts: SnapshotFacts) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const child = fork(fileURLToPath(new URL('./build-main.ts', import.meta.url)), {
      execArgv: [`--max-old-space-size=${MEMORY_MB}`],
      // It reads untrusted files, so it gets no settings and no secrets.
      env: {},
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    let kept: Promise<T> | undefined
    const onAbort = () => child.kill('SIGKILL')
    // Not `disconnect`: after it, Node emits no 'close'.
    const end = () => child.kill()
    signal?.addEventListener('abort', onAbort)
    child.on('message', (message: FromBuild) => {
      if (message.kind === 'progress') onProgress?.(message.progress)
      else if (!signal?.aborted) {
        kept = message.kind === 'done' ? keep(message.facts) : Promise.reject(errorOf(message))
        kept.then(end, end)
      }
    })
    child.once('error', reject)
    // Waits for the end of the process, which may write to the draft until then.
    child.once('close', (code, killedBy) => {
      signal?.removeEventListener('abort', onAbort)
      if (kept) resolve(kept)
      else if (signal?.aborted) reject(signal.reason)
      else reject(endedWithoutResult(code, killedBy))
    })
    child.send(job, (error) => error && child.kill('SIGKILL'))
  })
}

export function endedWithoutResult(code: number | null, killedBy: NodeJS.Signals | null): Error {
  return new Error(
    killedBy
      ? `The process that builds the index was killed by ${killedBy}: check whether the machine has enough memory`
      : `The process that builds the index ended with exit code ${code} and without a result: its error output says why`,
  )
}

function errorOf({ name, message }: { name: string; message: string }): Error {
  return Object.assign(new Error(message), { name })
}
