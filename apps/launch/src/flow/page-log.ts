import type { LaunchEventType } from '@ostiary/contract'

export type WriteEvent = (type: LaunchEventType, n?: number) => Promise<void>

/**
 * Writes page events to the device's log. A sealed capture names the last log entry and the server compares it, so events that
 * happen during a submit are held back and written afterwards.
 */
export function createPageLog(write: WriteEvent) {
  let held: [LaunchEventType, number | undefined][] | null = null
  const log = (type: LaunchEventType, n?: number): void => {
    if (held) held.push([type, n])
    // The device keeps the order. If a write fails, the server sees a gap in the log, which is correct.
    else void write(type, n)
  }
  return {
    log,
    async whileHeld<T>(work: () => Promise<T>): Promise<T> {
      held = []
      try {
        return await work()
      } finally {
        const waiting = held
        held = null
        for (const [type, n] of waiting) log(type, n)
      }
    },
  }
}
export type PageLog = ReturnType<typeof createPageLog>
