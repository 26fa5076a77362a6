import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from './log.ts'

export interface Sweeper {
  start(): void
  /** Lets the run under way end. */
  stop(): Promise<void>
}

const IDLE_MS = 200
const AFTER_ERROR_MS = 1_000

/**
 * Runs work again and again for as long as the process lives: at once when the last run found some, after a moment when it
 * did not. For work that cannot wait for a schedule of minutes; the database is the queue, so a run that fails loses nothing.
 */
export function createSweeper({ cell, run, log }: { cell: string; run(): Promise<number>; log: Log }): Sweeper {
  const stopping = new AbortController()
  let running: Promise<void> | undefined

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      let pauseMs: number
      try {
        pauseMs = (await run()) > 0 ? 0 : IDLE_MS
      } catch (err) {
        log.warn({ err, cell }, 'a sweep failed and is tried again')
        pauseMs = AFTER_ERROR_MS
      }
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  return {
    start() {
      running ??= loop()
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}
