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

/** Runs one build in its own process and waits for it. It leaves a complete, verified draft or throws. */
export function runBuild(job: BuildJob, { onProgress, signal }: BuildOptions = {}): Promise<SnapshotFacts> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const child = fork(fileURLToPath(new URL('./build-main.ts', import.meta.url)), {
      execArgv: [`--max-old-space-size=${MEMORY_MB}`],
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
    // Waits for the process to end: only then is it certain that it no longer writes to the draft.
    child.once('close', (code, killedBy) => {
      signal?.removeEventListener('abort', onAbort)
      if (signal?.aborted) reject(signal.reason)
      else if (outcome?.kind === 'done') resolve(outcome.facts)
      else if (outcome?.kind === 'failed') reject(errorOf(outcome))
      else
        reject(
          new Error(
            `The import process was killed (${killedBy ?? `code ${code}`}): check whether the machine has enough memory`,
          ),
        )
    })
    child.send(job, (error) => error && child.kill('SIGKILL'))
  })
}

function errorOf({ name, message }: { name: string; message: string }): Error {
  return Object.assign(new Error(message), { name })
}
