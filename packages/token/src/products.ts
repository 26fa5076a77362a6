import { TOKEN_PARAMETERS } from './parameters.ts'
import { createRing, LIMB_BITS, LIMBS, type Ring, reduce } from './ring.ts'
import { forward, inverse } from './transform.ts'

const { n } = TOKEN_PARAMETERS
const POINTS = n / 2

/** The transforms of an element's planes: 512 real parts and 512 imaginary parts for each. */
export type Spectrum = Float64Array

/** Two limbs in one plane: exact only for products with numbers -1, 0 and 1, which cost half as much with it. */
export const WIDE_LIMBS = LIMBS / 2
const WIDE_STEP = 2 ** LIMB_BITS

/** For products of two elements, and with numbers of up to 2^14. */
export function toSpectrum(ring: Ring): Spectrum {
  const spectrum = new Float64Array(LIMBS * n)
  for (let plane = 0; plane < LIMBS * n; plane += n) forward(ring, plane, spectrum, plane)
  return spectrum
}

export function toWideSpectrum(ring: Ring): Spectrum {
  const spectrum = new Float64Array(WIDE_LIMBS * n)
  const wide = new Float64Array(n)
  for (let limb = 0; limb < WIDE_LIMBS; limb++) {
    const low = 2 * limb * n
    for (let j = 0; j < n; j++) wide[j] = (ring[low + j] as number) + WIDE_STEP * (ring[low + n + j] as number)
    forward(wide, 0, spectrum, limb * n)
  }
  return spectrum
}

export function toSmallSpectrum(values: Float64Array): Spectrum {
  const spectrum = new Float64Array(n)
  forward(values, 0, spectrum, 0)
  return spectrum
}

export const createSum = (planes: number): Spectrum => new Float64Array(planes * n)

/** Sets sum to sum + one * other, or + conj(one) * other. Products of limbs beyond 2^88 are left out. */
export function addProduct(sum: Spectrum, one: Spectrum, other: Spectrum, conjugateOne = false): void {
  const sign = conjugateOne ? -1 : 1
  for (let i = 0; i < LIMBS * n; i += n) {
    for (let j = 0; i + j < LIMBS * n; j += n) {
      const to = i + j
      for (let re = 0, im = POINTS; re < POINTS; re++, im++) {
        const aRe = one[i + re] as number
        const aIm = sign * (one[i + im] as number)
        const bRe = other[j + re] as number
        const bIm = other[j + im] as number
        sum[to + re] = (sum[to + re] as number) + (aRe * bRe - aIm * bIm)
        sum[to + im] = (sum[to + im] as number) + (aRe * bIm + aIm * bRe)
      }
    }
  }
}

/** Sets sum to sum + small * element, or + conj(small) * element, where `small` has one plane. */
export function addSmallProduct(sum: Spectrum, small: Spectrum, element: Spectrum, conjugateSmall = false): void {
  const sign = conjugateSmall ? -1 : 1
  for (let at = 0; at < sum.length; at += n) {
    for (let re = 0, im = POINTS; re < POINTS; re++, im++) {
      const aRe = small[re] as number
      const aIm = sign * (small[im] as number)
      const bRe = element[at + re] as number
      const bIm = element[at + im] as number
      sum[at + re] = (sum[at + re] as number) + (aRe * bRe - aIm * bIm)
      sum[at + im] = (sum[at + im] as number) + (aRe * bIm + aIm * bRe)
    }
  }
}

/** The element of a sum of products, plus `small`, in new memory or in that of `ring`. Destroys the sum. */
export function toRing(sum: Spectrum, small?: Float64Array, ring = createRing()): Ring {
  const step = (LIMBS * n) / sum.length
  if (step > 1) ring.fill(0)
  for (let at = 0; at < sum.length; at += n) inverse(sum, at, ring, at * step)
  if (small) for (let j = 0; j < n; j++) ring[j] = (ring[j] as number) + (small[j] as number)
  return reduce(ring)
}

/** The numbers of a product of two small elements. */
export function multiplySmall(one: Spectrum, other: Spectrum, conjugateOther: boolean): Float64Array {
  const sum = createSum(1)
  addSmallProduct(sum, other, one, conjugateOther)
  const values = new Float64Array(n)
  inverse(sum, 0, values, 0)
  return values
}
