import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

/** One step of stopping. A phase that is not done by its deadline is left behind and the next one starts. */
export interface Phase {
  name: string
  deadlineMs: number
  run(): Promise<unknown>
}

/** Runs the phases in order. Returns true when every one ended in time and without an error. */
export async function runPhases(phases: readonly Phase[], log: Log, clock: Clock): Promise<boolean> {
  let clean = true
  for (const phase of phases) {
    const started = clock.monotonicMs()
    const outcome = await Promise.race([settle(phase.run()), deadline(phase.deadlineMs)])
    const durationMs = Math.round(clock.monotonicMs() - started)
    if (outcome === 'done') log.info({ phase: phase.name, durationMs }, 'shutdown phase done')
    else if (outcome === 'late') log.error({ phase: phase.name, durationMs }, 'shutdown phase missed its deadline')
    else log.error({ phase: phase.name, err: outcome }, 'shutdown phase failed')
    clean &&= outcome === 'done'
  }
  return clean
}

/**
 * Before a process is up there is nothing to end in order: a signal ends it at once. Without a handler of its own it
 * could not be stopped while starting where it runs as process 1 of a container. Returns how to take the handlers away.
 */
export function exitOnSignals(): () => void {
  const exit = () => process.exit(1)
  process.on('SIGTERM', exit)
  process.on('SIGINT', exit)
  return () => {
    process.off('SIGTERM', exit)
    process.off('SIGINT', exit)
  }
}

/**
 * Stops the process on SIGTERM and SIGINT. A second signal ends it at once. Without this, an unexpected error in a
 * callback would leave a half-working process: it is logged and treated like a signal, with a failing exit code.
 */
export function stopOnSignals(phases: readonly Phase[], log: Log, clock: Clock): void {
  let stopping = false
  async function stop(signal: string, exitCode: number): Promise<void> {
    if (stopping) process.exit(1)
    stopping = true
    log.info({ signal }, 'stopping')
    const clean = await runPhases(phases, log, clock)
    process.exit(clean ? exitCode : 1)
  }
  process.on('SIGTERM', () => void stop('SIGTERM', 0))
  process.on('SIGINT', () => void stop('SIGINT', 0))
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'uncaught exception')
    void stop('uncaughtException', 1)
  })
  process.on('unhandledRejection', (err) => {
    log.fatal({ err }, 'unhandled rejection')
    void stop('unhandledRejection', 1)
  })
}

async function settle(work: Promise<unknown>): Promise<'done' | Error> {
  try {
    await work
    return 'done'
  } catch (error) {
    return error instanceof Error ? error : new Error('not an error')
  }
}

function deadline(ms: number): Promise<'late'> {
  return new Promise((resolve) => {
    setTimeout(() => resolve('late'), ms).unref()
  })
}
