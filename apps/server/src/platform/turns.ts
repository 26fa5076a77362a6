import { AppError } from './errors.ts'

/** Runs work that has the same key one after the other, in the order it came. */
export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>

/**
 * Whoever waits for a database lock holds a connection meanwhile. Work that would queue at one lock queues here first, so
 * that a busy tenant takes one connection of the pool and not all of them.
 */
export function createTurns(maxWaiting = 500): InTurn {
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
