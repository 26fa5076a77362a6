/**
 * Learns the weights of the reader's net: forward, backward, Adam. Plain numbers, one thread and no function of Math whose last
 * digit the language leaves open (only sqrt), so that the same cells give the same weights on every machine.
 */

import {
  CELL_HEIGHT,
  CELL_SIZE,
  CELL_WIDTH,
  CLASSES,
  LAYERS,
  type Layer,
  OFFSET_UNIT,
  OUTPUTS,
} from '@ostiary/documents'
import { createRandom, type Random } from '../drawn-documents/random.ts'
import { augment, type Target } from './augment.ts'
import type { Cells } from './cells.ts'
import { createConvolution } from './convolution.ts'

export interface TrainOptions {
  seed: number
  epochs: number
  batch: number
  rate: number
  say?(text: string): void
}

export interface Trained {
  layers: Layer[]
  /** Mean loss of the last epoch. */
  loss: number
}

export function train(cells: Cells, options: TrainOptions): Trained {
  const random = createRandom(options.seed)
  const layers = firstWeights(random)
  const gradients = layers.map(emptyLike)
  const adam = createAdam(layers)
  const pass = createPass(layers, gradients)
  const steps = Math.ceil(cells.labels.length / options.batch) * options.epochs
  const cell = new Float64Array(CELL_SIZE)
  let [step, loss] = [0, 0]
  for (let epoch = 0; epoch < options.epochs; epoch++) {
    let total = 0
    const order = shuffled(cells.labels.length, random)
    for (let from = 0; from < order.length; from += options.batch) {
      for (const { weights, biases } of gradients) {
        weights.fill(0)
        biases.fill(0)
      }
      const chosen = order.subarray(from, from + options.batch)
      for (const index of chosen) {
        const target = augment(cells, index, { random, cell })
        total += pass(cell, target)
      }
      // The rate rises over the first steps and falls in a straight line to a fiftieth.
      const rate = options.rate * Math.min(1, (step + 1) / 100) * (1 - 0.98 * (step / steps))
      adam(gradients, { rate, count: chosen.length })
      step++
    }
    loss = total / order.length
    options.say?.(`epoch ${epoch + 1} of ${options.epochs}: loss ${loss.toFixed(4)}`)
  }
  return { layers, loss }
}

function firstWeights(random: Random): Layer[] {
  return LAYERS.map(({ outputs, inputs }) => ({
    weights: Float64Array.from({ length: outputs * inputs }, () => random.normal() * Math.sqrt(2 / inputs)),
    biases: new Float64Array(outputs),
  }))
}

function emptyLike({ weights, biases }: Layer): Layer {
  return { weights: new Float64Array(weights.length), biases: new Float64Array(biases.length) }
}

function shuffled(count: number, random: Random): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, index) => index)
  for (let last = count - 1; last > 0; last--) {
    const other = random.below(last + 1)
    const kept = order[last] as number
    order[last] = order[other] as number
    order[other] = kept
  }
  return order
}

function createAdam(layers: readonly Layer[]) {
  const means = layers.map(emptyLike)
  const squares = layers.map(emptyLike)
  let [keepMean, keepSquare] = [1, 1]
  return (gradients: readonly Layer[], { rate, count }: { rate: number; count: number }) => {
    keepMean *= 0.9
    keepSquare *= 0.999
    for (const [index, layer] of layers.entries())
      for (const part of ['weights', 'biases'] as const) {
        const values = layer[part]
        const gradient = gradients[index]?.[part] ?? values
        const mean = means[index]?.[part] ?? values
        const square = squares[index]?.[part] ?? values
        const decay = part === 'weights' ? 1 - rate * 1e-3 : 1
        for (let at = 0; at < values.length; at++) {
          const slope = (gradient[at] as number) / count
          const m = (mean[at] as number) * 0.9 + slope * 0.1
          const s = (square[at] as number) * 0.999 + slope * slope * 0.001
          mean[at] = m
          square[at] = s
          values[at] =
            (values[at] as number) * decay - (rate * (m / (1 - keepMean))) / (Math.sqrt(s / (1 - keepSquare)) + 1e-8)
        }
      }
  }
}

const SMOOTHING = 0.02

