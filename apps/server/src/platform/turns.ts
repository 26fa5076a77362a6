/** Runs work that has the same key one after the other, in the order it came. */
export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>

/**
 * Whoever waits for a database lock holds a connection meanwhile. Work that would queue at one lock queues here first, so
 * that a busy tenant takes one connection of the pool and not all of them.
 */
export function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    const settled = mine.catch(() => {})
    last.set(key, settled)
    void settled.then(() => {
      if (last.get(key) === settled) last.delete(key)
    })
    return mine
  }
}
