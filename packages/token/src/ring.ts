import { RING_BYTES, TOKEN_PARAMETERS } from './parameters.ts'

const { n } = TOKEN_PARAMETERS

/**
 * A ring element modulo 2^88: six planes of 1,024 limbs. A limb is an integer of 15 bits between -2^14 and 2^14; the last has
 * the 13 bits that are left. The element's coefficient j is the sum of planes[l][j] * 2^(15 l). Signed limbs are small enough
 * for products by floating point that are exact (transform.ts has the bound).
 */
export type Ring = Float64Array

export const LIMBS = 6
export const LIMB_BITS = 15
const BASE = 2 ** LIMB_BITS
const HALF = BASE / 2
const TOP_BASE = 2 ** (TOKEN_PARAMETERS.qBits - LIMB_BITS * (LIMBS - 1))
const TOP_HALF = TOP_BASE / 2

export const createRing = (): Ring => new Float64Array(LIMBS * n)

/** Carries until every limb is in its range again. Takes limbs of up to 2^52 in size; what exceeds 2^88 falls away. */
export function reduce(ring: Ring): Ring {
  for (let j = 0; j < n; j++) {
    let carry = 0
    for (let at = j; at < (LIMBS - 1) * n; at += n) {
      const value = (ring[at] as number) + carry
      carry = Math.floor((value + HALF) / BASE)
      ring[at] = value - carry * BASE
    }
    const top = (LIMBS - 1) * n + j
    const value = (ring[top] as number) + carry
    ring[top] = value - Math.floor((value + TOP_HALF) / TOP_BASE) * TOP_BASE
  }
  return ring
}

export function add(one: Ring, other: Ring): Ring {
  const sum = createRing()
  for (let at = 0; at < sum.length; at++) sum[at] = (one[at] as number) + (other[at] as number)
  return reduce(sum)
}

export function subtract(one: Ring, other: Ring): Ring {
  const difference = createRing()
  for (let at = 0; at < difference.length; at++) difference[at] = (one[at] as number) - (other[at] as number)
  return reduce(difference)
}

/** The element whose coefficients are these numbers, each below 2^52 in size. */
export function fromSmall(values: ArrayLike<number>): Ring {
  const ring = createRing()
  ring.set(values)
  return reduce(ring)
}

/** Reads little-endian coefficients of 11 bytes, into new memory or into that of `ring`. */
export function readRing(bytes: Uint8Array, offset = 0, ring = createRing()): Ring {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, RING_BYTES)
  for (let j = 0, at = 0; j < n; j++, at += 11) {
    const low = view.getInt32(at, true)
    const middle = view.getInt32(at + 4, true)
    const high = view.getUint16(at + 8, true) | (view.getUint8(at + 10) << 16)
    const l0 = low & 0x7fff
    const l1 = ((low >>> 15) & 0x7fff) + ((l0 + HALF) >> 15)
    const l2 = ((low >>> 30) | ((middle & 0x1fff) << 2)) + ((l1 + HALF) >> 15)
    const l3 = ((middle >>> 13) & 0x7fff) + ((l2 + HALF) >> 15)
    const l4 = ((middle >>> 28) | ((high & 0x7ff) << 4)) + ((l3 + HALF) >> 15)
    const l5 = (high >>> 11) + ((l4 + HALF) >> 15)
    ring[j] = centred(l0)
    ring[j + n] = centred(l1)
    ring[j + 2 * n] = centred(l2)
    ring[j + 3 * n] = centred(l3)
    ring[j + 4 * n] = centred(l4)
    ring[j + 5 * n] = ((l5 + TOP_HALF) & (TOP_BASE - 1)) - TOP_HALF
  }
  return ring
}

const centred = (limb: number): number => ((limb + HALF) & (BASE - 1)) - HALF

export function writeRing(ring: Ring, bytes: Uint8Array, offset = 0): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, RING_BYTES)
  for (let j = 0, at = 0; j < n; j++, at += 11) {
    const l0 = ring[j] as number
    const l1 = (ring[j + n] as number) + (l0 >> 15)
    const l2 = (ring[j + 2 * n] as number) + (l1 >> 15)
    const l3 = (ring[j + 3 * n] as number) + (l2 >> 15)
    const l4 = (ring[j + 4 * n] as number) + (l3 >> 15)
    const l5 = (ring[j + 5 * n] as number) + (l4 >> 15)
    const middle = ((l2 & 0x7fff) >>> 2) | ((l3 & 0x7fff) << 13) | (l4 << 28)
    const high = ((l4 & 0x7fff) >>> 4) | ((l5 & 0x1fff) << 11)
    view.setInt32(at, (l0 & 0x7fff) | ((l1 & 0x7fff) << 15) | (l2 << 30), true)
    view.setInt32(at + 4, middle, true)
    view.setUint16(at + 8, high & 0xffff, true)
    view.setUint8(at + 10, high >>> 16)
  }
}

/**
 * r with r_i = values_(position - i), signs by z^1024 = -1: the plain sum of a_i r_i is the coefficient `position` of the
 * product of a and `values`. Takes an element, or one plane of small numbers.
 */
export function reversed(values: Float64Array, position: number): Float64Array {
  const result = new Float64Array(values.length)
  for (let plane = 0; plane < values.length; plane += n) {
    for (let i = 0; i < n; i++) {
      const from = position - i
      result[plane + i] = from >= 0 ? (values[plane + from] as number) : -(values[plane + from + n] as number)
    }
  }
  return result
}
