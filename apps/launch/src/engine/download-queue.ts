/**
 * Runs at most `most` tasks at a time, in the order in which they were added. A browser opens six HTTP/1.1 connections to an origin: the
 * downloads leave enough of them for consent, cancel and the other calls of the flow.
 */
export function createDownloadQueue(most: number): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0

  return async (task) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      // The place goes to the next task, so `running` stays.
      if (next) next()
      else running--
    }
  }
}
