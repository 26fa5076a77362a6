/** Dimensions of every search copy. Shorter vectors are padded with zeros, which changes no cosine. */
export const SEARCH_DIMENSION = 512
const ROUNDS = 3
const SCALE = 1 / Math.sqrt(SEARCH_DIMENSION)

/** The signs of a rotation: one bit for each dimension and round, from a secret of the group. */
export const ROTATION_BYTES = (ROUNDS * SEARCH_DIMENSION) / 8

export type Rotate = (unit: Float64Array) => Float64Array

/** A vector of length 1 in the same direction; undefined for the zero vector and for values that are not finite. */
export function normalise(values: ArrayLike<number>): Float64Array | undefined {
  const vector = Float64Array.from(values)
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  if (!Number.isFinite(largest) || largest === 0) return undefined
  // Scaled first, so that squares neither overflow nor vanish.
  let sum = 0
  for (let i = 0; i < vector.length; i++) {
    const value = (vector[i] ?? 0) / largest
    vector[i] = value
    sum += value * value
  }
  const length = Math.sqrt(sum)
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) / length
  return vector
}

export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0)
  return sum
}

/** The mean direction of several vectors. If they cancel each other out, the first is returned. */
export function middleOf(units: readonly Float64Array[]): Float64Array {
  const [first] = units
  if (!first) throw new RangeError('middleOf needs at least one vector')
  if (units.length === 1) return first
  const sum = new Float64Array(first.length)
  for (const unit of units) for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (unit[i] ?? 0)
  return normalise(sum) ?? first
}

/**
 * A secret orthogonal transform: three rounds of sign flips and a Walsh-Hadamard transform. It keeps every angle, so that
 * search works on rotated vectors, and shows nothing of the original to a reader who lacks the secret. It is not
 * encryption: an attacker with enough pairs of original and rotated vectors can compute it.
 */
export function createRotation(secret: Uint8Array): Rotate {
  if (secret.length !== ROTATION_BYTES) throw new RangeError(`A rotation needs ${ROTATION_BYTES} bytes`)
  const signs = Float64Array.from({ length: ROUNDS * SEARCH_DIMENSION }, (_, bit) =>
    ((secret[bit >> 3] ?? 0) >> (bit & 7)) & 1 ? -SCALE : SCALE,
  )
  return (unit) => {
    const vector = new Float64Array(SEARCH_DIMENSION)
    vector.set(unit)
    for (let round = 0; round < ROUNDS; round++) {
      const start = round * SEARCH_DIMENSION
      for (let i = 0; i < SEARCH_DIMENSION; i++) vector[i] = (vector[i] ?? 0) * (signs[start + i] ?? 0)
      hadamard(vector)
    }
    return vector
  }
}

/** The Walsh-Hadamard transform in place, without its scale. */
function hadamard(vector: Float64Array): void {
  for (let half = 1; half < vector.length; half *= 2) {
    for (let start = 0; start < vector.length; start += half * 2) {
      for (let i = start; i < start + half; i++) {
        const a = vector[i] ?? 0
        const b = vector[i + half] ?? 0
        vector[i] = a + b
        vector[i + half] = a - b
      }
    }
  }
}

/** The binary form of pgvector's halfvec: count, zero, then half floats, all big-endian. */
export function toHalfvec(vector: Float64Array): Buffer {
  const bytes = Buffer.alloc(4 + vector.length * 2)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  view.setUint16(0, vector.length)
  for (let i = 0; i < vector.length; i++) view.setFloat16(4 + i * 2, vector[i] ?? 0)
  return bytes
}

/** A vector as it is sealed: half floats, little-endian. */
export function toBytes(vector: Float64Array): Buffer {
  const bytes = Buffer.alloc(vector.length * 2)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let i = 0; i < vector.length; i++) view.setFloat16(i * 2, vector[i] ?? 0, true)
  return bytes
}

export function fromBytes(bytes: Buffer): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return Float64Array.from({ length: bytes.length / 2 }, (_, i) => view.getFloat16(i * 2, true))
}
