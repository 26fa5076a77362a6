import { TOKEN_PARAMETERS } from './parameters.ts'

const { dimension, scale, quantiseTolerance } = TOKEN_PARAMETERS

/**
 * Integers in the direction of the vector, of length `scale` within 0.5 %. Rounding moves the length, so the factor is found
 * by bisection: the key holder takes a probe of another length for an attack.
 */
export function quantise(vector: ArrayLike<number>): Int16Array {
  const values = Float64Array.from(vector)
  if (values.length !== dimension) throw new RangeError(`A face vector has ${dimension} numbers, not ${values.length}`)
  const length = Math.hypot(...values)
  if (!Number.isFinite(length) || length === 0) throw new RangeError('The face vector has no direction')
  const target = scale ** 2
  let low = scale / 2
  let high = scale * 2
  for (let step = 0; step < 60; step++) {
    const factor = (low + high) / 2 / length
    const off = squaredLength(values, factor) - target
    if (Math.abs(off) <= target * quantiseTolerance)
      return Int16Array.from(values, (value) => Math.round(value * factor))
    if (off < 0) low = (low + high) / 2
    else high = (low + high) / 2
  }
  throw new RangeError('The face vector cannot be rounded: a few numbers hold nearly all of its length')
}

/** Of the vector times the factor, rounded. It never falls when the factor grows, so that bisection finds its way. */
function squaredLength(values: Float64Array, factor: number): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += Math.round((values[i] as number) * factor) ** 2
  return sum
}
