/** The known word that was most likely meant. Undefined when none is close: a wrong guess is worse than none. */
export function closest(typed: string, known: Iterable<string>): string | undefined {
  const edits = [...known].map((word) => ({ word, count: editsBetween(typed, word) }))
  const [best] = edits.toSorted((one, other) => one.count - other.count)
  if (best === undefined || best.count === 0) return undefined
  return best.count <= Math.max(1, Math.floor(Math.min(typed.length, best.word.length) / 3)) ? best.word : undefined
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editsBetween(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let row = 1; row <= one.length; row++) {
    const line = [row]
    rows.push(line)
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      line[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (isSame ? 0 : 1),
        isSwap ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
  }
  return at(one.length, other.length)
}
