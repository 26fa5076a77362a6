/** Seeded randomness: the same seed draws the same documents on every machine. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number
  between(low: number, high: number): number
  below(count: number): number
  /** About normal: mean 0, deviation 1, never beyond 4.3. */
  normal(): number
  pick<Item>(items: readonly Item[]): Item
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const below = (count: number) => Math.floor(next() * count)
  return {
    next,
    below,
    between: (low, high) => low + (high - low) * next(),
    normal: () => (next() + next() + next() + next() + next() + next() - 3) * Math.SQRT2,
    pick: (items) => {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('there is nothing to pick from')
      return item
    },
  }
}
