/** How well scores separate pairs of one person from pairs of two. A higher score means more similar. */

export interface PairScores {
  genuine: readonly number[]
  impostor: readonly number[]
}

export interface EqualError {
  rate: number
  threshold: number
}

/** Where as many genuine pairs are refused as impostors pass; between two scores the mean of both rates counts. */
export function equalError({ genuine, impostor }: PairScores): EqualError {
  const own = genuine.toSorted((a, b) => a - b)
  const others = impostor.toSorted((a, b) => a - b)
  let best = { gap: Number.POSITIVE_INFINITY, rate: 1, threshold: Number.NaN }
  for (const threshold of [...own, ...others]) {
    const refused = countBelow(own, threshold) / own.length
    const passed = 1 - countBelow(others, threshold) / others.length
    const gap = Math.abs(refused - passed)
    if (gap < best.gap) best = { gap, rate: (refused + passed) / 2, threshold }
  }
  return best
}

/** The share of genuine pairs that are refused at the lowest threshold that lets this share of impostors pass at most. */
export function refusedAt({ genuine, impostor }: PairScores, passedMax: number): EqualError {
  const others = impostor.toSorted((a, b) => b - a)
  const allowed = Math.floor(passedMax * others.length)
  const threshold = (others[allowed] ?? Number.NEGATIVE_INFINITY) + Number.EPSILON
  return { rate: genuine.filter((score) => score < threshold).length / genuine.length, threshold }
}

/** The shares at one threshold. */
export function ratesAt({ genuine, impostor }: PairScores, threshold: number): { refused: number; passed: number } {
  return {
    refused: genuine.filter((score) => score < threshold).length / genuine.length,
    passed: impostor.filter((score) => score >= threshold).length / impostor.length,
  }
}

/** 95 % of the means of samples drawn again and again from these values; always the same samples. */
export function intervalOfMean(values: readonly number[], rounds = 2000): readonly [number, number] {
  let state = 20261115
  const next = () => {
    // A linear congruential generator (Numerical Recipes): good enough to draw with, and the same everywhere.
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

function countBelow(sorted: readonly number[], limit: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low
}
