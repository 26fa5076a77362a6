interface Clock {
  monotonicMs(): number
}

interface Log {
  info(fields: object, text: string): void
  error(fields: object, text: string): void
  fatal(fields: object, text: string): void
}

/** One step of stopping. At its deadline the next phase starts, even if this one is not done. */
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

export interface SignalOptions {
  isInit?: boolean
  /** Writes the last lines of the log, when everything else has ended. */
  flush?: () => Promise<void>
}

export interface Shutdown {
  /** From now on a signal runs these phases. Until then it ends the process at once. */
  afterStart(phases: readonly Phase[], log: Log, clock: Clock): void
  isStopping(): boolean
}

/**
 * Ends the process on SIGTERM and SIGINT, from the call on. Call it first. Until the phases are known the system itself ends the process,
 * at once, however busy it is; it does not do so for process 1 of a container, which gets a handler from the first moment. A handler is never
 * removed: Node loses a signal that arrives between the removal of one and the next. A second signal ends the process at once.
 */
export function handleSignals({ isInit = process.pid === 1, flush = async () => {} }: SignalOptions = {}): Shutdown {
  let stopping = false
  // There is nothing to end in order yet.
  let stop = (_reason: string, exitCode: number): unknown => process.exit(exitCode)
  const listen = () => {
    process.on('SIGTERM', () => void stop('SIGTERM', 0))
    process.on('SIGINT', () => void stop('SIGINT', 0))
  }
  if (isInit) listen()
  // Node writes warnings to standard error. A reader that is gone must not end the service.
  process.stderr.on('error', () => {})

  return {
    afterStart(phases, log, clock) {
      stop = async (signal, exitCode) => {
        if (stopping) process.exit(1)
        stopping = true
        log.info({ signal }, 'stopping')
        const clean = await runPhases(phases, log, clock)
        await flush()
        process.exit(clean ? exitCode : 1)
      }
      if (!isInit) listen()
      // After an unexpected error in a callback the process may work only by half: it is logged and treated like a signal, with a
      // failing exit code.
      process.on('uncaughtException', (err) => {
        log.fatal({ err }, 'uncaught exception')
        void stop('uncaughtException', 1)
      })
      process.on('unhandledRejection', (err) => {
        log.fatal({ err }, 'unhandled rejection')
        void stop('unhandledRejection', 1)
      })
    },
    isStopping: () => stopping,
  }
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
