/** Loads one thing after another and uses the one that was asked for last, however late an earlier one comes. */
export function createLatestOnly<T>(use: (loaded: T) => void): (load: () => Promise<T>) => Promise<void> {
  let asked = 0
  return async (load) => {
    const number = ++asked
    const loaded = await load()
    if (number === asked) use(loaded)
  }
}
