import { TOKEN_PARAMETERS } from '../parameters.ts'
import { LIMB_BITS, LIMBS, type Ring } from '../ring.ts'

const { n, qBits } = TOKEN_PARAMETERS

/** The coefficients of an element, between 0 and 2^88. */
export function coefficientsOf(ring: Ring): bigint[] {
  return Array.from({ length: n }, (_, j) => {
    let value = 0n
    for (let limb = LIMBS - 1; limb >= 0; limb--) value = (value << BigInt(LIMB_BITS)) + BigInt(ring[limb * n + j] ?? 0)
    return BigInt.asUintN(qBits, value)
  })
}

/** The product as one does it by hand: every coefficient with every other, and z^1024 = -1. */
export function schoolbookProduct(one: readonly bigint[], other: readonly bigint[]): bigint[] {
  const result = new Array<bigint>(n).fill(0n)
  for (const [i, a] of one.entries()) {
    if (a === 0n) continue
    for (const [j, b] of other.entries()) {
      const to = i + j
      if (to < n) result[to] = (result[to] ?? 0n) + a * b
      else result[to - n] = (result[to - n] ?? 0n) - a * b
    }
  }
  return result.map((value) => BigInt.asUintN(qBits, value))
}
