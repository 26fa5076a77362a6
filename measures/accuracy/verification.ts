/** Error rates of face verification: how well similarity scores separate pairs of one person from pairs of two people. */

/** A higher score means more similar. A pair is accepted if its score reaches the threshold. */
export interface PairScores {
  /** Two pictures of one person. */
  genuine: readonly number[]
  /** Pictures of two people. */
  impostor: readonly number[]
}

export interface RateAtThreshold {
  rate: number
  threshold: number
}

/**
 * The equal error rate: the error at the threshold where the false rejection rate equals the false acceptance rate. With few scores
 * the two are nowhere equal; then the mean of both counts, at the threshold where they are closest.
 */
export function equalErrorRate({ genuine, impostor }: PairScores): RateAtThreshold {
  const own = genuine.toSorted((a, b) => a - b)
  const others = impostor.toSorted((a, b) => a - b)
  let best = { gap: Number.POSITIVE_INFINITY, rate: 1, threshold: Number.NaN }
  for (const threshold of [...own, ...others]) {
    const falseRejections = countBelow(own, threshold) / own.length
    const falseAcceptances = 1 - countBelow(others, threshold) / others.length
    const gap = Math.abs(falseRejections - falseAcceptances)
    if (gap < best.gap) best = { gap, rate: (falseRejections + falseAcceptances) / 2, threshold }
  }
  return best
}

/** The false rejection rate at the lowest threshold that keeps the false acceptance rate within this limit. */
export function falseRejectionRateFor({ genuine, impostor }: PairScores, falseAcceptanceMax: number): RateAtThreshold {
  const others = impostor.toSorted((a, b) => b - a)
  const allowed = Math.floor(falseAcceptanceMax * others.length)
  const threshold = (others[allowed] ?? Number.NEGATIVE_INFINITY) + Number.EPSILON
  return { rate: genuine.filter((score) => score < threshold).length / genuine.length, threshold }
}

export function ratesAt({ genuine, impostor }: PairScores, threshold: number) {
  return {
    falseRejectionRate: genuine.filter((score) => score < threshold).length / genuine.length,
    falseAcceptanceRate: impostor.filter((score) => score >= threshold).length / impostor.length,
  }
}

/** The 95 % Wilson interval of a share: `count` of `total`. It has a width even when nothing was counted. */
export function wilsonInterval(count: number, total: number): readonly [number, number] {
  if (total === 0) return [0, 1]
  const z = 1.96
  const share = count / total
  const middle = share + (z * z) / (2 * total)
  const reach = z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total))
  const scale = 1 + (z * z) / total
  return [Math.max(0, (middle - reach) / scale), Math.min(1, (middle + reach) / scale)]
}

/** The 95 % bootstrap confidence interval of the mean: the middle 95 % of the means of random resamples. */
export function bootstrapMeanInterval(values: readonly number[], rounds = 2000): readonly [number, number] {
  let state = SEED
  const next = () => {
    // A linear congruential generator (Numerical Recipes): random enough for resampling, and the same on every machine.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const means = Array.from({ length: rounds }, () => {
    let sum = 0
    for (let n = 0; n < values.length; n++) sum += values[Math.floor(next() * values.length)] ?? 0
    return sum / values.length
  }).sort((a, b) => a - b)
  return [means[Math.floor(rounds * 0.025)] ?? Number.NaN, means[Math.floor(rounds * 0.975)] ?? Number.NaN]
}

/** Fixed, so that two runs over the same values give the same interval. */
const SEED = 20261115

function countBelow(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low
}
