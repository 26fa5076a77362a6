/** A convolution of three by three, zero instead of less, then the largest of four. Keeps what its way back needs. */
import { addKernels, type Layer } from '@ostiary/documents'

interface Shape {
  from: number
  to: number
  width: number
  height: number
}

export function createConvolution({ from, to, width, height }: Shape) {
  const stride = width + 2
  const area = stride * (height + 2)
  const pooledArea = (width * height) / 4
  const input = new Float64Array(from * area)
  const sums = new Float64Array(width * height)
  const otherSums = new Float64Array(width * height)
  const pooled = new Float64Array(to * pooledArea)
  /** Which of the pixels was the largest: its upper left neighbour in `input`. */
  const chosen = new Int32Array(to * pooledArea)
  const slopes = new Float64Array(to * pooledArea)
  const inputSlopes = new Float64Array(from * area)

  function load(values: Float64Array): void {
    for (let channel = 0; channel < from; channel++)
      for (let y = 0; y < height; y++)
        for (let x = 0; x < width; x++)
          input[channel * area + (y + 1) * stride + x + 1] = values[(channel * height + y) * width + x] as number
  }

  function forward({ weights, biases }: Layer): void {
    for (let channel = 0; channel < to; channel += 2) {
      sums.fill(biases[channel] as number)
      otherSums.fill(biases[channel + 1] as number)
      for (let source = 0; source < from; source++) {
        const [one, other] = [(channel * from + source) * 9, ((channel + 1) * from + source) * 9]
        addKernels({ input, first: source * area, width, height, weights, one, other, oneSums: sums, otherSums })
      }
      pool(channel, sums)
      pool(channel + 1, otherSums)
    }
  }

  function pool(channel: number, sums: Float64Array): void {
    let out = channel * pooledArea
    for (let y = 0; y < height; y += 2)
      for (let x = 0; x < width; x += 2, out++) {
        let [largest, where] = [0, -1]
        for (let corner = 0; corner < 4; corner++) {
          const [cornerY, cornerX] = [y + (corner >> 1), x + (corner & 1)]
          const value = sums[cornerY * width + cornerX] as number
          if (value > largest) [largest, where] = [value, cornerY * stride + cornerX]
        }
        pooled[out] = largest
        chosen[out] = where
      }
  }

  /** Takes `slopes`; adds to the gradient and, unless this is the first convolution, gives the slopes of the one before. */
  function backward({ weights }: Layer, gradient: Layer, before: Float64Array | undefined): void {
    if (before) inputSlopes.fill(0)
    for (let channel = 0; channel < to; channel++)
      for (let out = channel * pooledArea; out < (channel + 1) * pooledArea; out++) {
        const slope = slopes[out] as number
        const where = chosen[out] as number
        if (where < 0 || slope === 0) continue
        gradient.biases[channel] = (gradient.biases[channel] as number) + slope
        for (let source = 0; source < from; source++) {
          const kernel = (channel * from + source) * 9
          spread(weights, gradient.weights, { kernel, at: source * area + where, slope, isFirst: before === undefined })
        }
      }
    if (before) unload(before)
  }

  interface Spread {
    kernel: number
    at: number
    slope: number
    isFirst: boolean
  }

  function spread(weights: Float64Array, gradient: Float64Array, { kernel, at, slope, isFirst }: Spread): void {
    for (let row = 0, tap = kernel, pixel = at; row < 3; row++, tap += 3, pixel += stride) {
      gradient[tap] = (gradient[tap] as number) + slope * (input[pixel] as number)
      gradient[tap + 1] = (gradient[tap + 1] as number) + slope * (input[pixel + 1] as number)
      gradient[tap + 2] = (gradient[tap + 2] as number) + slope * (input[pixel + 2] as number)
      if (isFirst) continue
      inputSlopes[pixel] = (inputSlopes[pixel] as number) + slope * (weights[tap] as number)
      inputSlopes[pixel + 1] = (inputSlopes[pixel + 1] as number) + slope * (weights[tap + 1] as number)
      inputSlopes[pixel + 2] = (inputSlopes[pixel + 2] as number) + slope * (weights[tap + 2] as number)
    }
  }

  function unload(before: Float64Array): void {
    for (let channel = 0; channel < from; channel++)
      for (let y = 0; y < height; y++)
        for (let x = 0; x < width; x++)
          before[(channel * height + y) * width + x] = inputSlopes[channel * area + (y + 1) * stride + x + 1] as number
  }

  return { load, forward, backward, pooled, slopes }
}
