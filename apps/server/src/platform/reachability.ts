import { judgeStore, type Outage, SILENCE, type StoreFault } from '@ostiary/service-kit/outage'
import { AppError } from './errors.ts'
import type { Log } from './log.ts'

/** Whether the database of a cell can be reached and stores what it is given, as far as the process knows. */
export interface Reachability {
  /** A statement was answered. */
  noteAnswer(): void
  /** A statement or a login failed, which says this. */
  noteFailure(error: unknown, fault: StoreFault): void
  outage(): Outage | undefined
  /** When the last statement was answered, on the clock of `performance`. */
  answeredMs(): number
  /** Asks now. */
  probe(known?: Outage): Promise<Outage | undefined>
  stop(): void
}

/** A busy pool refuses callers too, while other statements are answered. */
const SILENCE_MS = 1_000
const PROBE_EVERY_MS = 1_000

/** What the log says, once, however many callers fail. */
const MESSAGES: Record<Outage, string> = {
  refused: 'database refuses the login: check role, password and database of its URL',
  'read-only': 'database is read-only',
  standby: 'database is a standby',
  unreplicated: 'database has no replica that its commits wait for',
  full: 'database has no space left',
  unreachable: 'database unreachable',
}

/**
 * During an outage one probe a second checks for its end; background work waits for that instead of trying by itself. A failure that says more
 * than "no answer" is looked into at once: the probe decides, because one connection may be older than what is wrong.
 */
export function createReachability(
  log: Log,
  cell: string,
  ask: (known?: Outage) => Promise<Outage | undefined>,
): Reachability {
  let answeredMs = Number.NEGATIVE_INFINITY
  let outage: Outage | undefined
  let sinceMs = 0
  let timer: NodeJS.Timeout | undefined
  let probing: Promise<Outage | undefined> | undefined
  let isStopped = false

  function enter(found: Outage | undefined, err?: unknown): void {
    if (found === outage) return
    const nowMs = performance.now()
    clearTimeout(timer)
    if (found === undefined) log.info({ cell, durationMs: Math.round(nowMs - sinceMs) }, 'database works again')
    else log.warn({ cell, err }, MESSAGES[found])
    if (outage === undefined) sinceMs = nowMs
    outage = found
    if (found !== undefined) scheduleProbe()
  }

  function scheduleProbe(): void {
    clearTimeout(timer)
    if (isStopped) return
    timer = setTimeout(() => {
      void probe(outage).then(() => {
        if (outage !== undefined) scheduleProbe()
      })
    }, PROBE_EVERY_MS).unref()
  }

  function probe(known = outage, err?: unknown): Promise<Outage | undefined> {
    probing ??= ask(known)
      .then((found) => {
        // It had no connection, but others have.
        const isBusy = found === 'unreachable' && performance.now() - answeredMs < SILENCE_MS
        if (!isStopped) enter(isBusy ? undefined : found, err)
        return outage
      })
      .finally(() => {
        probing = undefined
      })
    return probing
  }

  return {
    noteAnswer() {
      answeredMs = performance.now()
      if (outage === 'unreachable') enter(undefined)
    },
    noteFailure(error, fault) {
      if (outage !== undefined) return
      if (fault.outage === 'unreachable') {
        if (performance.now() - answeredMs < SILENCE_MS) return
        enter('unreachable', error)
      }
      // It may say more.
      void probe(fault.outage, error)
    },
    outage: () => outage,
    answeredMs: () => answeredMs,
    probe,
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** Whether an error says that the database is away, and not that one statement took too long or met another one. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== 'DEPENDENCY_DOWN') return false
  const { cause } = error
  const fault = judgeStore(cause)
  return fault === undefined || fault.outage !== undefined || (cause instanceof Error && cause.message === SILENCE)
}

/** Logs that background work failed. While the database is away every loop fails: the process has logged that once. */
export function logFailure(
  log: Log,
  level: 'warn' | 'error',
  fields: Record<string, unknown> & { err: unknown },
  message: string,
): void {
  log[isAway(fields.err) ? 'debug' : level](fields, message)
}