/** One cell forward and backward; adds to the gradients and returns the loss. */
function createPass(layers: readonly Layer[], gradients: readonly Layer[]) {
  const convolutions = [
    createConvolution({ from: 1, to: 8, width: CELL_WIDTH, height: CELL_HEIGHT }),
    createConvolution({ from: 8, to: 16, width: CELL_WIDTH / 2, height: CELL_HEIGHT / 2 }),
    createConvolution({ from: 16, to: 24, width: CELL_WIDTH / 4, height: CELL_HEIGHT / 4 }),
  ] as const
  const [first, second, third] = convolutions
  const [, , , fourth, fifth] = layers as [Layer, Layer, Layer, Layer, Layer]
  const [, , , slopeFourth, slopeFifth] = gradients as [Layer, Layer, Layer, Layer, Layer]
  const hidden = new Float64Array(fourth.biases.length)
  const outputs = new Float64Array(OUTPUTS)
  const slopeOutputs = new Float64Array(OUTPUTS)
  const slopeHidden = new Float64Array(hidden.length)
  return (cell: Float64Array, target: Target): number => {
    first.load(cell)
    convolutions.forEach((convolution, index) => {
      convolution.forward(layers[index] as Layer)
      convolutions[index + 1]?.load(convolution.pooled)
    })
    dense(third.pooled, fourth, hidden)
    for (let at = 0; at < hidden.length; at++) if ((hidden[at] as number) < 0) hidden[at] = 0
    dense(hidden, fifth, outputs)
    const loss = lossOf(outputs, target, slopeOutputs)
    denseBackward(hidden, slopeOutputs, { layer: fifth, gradient: slopeFifth, into: slopeHidden })
    for (let at = 0; at < hidden.length; at++) if (hidden[at] === 0) slopeHidden[at] = 0
    denseBackward(third.pooled, slopeHidden, { layer: fourth, gradient: slopeFourth, into: third.slopes })
    for (const [index, convolution] of [third, second, first].entries()) {
      const at = 2 - index
      convolution.backward(layers[at] as Layer, gradients[at] as Layer, convolutions[at - 1]?.slopes)
    }
    return loss
  }
}

/** Cross entropy with a little smoothing, and half the square of the offsets. */
function lossOf(outputs: Float64Array, { label, offset }: Target, slopes: Float64Array): number {
  let largest = outputs[0] as number
  for (let at = 1; at < CLASSES; at++) largest = Math.max(largest, outputs[at] as number)
  let sum = 0
  for (let at = 0; at < CLASSES; at++) {
    const value = power((outputs[at] as number) - largest)
    slopes[at] = value
    sum += value
  }
  // -log p, without a logarithm: only reported, the slopes do not need it.
  const right = (slopes[label] as number) / sum
  for (let at = 0; at < CLASSES; at++)
    slopes[at] = (slopes[at] as number) / sum - (at === label ? 1 - SMOOTHING : SMOOTHING / (CLASSES - 1))
  let loss = 1 - right
  for (const [index, wanted] of [offset?.x, offset?.y].entries()) {
    const off = wanted === undefined ? 0 : (outputs[CLASSES + index] as number) - wanted / OFFSET_UNIT
    slopes[CLASSES + index] = off * 0.5
    loss += off * off * 0.25
  }
  return loss
}

/** e to a power of zero or less, from products only: Math.exp may differ in the last digit between machines. */
function power(exponent: number): number {
  if (exponent < -40) return 0
  let value = 1 + exponent / 4096
  for (let squared = 0; squared < 12; squared++) value *= value
  return value
}

function dense(input: Float64Array, { weights, biases }: Layer, output: Float64Array): void {
  for (let to = 0; to < output.length; to++) {
    let sum = biases[to] as number
    const row = to * input.length
    for (let from = 0; from < input.length; from++) sum += (weights[row + from] as number) * (input[from] as number)
    output[to] = sum
  }
}

interface DenseSlopes {
  layer: Layer
  gradient: Layer
  into: Float64Array
}

function denseBackward(input: Float64Array, slopes: Float64Array, { layer, gradient, into }: DenseSlopes): void {
  into.fill(0)
  for (let to = 0; to < slopes.length; to++) {
    const slope = slopes[to] as number
    if (slope === 0) continue
    gradient.biases[to] = (gradient.biases[to] as number) + slope
    const row = to * input.length
    for (let from = 0; from < input.length; from++) {
      gradient.weights[row + from] = (gradient.weights[row + from] as number) + slope * (input[from] as number)
      into[from] = (into[from] as number) + slope * (layer.weights[row + from] as number)
    }
  }
}
