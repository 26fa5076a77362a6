import { NUMBER_BYTES, TOKEN_PARAMETERS } from './parameters.ts'
import { LIMB_BITS, type Ring } from './ring.ts'

const { n, qBits, t } = TOKEN_PARAMETERS
const Q = 1n << BigInt(qBits)
const T = BigInt(t)

/**
 * The sum of one_i other_i modulo 2^88, of two elements. A plane's sum has at most 6 * 1,024 products below 2^28: below 2^41,
 * exact in floating point.
 */
export function dot(one: Ring, other: Ring): bigint {
  let [s0, s1, s2, s3, s4, s5] = [0, 0, 0, 0, 0, 0]
  for (let i = 0; i < n; i++) {
    const a0 = one[i] as number
    const a1 = one[i + n] as number
    const a2 = one[i + 2 * n] as number
    const a3 = one[i + 3 * n] as number
    const a4 = one[i + 4 * n] as number
    const a5 = one[i + 5 * n] as number
    const b0 = other[i] as number
    const b1 = other[i + n] as number
    const b2 = other[i + 2 * n] as number
    const b3 = other[i + 3 * n] as number
    const b4 = other[i + 4 * n] as number
    s0 += a0 * b0
    s1 += a0 * b1 + a1 * b0
    s2 += a0 * b2 + a1 * b1 + a2 * b0
    s3 += a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0
    s4 += a0 * b4 + a1 * b3 + a2 * b2 + a3 * b1 + a4 * b0
    s5 += a0 * (other[i + 5 * n] as number) + a1 * b4 + a2 * b3 + a3 * b2 + a4 * b1 + a5 * b0
  }
  return combine([s0, s1, s2, s3, s4, s5])
}

/** The sum of one_i small_i modulo 2^88. Exact for numbers below 2^28 in size. */
export function dotSmall(one: Ring, small: Float64Array): bigint {
  let [s0, s1, s2, s3, s4, s5] = [0, 0, 0, 0, 0, 0]
  for (let i = 0; i < n; i++) {
    const value = small[i] as number
    s0 += (one[i] as number) * value
    s1 += (one[i + n] as number) * value
    s2 += (one[i + 2 * n] as number) * value
    s3 += (one[i + 3 * n] as number) * value
    s4 += (one[i + 4 * n] as number) * value
    s5 += (one[i + 5 * n] as number) * value
  }
  return combine([s0, s1, s2, s3, s4, s5])
}

function combine(sums: readonly number[]): bigint {
  return modulo(sums.reduceRight((total, sum) => (total << BigInt(LIMB_BITS)) + BigInt(sum), 0n))
}

/** Between 0 and 2^88. */
export const modulo = (value: bigint): bigint => BigInt.asUintN(qBits, value)

export function readNumber(bytes: Uint8Array, offset: number): bigint {
  let value = 0n
  for (let at = offset + NUMBER_BYTES - 1; at >= offset; at--) value = (value << 8n) | BigInt(bytes[at] ?? 0)
  return value
}

export function writeNumber(value: bigint, bytes: Uint8Array, offset: number): void {
  let rest = modulo(value)
  for (let at = offset; at < offset + NUMBER_BYTES; at++, rest >>= 8n) bytes[at] = Number(rest & 255n)
}

/** The message of a phase: first the phase around 0, then what is left of it modulo t, around 0. */
export function messageOf(phase: bigint): number {
  const centred = BigInt.asIntN(qBits, phase)
  const rest = Number(((centred % T) + T) % T)
  return rest > t / 2 ? rest - t : rest
}

/** What is added to an opened number hides the noise in it: t times a number up to this. 0.9 leaves room for the noise. */
const FLOOD_MAX = (9n * Q) / 20n / T

/** t times a uniform number within ±FLOOD_MAX, from 20 bytes: the bias is below 2^-80. */
export const FLOOD_BYTES = 20
export function floodOf(bytes: Uint8Array): bigint {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return T * ((value % (2n * FLOOD_MAX + 1n)) - FLOOD_MAX)
}
