/**
 * Adds two kernels of three by three over one bordered plane to two sums. Two at once, because reading the plane costs more than
 * multiplying: this loop is most of the time that a frame takes.
 */
export interface KernelPair {
  input: Float64Array
  /** Where the plane begins in `input`; it has a border of one zero on each side. */
  first: number
  width: number
  height: number
  weights: Float64Array
  /** Where the nine weights of each kernel begin. */
  one: number
  other: number
  oneSums: Float64Array
  otherSums: Float64Array
}

export function addKernels(pair: KernelPair): void {
  const { input, first, width, height, weights, one, other, oneSums, otherSums } = pair
  const stride = width + 2
  const a0 = weights[one] as number
  const a1 = weights[one + 1] as number
  const a2 = weights[one + 2] as number
  const a3 = weights[one + 3] as number
  const a4 = weights[one + 4] as number
  const a5 = weights[one + 5] as number
  const a6 = weights[one + 6] as number
  const a7 = weights[one + 7] as number
  const a8 = weights[one + 8] as number
  const b0 = weights[other] as number
  const b1 = weights[other + 1] as number
  const b2 = weights[other + 2] as number
  const b3 = weights[other + 3] as number
  const b4 = weights[other + 4] as number
  const b5 = weights[other + 5] as number
  const b6 = weights[other + 6] as number
  const b7 = weights[other + 7] as number
  const b8 = weights[other + 8] as number
  for (let y = 0, at = 0; y < height; y++) {
    let upper = first + y * stride
    let left0 = input[upper] as number
    let left1 = input[upper + stride] as number
    let left2 = input[upper + 2 * stride] as number
    let mid0 = input[upper + 1] as number
    let mid1 = input[upper + stride + 1] as number
    let mid2 = input[upper + 2 * stride + 1] as number
    for (const end = at + width; at < end; at++, upper++) {
      const right0 = input[upper + 2] as number
      const right1 = input[upper + stride + 2] as number
      const right2 = input[upper + 2 * stride + 2] as number
      oneSums[at] =
        (oneSums[at] as number) +
        (a0 * left0 + a1 * mid0 + a2 * right0) +
        (a3 * left1 + a4 * mid1 + a5 * right1) +
        (a6 * left2 + a7 * mid2 + a8 * right2)
      otherSums[at] =
        (otherSums[at] as number) +
        (b0 * left0 + b1 * mid0 + b2 * right0) +
        (b3 * left1 + b4 * mid1 + b5 * right1) +
        (b6 * left2 + b7 * mid2 + b8 * right2)
      left0 = mid0
      left1 = mid1
      left2 = mid2
      mid0 = right0
      mid1 = right1
      mid2 = right2
    }
  }
}
