/**
 * Maps the name score to the score we calibrate, so that 0.95 means what people expect: at least 95 of 100 pairs that
 * reach it are the same person. Fitted on the tuning half of the labelled pairs; see docs/accuracy.md.
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

export function calibrate(score: number): number {
  return interpolate(KNOTS, score)
}

/** The lowest name score that is published as this score. */
export function nameScoreFor(published: number): number {
  return interpolate(
    KNOTS.map(([score, value]) => [value, score] as const),
    published,
  )
}

function interpolate(knots: readonly (readonly [number, number])[], x: number): number {
  for (let n = 1; n < knots.length; n++) {
    const [x1, y1] = knots[n] as readonly [number, number]
    const [x0, y0] = knots[n - 1] as readonly [number, number]
    if (x <= x1) return y0 + ((x - x0) * (y1 - y0)) / (x1 - x0)
  }
  return 1
}
