import { dot, modulo } from './numbers.ts'
import { HEADER_BYTES, PAIRS, RING_BYTES, TOKEN_PARAMETERS } from './parameters.ts'
import { addProduct, createSum, type Spectrum, toRing, toSpectrum } from './products.ts'
import { add, LIMBS, type Ring, readRing, reversed } from './ring.ts'

const { k } = TOKEN_PARAMETERS

/** One party's shares: of s_i, and of s_i conj(s_j) for i <= j. */
export interface Share {
  s: Ring[]
  pairs: Ring[]
}

/** An encrypted element: its phase is b + sum of a_i s_i. */
export interface Ciphertext<Element = Ring> {
  b: Element
  a: Element[]
}

export function readRings(bytes: Uint8Array, offset: number, count: number): Ring[] {
  return Array.from({ length: count }, (_, index) => readRing(bytes, offset + index * RING_BYTES))
}

export function readProbe(probe: Uint8Array): Ciphertext {
  const [b, ...a] = readRings(probe, HEADER_BYTES, k + 1)
  return { b: b as Ring, a }
}

export function toShare(elements: readonly Ring[]): Share {
  return { s: elements.slice(0, k), pairs: elements.slice(k, k + PAIRS) }
}

export function spectraOf({ b, a }: Ciphertext): Ciphertext<Spectrum> {
  return { b: toSpectrum(b), a: a.map((element) => toSpectrum(element)) }
}

/**
 * One party's weights for opening inner products with Y = (v; u_j). Coefficient 0 of X conj(Y) is the plain inner product of the
 * coefficients of X and Y. With X = (b; a_i) it is <b + sum a_i s_i, v + sum u_j s_j>
 * = <b, v + sum u_j s_j> + sum <a_i, conj(s_i) v + sum_j conj(s_i) s_j u_j>,
 * because <a s, c> = <a, conj(s) c>. These are the weights; the same ones open the score (X is the token) and the norm (X is the
 * probe). With shares in the place of s_i and of the products of two, the openings of both parties add up to the phase. v itself
 * belongs to no share: `withConstant` is true for one party, the matcher.
 */
export function openingWeights(
  { s, pairs }: Share,
  probe: Ciphertext,
  probePoints: Ciphertext<Spectrum>,
  withConstant: boolean,
): Ciphertext {
  const own = s.map((element) => toSpectrum(element))
  const ownPairs = pairs.map((element) => toSpectrum(element))
  const last = createSum(LIMBS)
  for (const [j, element] of own.entries()) addProduct(last, element, probePoints.a[j] as Spectrum)
  const a = own.map((element, i) => {
    const sum = createSum(LIMBS)
    addProduct(sum, element, probePoints.b, true)
    for (const [j, points] of probePoints.a.entries()) {
      // conj(s_i) s_j: the stored pair is s_i conj(s_j) for i <= j, so that it is the conjugate unless i > j.
      addProduct(sum, ownPairs[pairIndex(Math.min(i, j), Math.max(i, j))] as Spectrum, points, i <= j)
    }
    return toRing(sum)
  })
  const b = toRing(last)
  return { b: withConstant ? add(b, probe.b) : b, a }
}

/** The place of (i, j), i <= j, among (0,0) (0,1) (0,2) (0,3) (1,1) … */
const pairIndex = (i: number, j: number): number => i * k - (i * (i - 1)) / 2 + (j - i)

export function openWith(weights: Ciphertext, { b, a }: Ciphertext): bigint {
  return modulo(a.reduce((sum, element, i) => sum + dot(element, weights.a[i] as Ring), dot(b, weights.b)))
}

/** Opens the coefficient `position` of the part of a phase that one share gives: of the sum of a_j s_j. */
export function createOpener({ s }: Share): (a: readonly Ring[], position: number) => bigint {
  // Turning a share round takes as long as opening with it, and only two positions are ever opened.
  const turned = new Map<number, Ring[]>()
  return (a, position) => {
    const shares = turned.get(position) ?? s.map((element) => reversed(element, position))
    turned.set(position, shares)
    return modulo(a.reduce((sum, element, j) => sum + dot(element, shares[j] as Ring), 0n))
  }
}
