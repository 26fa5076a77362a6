/**
 * Maps the name score to the score we calibrate, so that 0.95 means what people expect: at least 95 of 100 pairs that
 * reach it are the same person. Fitted on the tuning half of the labelled pairs; see docs/accuracy/names.md.
 */
/** Increased with every rule change that can change a score. Answers carry it so that they can be explained later. */
export const SCORER_VERSION = '1'

const KNOTS: readonly (readonly [score: number, published: number])[] = [
  [0, 0],
  [0.6, 0.5],
  [0.735, 0.7],
  [0.85, 0.87],
  [0.9, 0.95],
  [0.95, 0.975],
  [1, 1],
]

const SCORES = Float64Array.from(KNOTS, ([score]) => score)
const PUBLISHED = Float64Array.from(KNOTS, ([, published]) => published)

export function calibrate(score: number): number {
  return interpolate(SCORES, PUBLISHED, score)
}

/** The lowest name score that is published as this score. */
export function nameScoreFor(published: number): number {
  return interpolate(PUBLISHED, SCORES, published)
}

function interpolate(xs: Float64Array, ys: Float64Array, x: number): number {
  for (let n = 1; n < xs.length; n++) {
    const x1 = xs[n] as number
    if (x > x1) continue
    const x0 = xs[n - 1] as number
    const y0 = ys[n - 1] as number
    return y0 + ((x - x0) * ((ys[n] as number) - y0)) / (x1 - x0)
  }
  return 1
}
