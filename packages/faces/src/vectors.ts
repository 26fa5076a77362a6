/** A vector in bytes: each value times `scale` is close to the original. */
export interface Quantised {
  values: Int8Array<ArrayBuffer>
  scale: number
}

/** The same direction with length 1. A vector of zeros has no direction and stays as it is. */
export function normalise(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector))
  return length === 0 ? vector.slice() : vector.map((value) => value / length)
}

/** 1 for the same direction, 0 for perpendicular vectors, -1 for the opposite direction. */
export function cosine(one: Float32Array, other: Float32Array): number {
  const lengths = Math.sqrt(dot(one, one) * dot(other, other))
  return lengths === 0 ? 0 : dot(one, other) / lengths
}

/** Euclidean. */
export function distance(one: Float32Array, other: Float32Array): number {
  checkLengths(one, other)
  let square = 0
  for (let n = 0; n < one.length; n++) square += ((one[n] ?? 0) - (other[n] ?? 0)) ** 2
  return Math.sqrt(square)
}

/** One byte per value, scaled so that the largest fills it. This costs no measurable accuracy. */
export function quantise(vector: Float32Array): Quantised {
  let largest = 0
  for (const value of vector) largest = Math.max(largest, Math.abs(value))
  const scale = largest / 127
  const values = new Int8Array(vector.length)
  if (scale > 0) for (const [n, value] of vector.entries()) values[n] = Math.round(value / scale)
  return { values, scale }
}

function dot(one: Float32Array, other: Float32Array): number {
  checkLengths(one, other)
  let sum = 0
  for (let n = 0; n < one.length; n++) sum += (one[n] ?? 0) * (other[n] ?? 0)
  return sum
}

function checkLengths(one: Float32Array, other: Float32Array): void {
  if (one.length !== other.length) throw new Error(`Vectors of ${one.length} and ${other.length} cannot be compared`)
}
