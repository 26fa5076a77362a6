import { AppError } from './errors.ts'

/** Runs work with the same key one at a time, in the order of the calls. */
export type WithLock = <T>(key: string, work: () => Promise<T>) => Promise<T>

export interface KeyedMutexOptions {
  /** Works with one key that run or wait. The next one is refused. */
  most?: number
  refusal?: () => AppError
}

/**
 * A transaction that waits for a database lock holds its connection while it waits. Work that would wait for the same lock waits
 * here first, so a busy tenant occupies one connection of the pool and not all of them.
 */
export function createKeyedMutex({ most = 500, refusal = tooMany }: KeyedMutexOptions = {}): WithLock {
  const last = new Map<string, Promise<unknown>>()
  const waiting = new Map<string, number>()
  return (key, work) => {
    const ahead = waiting.get(key) ?? 0
    if (ahead >= most) return Promise.reject(refusal())
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

const tooMany = () => new AppError('unavailable', 'DEPENDENCY_DOWN', 'Too many are waiting')
