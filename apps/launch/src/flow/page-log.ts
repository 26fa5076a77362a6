import type { LaunchEventType } from '@ostiary/contract'

export type WriteEvent = (type: LaunchEventType, n?: number) => Promise<void>

/**
 * What happens on the page, for the device's log. While a capture is being submitted nothing may be added: its seal names the
 * last entry, and the server compares. What happens meanwhile is written afterwards.
 */
export function createPageLog(write: WriteEvent) {
  let held: [LaunchEventType, number | undefined][] | null = null
  const log = (type: LaunchEventType, n?: number): void => {
    if (held) held.push([type, n])
    // The device itself keeps the order; a failure to write would show as a broken log, and that is what it would be.
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
