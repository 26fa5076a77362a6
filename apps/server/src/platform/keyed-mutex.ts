import { AppError } from './errors.ts'

/** Runs work with the same key one at a time, in the order of the calls. */
export type WithLock = <T>(key: string, work: () => Promise<T>) => Promise<T>

/**
 * A transaction that waits for a database lock holds its connection while it waits. Work that would wait for the same lock waits
 * here first, so a busy tenant occupies one connection of the pool and not all of them.
 */
export function createKeyedMutex(maxWaiting = 500): WithLock {
  const last = new Map<string, Promise<unknown>>()
  const waiting = new Map<string, number>()
  return (key, work) => {
    const ahead = waiting.get(key) ?? 0
    if (ahead >= maxWaiting)
      return Promise.reject(new AppError('unavailable', 'DEPENDENCY_DOWN', 'Too many are waiting'))
    waiting.set(key, ahead + 1)
    const before = last.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    const settled = mine.catch(() => {})
    last.set(key, settled)
    void settled.then(() => {
      const left = (waiting.get(key) ?? 1) - 1
      if (left > 0) waiting.set(key, left)
      else waiting.delete(key)
      if (last.get(key) === settled) last.delete(key)
    })
    return mine
  }
}
