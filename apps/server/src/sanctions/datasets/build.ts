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
 * Builds the snapshot of a list, with its index, in a process of its own (build-main.ts). When the promise resolves, the file at
 * `job.draft` is complete and verified; the caller then gives it the name of a version.
 */
export function buildSnapshot(job: BuildJob, { onProgress, signal }: BuildOptions = {}): Promise<SnapshotFacts> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const child = fork(fileURLToPath(new URL('./build-main.ts', import.meta.url)), {
      execArgv: [`--max-old-space-size=${MEMORY_MB}`],
      // It reads untrusted files, so it gets no settings and no secrets.
      env: {},
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    let outcome: FromBuild | undefined
    const onAbort = () => child.kill('SIGKILL')
    signal?.addEventListener('abort', onAbort)
    child.on('message', (message: FromBuild) => {
      if (message.kind === 'progress') onProgress?.(message.progress)
      else outcome = message
    })
    child.once('error', reject)
    // Waits for the end of the process, which may write to the draft until then.
    child.once('close', (code, killedBy) => {
      signal?.removeEventListener('abort', onAbort)
      if (signal?.aborted) reject(signal.reason)
      else if (outcome?.kind === 'done') resolve(outcome.facts)
      else if (outcome?.kind === 'failed') reject(errorOf(outcome))
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
