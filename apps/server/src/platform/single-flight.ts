/** Shares work: callers that ask for a key while its work is under way get the result of that work. */
export interface SingleFlight<T> {
  /**
   * The work of this key that is under way, or `work`, started now. `isCurrent` tells the work whether its result is still wanted: it
   * is not once `forget` was called for the key.
   */
  run(key: string, work: (isCurrent: () => boolean) => Promise<T>): Promise<T>
  /** The next caller starts new work, although earlier work may still be under way. */
  forget(key: string): void
}

export function createSingleFlight<T>(): SingleFlight<T> {
  const underWay = new Map<string, Promise<T>>()
  return {
    run(key, work) {
      const known = underWay.get(key)
      if (known) return known
      const isCurrent = () => underWay.get(key) === started
      const started: Promise<T> = work(isCurrent).finally(() => {
        if (isCurrent()) underWay.delete(key)
      })
      underWay.set(key, started)
      return started
    },
    forget: (key) => void underWay.delete(key),
  }
}
