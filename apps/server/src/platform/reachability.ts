import { AppError } from './errors.ts'
import type { Log } from './log.ts'

/** Whether the database of a cell can be reached, as far as the process knows. */
export interface Reachability {
  /** A statement was answered. */
  noteAnswer(): void
  /** No connection could be made, or the server cannot store anything. */
  noteFailure(error: unknown): void
  isUp(): boolean
  stop(): void
}

/** A busy pool refuses callers too, while other statements are answered. */
const SILENCE_MS = 1_000
const PROBE_EVERY_MS = 1_000

/**
 * Logs a change once, however many callers fail. While the database is away, one probe a second checks for it; background
 * work waits for `isUp` instead of trying by itself.
 */
export function createReachability(log: Log, cell: string, probe: () => Promise<unknown>): Reachability {
  let answeredMs = Number.NEGATIVE_INFINITY
  let downSinceMs: number | undefined
  let timer: NodeJS.Timeout | undefined

  function scheduleProbe(): void {
    // The probe reports its own result.
    timer = setTimeout(() => {
      void probe()
        .catch(() => undefined)
        .then(() => {
          if (downSinceMs !== undefined && timer) scheduleProbe()
        })
    }, PROBE_EVERY_MS).unref()
  }

  return {
    noteAnswer() {
      answeredMs = performance.now()
      if (downSinceMs === undefined) return
      const durationMs = Math.round(answeredMs - downSinceMs)
      downSinceMs = undefined
      clearTimeout(timer)
      log.info({ cell, durationMs }, 'database reachable again')
    },
    noteFailure(err) {
      const nowMs = performance.now()
      if (downSinceMs !== undefined || nowMs - answeredMs < SILENCE_MS) return
      downSinceMs = nowMs
      log.warn({ cell, err }, 'database unreachable')
      scheduleProbe()
    },
    isUp: () => downSinceMs === undefined,
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

/** Whether an error says that the database is away, and not that one statement took too long. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof AppError) || error.code !== 'DEPENDENCY_DOWN') return false
  const { cause } = error
  return !(cause instanceof Error && 'code' in cause && cause.code === QUERY_CANCELED)
}
const QUERY_CANCELED = '57014'

/** Logs that background work failed. While the database is away every loop fails: the process has logged that once. */
export function logFailure(
  log: Log,
  level: 'warn' | 'error',
  fields: Record<string, unknown> & { err: unknown },
  message: string,
): void {
  log[isAway(fields.err) ? 'debug' : level](fields, message)
}
