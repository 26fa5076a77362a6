/** Vectors of invented faces: 512 numbers in a repeatable direction for each seed. */
export function faceOf(seed: number): number[] {
  const next = createNumbers(seed)
  return Array.from({ length: 512 }, () => next() + next() + next() + next() - 2)
}

/** Another picture of the same face: a cosine of about .75. */
export function sameFace(face: readonly number[], seed: number): number[] {
  const other = faceOf(seed)
  return face.map((value, index) => value + 0.88 * (other[index] ?? 0))
}

function createNumbers(seed: number): () => number {
  let state = Math.imul(seed + 1, 2_654_435_761) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
