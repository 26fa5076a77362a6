/** How well scores separate matches from the rest. Pure functions, so that the test can verify them by hand. */
export interface Scored {
  score: number
  isMatch: boolean
}

export interface AtThreshold {
  /** NaN when nothing reached the threshold: then precision is undefined, and no floor is met. */
  precision: number
  recall: number
  f1: number
}

export function atThreshold(scored: readonly Scored[], threshold: number): AtThreshold {
  let [right, wrong, missed] = [0, 0, 0]
  for (const { score, isMatch } of scored) {
    if (score >= threshold) isMatch ? right++ : wrong++
    else if (isMatch) missed++
  }
  return {
    precision: right / (right + wrong),
    recall: right / (right + missed),
    f1: (2 * right) / (2 * right + wrong + missed),
  }
}

/** How often a match scores higher than a non-match, over all such pairs; a tie counts half. */
export function areaUnderCurve(scored: readonly Scored[]): number {
  const matches = scored.filter(({ isMatch }) => isMatch)
  const others = scored.filter(({ isMatch }) => !isMatch)
  let won = 0
  for (const { score } of matches)
    for (const other of others) won += score > other.score ? 1 : score === other.score ? 0.5 : 0
  return won / (matches.length * others.length)
}

/** Between two scores the outcome is the same, so the scores themselves are all the thresholds there are. */
const thresholdsOf = (scored: readonly Scored[]) => [...new Set(scored.map(({ score }) => score))]

export function bestF1(scored: readonly Scored[]): { f1: number; threshold: number } {
  let best = { f1: 0, threshold: Number.NaN }
  for (const threshold of thresholdsOf(scored)) {
    const { f1 } = atThreshold(scored, threshold)
    if (f1 > best.f1) best = { f1, threshold }
  }
  return best
}

/** The most matches one can find while at least this share of what is flagged is right. */
export function recallAtPrecision(scored: readonly Scored[], least: number): number {
  const outcomes = thresholdsOf(scored).map((threshold) => atThreshold(scored, threshold))
  return Math.max(0, ...outcomes.filter(({ precision }) => precision >= least).map(({ recall }) => recall))
}

export const isFailure = ({ score, isMatch }: Scored, threshold: number): boolean => score >= threshold !== isMatch

/** Failures and cases of each tier, such as `STRONG`. */
export function failuresByTier<Tier extends string>(
  scored: readonly (Scored & { tier: Tier })[],
  threshold: number,
): Map<Tier, { failures: number; cases: number }> {
  const tiers = new Map<Tier, { failures: number; cases: number }>()
  for (const one of scored) {
    const counts = tiers.get(one.tier) ?? { failures: 0, cases: 0 }
    counts.cases++
    if (isFailure(one, threshold)) counts.failures++
    tiers.set(one.tier, counts)
  }
  return tiers
}
