/** One piece of work for each name at a time: whoever asks while it is under way gets what comes of it. */
export function createWorkQueue<T>() {
  const underWay = new Map<string, Promise<T>>()
  return {
    join(name: string, work: () => Promise<T>): Promise<T> {
      const known = underWay.get(name)
      if (known) return known
      const done = work().finally(() => underWay.delete(name))
      underWay.set(name, done)
      return done
    },
  }
}
