import { median } from './figure.ts'

/** Something that runs for a given time and returns how many iterations it completed. */
export interface Runner {
  run(ms: number): Promise<number>
}

/**
 * Compares our code with bare code: short slices in alternating order, then the upper quartile of each. Other load can only
 * slow a slice down, so the faster slices show what the code can do. The median ratio of the pairs is printed as well.
 */
export async function compareInTurns(
  runners: { bare: Runner; ours: Runner },
  { pairs, turnMs }: { pairs: number; turnMs: number },
  say: (line: string) => void,
): Promise<number> {
  const turns = { bare: [] as number[], ours: [] as number[] }
  for (let pair = 0; pair < pairs; pair++) {
    for (const name of pair % 2 === 0 ? (['bare', 'ours'] as const) : (['ours', 'bare'] as const)) {
      turns[name].push((await runners[name].run(turnMs)) / (turnMs / 1000))
    }
  }
  const [bare, ours] = [upperQuartile(turns.bare), upperQuartile(turns.ours)]
  const middle = median(turns.ours.map((rate, pair) => rate / (turns.bare[pair] ?? Number.NaN)))
  say(
    `bare ${Math.round(bare)}/s, ours ${Math.round(ours)}/s (upper quartile of ${pairs} turns); median of the pairs' ratios ${middle.toFixed(3)}`,
  )
  return ours / bare
}

function upperQuartile(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.75)] ?? Number.NaN
}
