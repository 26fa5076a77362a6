import { base64url } from 'jose'

/** Numbers of the feature vector that devices send (FACE3_3). */
export const VECTOR_LENGTH = 512

/**
 * A feature vector as text: one signed byte per number, scaled so that the largest number fills its byte, in base64url. Only
 * the direction is kept, because a comparison uses nothing else.
 */
export function encodeVector(vector: ArrayLike<number>): string {
  if (vector.length !== VECTOR_LENGTH) throw new RangeError(`A vector has ${VECTOR_LENGTH} numbers`)
  const numbers = Float64Array.from(vector)
  const largest = numbers.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  if (!Number.isFinite(largest) || largest === 0) throw new RangeError('The vector has no direction')
  return base64url.encode(
    new Uint8Array(Int8Array.from(numbers, (value) => Math.round((value / largest) * 127)).buffer),
  )
}

/** A vector in the same direction, of any length. */
export function decodeVector(text: string): Float32Array {
  const bytes = base64url.decode(text)
  if (bytes.length !== VECTOR_LENGTH) throw new RangeError(`A vector has ${VECTOR_LENGTH} numbers`)
  const values = new Int8Array(bytes)
  if (values.every((value) => value === 0)) throw new RangeError('The vector has no direction')
  return Float32Array.from(values)
}
