import type { Log } from './log.ts'

/** One step of stopping. At its deadline the next one starts, even if this one is not done. */
export interface Phase {
  name: string
  deadlineMs: number
  run(): Promise<unknown>
}

/**
 * Ends the process in order on SIGTERM and SIGINT. A second signal ends it at once. After an unexpected error in a callback the
 * process may work only by half: it is logged and treated like a signal, with a failing exit code.
 */
export function stopOnSignals(phases: readonly Phase[], log: Log): void {
  let isStopping = false
  const stop = async (signal: string, exitCode: number) => {
    if (isStopping) process.exit(1)
    isStopping = true
    log.info({ signal }, 'stopping')
    const isClean = await runPhases(phases, log)
    process.exit(isClean ? exitCode : 1)
  }
  process.on('SIGTERM', () => void stop('SIGTERM', 0))
  process.on('SIGINT', () => void stop('SIGINT', 0))
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (err: unknown) => {
      log.fatal({ err }, 'unexpected error')
      void stop(event, 1)
    })
}

async function runPhases(phases: readonly Phase[], log: Log): Promise<boolean> {
  let isClean = true
  for (const { name, deadlineMs, run } of phases) {
    const late = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), deadlineMs).unref())
    const outcome = await Promise.race([run().then(() => 'done' as const), late]).catch((err: unknown) => {
      log.error({ phase: name, err }, 'a step of stopping failed')
      return 'failed' as const
    })
    if (outcome === 'late') log.error({ phase: name }, 'a step of stopping missed its deadline')
    isClean &&= outcome === 'done'
  }
  return isClean
}
