import { TOKEN_PARAMETERS } from './parameters.ts'

const { n } = TOKEN_PARAMETERS
/** Complex numbers of a transform: coefficients j and j + 512 are folded into one. */
const POINTS = n / 2

/**
 * Products in Z[z]/(z^1024 + 1) by a complex transform of half the size. The folded polynomial sum (a_j + i a_(j+512)) z^j is
 * taken modulo z^512 - i, and each level splits z^(2m) - w^2 into z^m - w and z^m + w: no separate twisting, no bit reversal,
 * and the product of two elements is the product point by point. The conjugate of an element (z to z^-1) has the conjugate
 * points.
 *
 * The results are exact, because the error before rounding stays below 1/2. Brent, Percival and Zimmermann ("Error bounds on
 * complex floating-point multiplication", 2007): a product of x and y by transforms of 2^9 points has in every coefficient an
 * error below |x| |y| ((1 + e)^27 (1 + e sqrt 5)^28 (1 + m)^27 - 1), e = 2^-53, where m bounds the error of the roots. The roots
 * here are rounded correctly, so m <= e / sqrt 2, and the factor is below 109 e. Two elements of 15-bit limbs: |x|, |y| <= 2^14 *
 * sqrt(1024) = 2^19, error below 2^38 * 109 * 2^-53 < 0.0034. At most 30 such products are summed before the inverse (6 pairs of
 * limbs, 5 pairs of elements), which adds at most 29 e of the sum of the sizes: 30 * 0.0034 + 30 * 29 * 2^-15 < 0.13. An element
 * of 30-bit limbs (below 2^29.01) with one of numbers up to 1: |x| |y| <= 2^34.01 * 2^5, 5 products: below 0.04.
 * transform.test.ts runs the worst cases.
 */
export function forward(source: Float64Array, from: number, points: Float64Array, to: number): void {
  const re = points.subarray(to, to + POINTS)
  const im = points.subarray(to + POINTS, to + n)
  re.set(source.subarray(from, from + POINTS))
  im.set(source.subarray(from + POINTS, from + n))
  for (let quarter = POINTS / 4, first = 1; quarter >= 2; quarter /= 4, first *= 4) split(re, im, quarter, first)
  const { cos, sin } = getRoots()
  for (let a = 0, b = 1, node = POINTS / 2; a < POINTS; a += 2, b += 2, node++) {
    const c = cos[node] as number
    const s = sin[node] as number
    const bRe = re[b] as number
    const bIm = im[b] as number
    const tRe = bRe * c - bIm * s
    const tIm = bRe * s + bIm * c
    const aRe = re[a] as number
    const aIm = im[a] as number
    re[a] = aRe + tRe
    im[a] = aIm + tIm
    re[b] = aRe - tRe
    im[b] = aIm - tIm
  }
}

/** Two levels in one pass, which saves a third of the time: a block of four quarters under `node`, its halves under 2 node and 2 node + 1. */
function split(re: Float64Array, im: Float64Array, quarter: number, first: number): void {
  const { cos, sin } = getRoots()
  for (let start = 0, node = first; start < POINTS; start += 4 * quarter, node++) {
    const c = cos[node] as number
    const s = sin[node] as number
    const cLow = cos[2 * node] as number
    const sLow = sin[2 * node] as number
    const cHigh = cos[2 * node + 1] as number
    const sHigh = sin[2 * node + 1] as number
    for (let i0 = start; i0 < start + quarter; i0++) {
      const i1 = i0 + quarter
      const i2 = i1 + quarter
      const i3 = i2 + quarter
      const r2 = re[i2] as number
      const m2 = im[i2] as number
      const r3 = re[i3] as number
      const m3 = im[i3] as number
      const t2Re = r2 * c - m2 * s
      const t2Im = r2 * s + m2 * c
      const t3Re = r3 * c - m3 * s
      const t3Im = r3 * s + m3 * c
      const r0 = re[i0] as number
      const m0 = im[i0] as number
      const r1 = re[i1] as number
      const m1 = im[i1] as number
      const low1Re = r1 + t3Re
      const low1Im = m1 + t3Im
      const high1Re = r1 - t3Re
      const high1Im = m1 - t3Im
      const lRe = low1Re * cLow - low1Im * sLow
      const lIm = low1Re * sLow + low1Im * cLow
      const hRe = high1Re * cHigh - high1Im * sHigh
      const hIm = high1Re * sHigh + high1Im * cHigh
      re[i0] = r0 + t2Re + lRe
      im[i0] = m0 + t2Im + lIm
      re[i1] = r0 + t2Re - lRe
      im[i1] = m0 + t2Im - lIm
      re[i2] = r0 - t2Re + hRe
      im[i2] = m0 - t2Im + hIm
      re[i3] = r0 - t2Re - hRe
      im[i3] = m0 - t2Im - hIm
    }
  }
}

/** Back to coefficients, rounded to integers. Destroys `points`. */
export function inverse(points: Float64Array, from: number, target: Float64Array, to: number): void {
  restore(points, from)
  for (let j = 0; j < n; j++) target[to + j] = round(points[from + j] as number)
}

