/**
 * From the name score to the score we publish, so that 0.95 means what people take it for: at least 95 of 100 pairs that
 * reach it are the same person. Fitted on the tuning half of the labelled pairs; see docs/accuracy.md.
 */
/** Goes up with every change of the rules that can change a score: answers carry it, so that they can be explained later. */
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

export function publish(score: number): number {
  return along(KNOTS, score)
}

/** The least name score that can be published as this. */
export function scoreFor(published: number): number {
  return along(
    KNOTS.map(([score, value]) => [value, score] as const),
    published,
  )
}

function along(knots: readonly (readonly [number, number])[], x: number): number {
  for (let n = 1; n < knots.length; n++) {
    const [x1, y1] = knots[n] as readonly [number, number]
    const [x0, y0] = knots[n - 1] as readonly [number, number]
    if (x <= x1) return y0 + ((x - x0) * (y1 - y0)) / (x1 - x0)
  }
  return 1
}
