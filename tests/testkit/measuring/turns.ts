import { median } from './figure.ts'

/** Something that can be run for a while and says how often it got round. */
export interface Runner {
  run(ms: number): Promise<number>
}

/**
 * Ours beside theirs: short turns in changing order, then the upper quartile of each. What else the machine does can only
 * slow a turn down, so the faster turns tell what the code can do. The middle of the pairs is shown beside it.
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
    `bare ${Math.round(bare)}/s, ours ${Math.round(ours)}/s (upper quartile of ${pairs} turns); middle of the pairs' ratios ${middle.toFixed(3)}`,
  )
  return ours / bare
}

function upperQuartile(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.75)] ?? Number.NaN
}