/** The coefficients before they are rounded, in the place of the points. */
export function restore(points: Float64Array, from: number): void {
  const { cos, sin } = getRoots()
  const re = points.subarray(from, from + POINTS)
  const im = points.subarray(from + POINTS, from + n)
  for (let a = 0, b = 1, node = POINTS / 2; a < POINTS; a += 2, b += 2, node++) {
    const c = cos[node] as number
    const s = sin[node] as number
    const dRe = (re[a] as number) - (re[b] as number)
    const dIm = (im[a] as number) - (im[b] as number)
    re[a] = (re[a] as number) + (re[b] as number)
    im[a] = (im[a] as number) + (im[b] as number)
    re[b] = dRe * c + dIm * s
    im[b] = dIm * c - dRe * s
  }
  for (let quarter = 2, first = POINTS / 8; first >= 1; quarter *= 4, first /= 4) join(re, im, quarter, first)
  for (let j = 0; j < POINTS; j++) {
    re[j] = (re[j] as number) / POINTS
    im[j] = (im[j] as number) / POINTS
  }
}

/** Undoes `split`, except for a factor of 4. */
function join(re: Float64Array, im: Float64Array, quarter: number, first: number): void {
  const { cos, sin } = getRoots()
  for (let start = 0, node = first; start < POINTS; start += 4 * quarter, node++) {
    const c = cos[node] as number
    const s = sin[node] as number
    const cLow = cos[2 * node] as number
    const sLow = sin[2 * node] as number
    const cHigh = cos[2 * node + 1] as number
    const sHigh = sin[2 * node + 1] as number
    for (let i0 = start; i0 < start + quarter; i0++) {
      const i1 = i0 + quarter
      const i2 = i1 + quarter
      const i3 = i2 + quarter
      const r0 = re[i0] as number
      const m0 = im[i0] as number
      const r1 = re[i1] as number
      const m1 = im[i1] as number
      const r2 = re[i2] as number
      const m2 = im[i2] as number
      const r3 = re[i3] as number
      const m3 = im[i3] as number
      const low1Re = (r0 - r1) * cLow + (m0 - m1) * sLow
      const low1Im = (m0 - m1) * cLow - (r0 - r1) * sLow
      const high1Re = (r2 - r3) * cHigh + (m2 - m3) * sHigh
      const high1Im = (m2 - m3) * cHigh - (r2 - r3) * sHigh
      const d0Re = r0 + r1 - (r2 + r3)
      const d0Im = m0 + m1 - (m2 + m3)
      const d1Re = low1Re - high1Re
      const d1Im = low1Im - high1Im
      re[i0] = r0 + r1 + (r2 + r3)
      im[i0] = m0 + m1 + (m2 + m3)
      re[i1] = low1Re + high1Re
      im[i1] = low1Im + high1Im
      re[i2] = d0Re * c + d0Im * s
      im[i2] = d0Im * c - d0Re * s
      re[i3] = d1Re * c + d1Im * s
      im[i3] = d1Im * c - d1Re * s
    }
  }
}

/** To the nearest integer, for numbers below 2^51 in size: beside 1.5 * 2^52 the floating-point numbers are the integers. */
const ROUNDER = 1.5 * 2 ** 52
const round = (value: number): number => value + ROUNDER - ROUNDER

interface Roots {
  cos: Float64Array
  sin: Float64Array
}
let roots: Roots | undefined

/** The root w by which a node of the tree of splits multiplies: node 1 splits z^512 - i, node m has the children 2m, 2m + 1. */
function getRoots(): Roots {
  if (roots) return roots
  const powers = powersOfRoot()
  const cos = new Float64Array(POINTS)
  const sin = new Float64Array(POINTS)
  // In steps of pi / 1024: the node with z^(2m) = e^(i angle) has w = e^(i angle / 2), and its children have angles of w and -w.
  const angles = new Float64Array(2 * POINTS)
  angles[1] = n / 2
  for (let node = 1; node < POINTS; node++) {
    const angle = (angles[node] as number) / 2
    angles[2 * node] = angle
    angles[2 * node + 1] = angle + n
    const [c, s] = powers[angle] as [number, number]
    cos[node] = c
    sin[node] = s
  }
  roots = { cos, sin }
  return roots
}

/**
 * e^(i pi k / 1024) for k below 1,024, computed with 160 bits and rounded once. Math.sin may differ between browsers, and the
 * bound above needs roots that are certain.
 */
function powersOfRoot(): [number, number][] {
  const bits = 160n
  const one = 1n << bits
  let c = 0n
  let s = one
  for (let turn = n / 2; turn > 1; turn /= 2) {
    // From the cosine and sine of an angle to those of its half.
    const half = squareRoot(((one + c) << bits) / 2n)
    s = (s << (bits - 1n)) / half
    c = half
  }
  const unit = 2 ** -160
  const powers: [number, number][] = []
  for (let k = 0, x = one, y = 0n; k < n; k++) {
    powers.push([Number(x) * unit, Number(y) * unit])
    const next = (x * c - y * s) >> bits
    y = (x * s + y * c) >> bits
    x = next
  }
  return powers
}

function squareRoot(value: bigint): bigint {
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1)
  for (;;) {
    const next = (root + value / root) >> 1n
    if (next >= root) return root
    root = next
  }
}
