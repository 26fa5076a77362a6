/** Cells with what they show. Pixels are kept as whole numbers: a 32nd of a deviation each. */
export interface Cells {
  pixels: Int8Array
  labels: Uint8Array
  /** Right and down for each cell, in 256ths of a pitch. */
  offsets: Int8Array
}

export const PIXEL_STEPS = 32
export const OFFSET_STEPS = 256

export function joinCells(parts: readonly Cells[]): Cells {
  return {
    pixels: Int8Array.from(concat(parts.map(({ pixels }) => pixels))),
    labels: Uint8Array.from(concat(parts.map(({ labels }) => labels))),
    offsets: Int8Array.from(concat(parts.map(({ offsets }) => offsets))),
  }
}

function concat(parts: readonly (Int8Array | Uint8Array)[]): Int16Array {
  const joined = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
