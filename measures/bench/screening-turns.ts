/** The first pass of fresh processes over a customer's file, now and in the last release, in turns. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { checkOut, hasCommit, LAST_API_FLAGS, LAST_RELEASE } from '@ostiary/testkit/measuring/earlier-release'
import { median } from '@ostiary/testkit/measuring/figure'
import { API_FLAGS, COMPILED, ROOT } from '@ostiary/testkit/run'

/** What screening-process.ts prints. */
export interface Pass {
  cpuSeconds: number
  matched: number
  /** One per row, over the whole answer to it. */
  hashes: string[]
  expansions: { prepared: number; cached: number; computed: number; evicted: number }
}

interface Turns {
  snapshot: string
  csv: string
  rows: number
  threshold: number
  turns: number
  say(line: string): void
}

export interface Compared {
  /** Rows per processor second, now over before. */
  ratio: number
  /** Rows whose answer is not the same, in any turn. */
  differing: number
}

interface Side {
  source: string
  flags: readonly string[]
}

/** Each side runs with the flags that its release starts the API with. */
function sidesOf(say: Turns['say']): Record<'before' | 'after', Side> {
  const after = { source: 'now', flags: API_FLAGS }
  if (hasCommit(LAST_RELEASE))
    return { before: { source: `${ROOT}${checkOut(LAST_RELEASE)}`, flags: LAST_API_FLAGS }, after }
  // What reads names and writes answers is faster now too, and both sides share it here.
  say('this clone does not have the last release: "before" is the search of release 0.1 in the source of today')
  return { before: { ...after, source: 'first' }, after }
}

export function compareSearches({ snapshot, csv, rows, threshold, turns, say }: Turns): Compared {
  const sides = sidesOf(say)
  const run = (side: 'before' | 'after', file = csv): Pass => {
    const { source, flags } = sides[side]
    const args = [...flags, `${ROOT}measures/bench/screening-process.ts`, source, snapshot, file, String(threshold)]
    const env = { PATH: process.env.PATH ?? '', ...COMPILED }
    return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8', maxBuffer: 64e6 })) as Pass
  }
  // Fills the compile cache. Otherwise reading the source would go on beside the first measured pass.
  const oneRow = `${csv}.one-row.csv`
  writeFileSync(oneRow, readFileSync(csv, 'utf8').split('\n', 2).join('\n'))
  for (const side of ['before', 'after'] as const) run(side, oneRow)
  const seconds = { before: [] as number[], after: [] as number[] }
  let differing = 0
  for (let turn = 0; turn < turns; turn++) {
    // Each side is first in every second turn.
    const [first, second] = turn % 2 === 0 ? (['before', 'after'] as const) : (['after', 'before'] as const)
    const passes = { [first]: run(first), [second]: run(second) } as Record<'before' | 'after', Pass>
    const { before, after } = passes
    seconds.before.push(before.cpuSeconds)
    seconds.after.push(after.cpuSeconds)
    const isOther = (hash: string, at: number) => hash !== after.hashes[at]
    if (before.hashes.length !== rows || after.hashes.length !== rows) throw new Error('Not all rows were answered')
    differing = Math.max(differing, before.hashes.filter(isOther).length)
    const { prepared, cached, computed, evicted } = after.expansions
    say(
      `first pass of a fresh process: ${rate(rows, before)} rows per CPU second before, ${rate(rows, after)} now; ` +
        `words: ${prepared} prepared, ${cached} cached, ${computed} computed, ${evicted} evicted`,
    )
  }
  return { ratio: median(seconds.before) / median(seconds.after), differing }
}

const rate = (rows: number, { cpuSeconds }: Pass) => Math.round(rows / cpuSeconds)
