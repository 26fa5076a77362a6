/**
 * Golden numbers: the outputs of the original nets for a synthetic picture, to compare the converted nets with.
 * The picture has slopes, spots and noise, and no face: nothing but arithmetic is compared.
 */
import type { ModelNet } from '@ostiary/contract'
import type { Tensor } from '@ostiary/faces'

/** One output: some of its numbers, and two sums over all of them. */
export interface GoldenOutput {
  count: number
  mean: number
  /** Square root of the mean square: the size against which a difference is small or large. */
  rms: number
  samples: readonly number[]
}

export type Golden = Readonly<Record<string, Readonly<Record<string, GoldenOutput>>>>

const SAMPLES = 24

export function goldenOf(data: ArrayLike<number>): GoldenOutput {
  const numbers = Array.from(data)
  const count = numbers.length
  const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / count
  return {
    count,
    mean: short(average(numbers)),
    rms: short(Math.sqrt(average(numbers.map((value) => value * value)))),
    samples: sampledAt(count).map((index) => short(numbers[index] ?? Number.NaN)),
  }
}

/** The largest difference of a sample or sum, by the size of the output. */
export function distance(found: GoldenOutput, golden: GoldenOutput): number {
  if (found.count !== golden.count) return Number.POSITIVE_INFINITY
  const pairs = [
    [found.mean, golden.mean],
    [found.rms, golden.rms],
    ...golden.samples.map((sample, index) => [found.samples[index] ?? Number.NaN, sample]),
  ]
  return Math.max(...pairs.map(([a = Number.NaN, b = Number.NaN]) => Math.abs(a - b))) / golden.rms
}

/** The made-up picture as the net wants it: RGB, BGR or grey make no difference to it. */
export function testInput({ input, preprocess }: Pick<ModelNet, 'input' | 'preprocess'>): Tensor {
  const [first, second, third] = input.dims
  const [channels, height, width] = input.layout === 'NCHW' ? [first, second, third] : [third, first, second]
  const data = new Float32Array(channels * height * width)
  const noise = createNoise()
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let channel = 0; channel < channels; channel++) {
        const value = pixel({ x: x / width, y: y / height, channel }) + 24 * noise()
        const mean = preprocess.mean[channel] ?? preprocess.mean[0] ?? 0
        const at = input.layout === 'NCHW' ? (channel * height + y) * width + x : (y * width + x) * channels + channel
        data[at] = (Math.min(255, Math.max(0, Math.round(value))) - mean) * preprocess.scale
      }
  return { dims: [1, ...input.dims], data }
}

/** A slope, and a bright round spot with two dark ones in it. */
function pixel({ x, y, channel }: { x: number; y: number; channel: number }): number {
  const spot = (centreX: number, centreY: number, radius: number) =>
    Math.exp(-((x - centreX) ** 2 + (y - centreY) ** 2) / radius ** 2)
  const dark = spot(0.38, 0.42, 0.06) + spot(0.62, 0.42, 0.06)
  return 40 + 60 * x + 20 * channel * y + 110 * spot(0.5, 0.5, 0.3) - 90 * dark
}

/** The same numbers from -0.5 to 0.5 on every machine (a linear congruential generator). */
function createNoise(): () => number {
  let state = 20261115
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32 - 0.5
  }
}

function sampledAt(count: number): number[] {
  if (count <= SAMPLES) return Array.from({ length: count }, (_, index) => index)
  return Array.from({ length: SAMPLES }, (_, index) => Math.floor((index * (count - 1)) / (SAMPLES - 1)))
}

function short(value: number): number {
  return Number(value.toPrecision(7))
}
