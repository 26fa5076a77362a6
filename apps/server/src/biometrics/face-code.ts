import { CODE_BYTES } from './code-scan.ts'

const HALF_BITS = CODE_BYTES * 4

/**
 * The code of a search copy: one bit for each dimension, set where the value is above that of the middle of all vectors. Two vectors with
 * an angle of a between what differs from the middle differ in about a/180° of the bits. Without the middle, faces of a model that
 * gathers all of them in a narrow cone would have nearly the same code. PostgreSQL computes the same as
 * binary_quantize(embedding - middle).
 */
export function codeOf(embedding: Buffer, middle: Float64Array): Uint8Array {
  const values = new DataView(embedding.buffer, embedding.byteOffset, embedding.length)
  const code = new Uint8Array(CODE_BYTES)
  for (let i = 0; i < CODE_BYTES * 8; i++) {
    if (values.getFloat16(4 + i * 2) > (middle[i] ?? 0)) code[i >> 3] = (code[i >> 3] ?? 0) | (0x80 >> (i & 7))
  }
  return code
}

/** PostgreSQL writes a half-precision number with as many digits as tell it from its neighbours. */
export function readMiddle(text: string): Float64Array {
  return Float64Array.from(JSON.parse(text) as number[], (value) => Math.f16round(value))
}

/**
 * In how many of the first 256 bits a vector may differ that has at least this cosine to the probe: the mean and so many standard deviations. One
 * in 700 exceeds three, and one in 40 two, at exactly this cosine, and next to none at a higher one. The middle is what all vectors share; bits tell
 * what differs from it.
 */
export function sieveFor(cosineMin: number, middle: Float64Array, deviations: number): number {
  const shared = middle.reduce((sum, value) => sum + value * value, 0)
  const cosine = Math.max(-1, Math.min(1, (cosineMin - shared) / (1 - shared)))
  const share = Math.acos(cosine) / Math.PI
  return Math.floor(HALF_BITS * share + deviations * Math.sqrt(HALF_BITS * share * (1 - share)))
}
