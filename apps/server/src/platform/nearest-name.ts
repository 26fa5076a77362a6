/** Longer names are no misspelling of ours, and would cost time. */
const CHARS_MAX = 64

/**
 * The name that was probably meant, or undefined. Upper and lower case count as equal. One letter in three may be wrong, missing, too
 * many or swapped with its neighbour, but never more than three letters.
 */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  if (written.length > CHARS_MAX) return undefined
  const lower = written.toLowerCase()
  const most = Math.min(3, Math.floor(written.length / 3))
  let [best, bestDistance]: [string | undefined, number] = [undefined, most + 1]
  for (const name of names) {
    if (Math.abs(name.length - written.length) >= bestDistance) continue
    const distance = editDistance(lower, name.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [name, distance]
  }
  return best
}

/** How many letters must be inserted, deleted, replaced or swapped with their neighbour to get from one text to the other. */
export function editDistance(one: string, other: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const differs = one[i - 1] === other[j - 1] ? 0 : 1
      const least = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + differs)
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      row.push(isSwap ? Math.min(least, at(beforeLast, j - 2) + 1) : least)
    }
    beforeLast = last
    last = row
  }
  return at(last, other.length)
}

const at = (row: readonly number[], index: number): number => row[index] ?? 0
