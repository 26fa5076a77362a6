/**
 * Area B: how well the matcher separates people on a list from others. Labelled pairs of names, compared with logic-v2's scores,
 * then people of the UN list and invented people against the lists of OFAC and the UN. --full: all 100,000 invented
 * people instead of 10,000. --verbose: which UN rows failed. --tuning-errors [--at=0.95]: only the wrong pairs of the
 * tuning half, at 0.7 or another threshold.
 */
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import {
  type Half,
  type LabelledPair,
  loadNegatives,
  loadPairs,
  loadPositives,
  loadRealList,
  missingData,
  type Positive,
  type Quality,
  type Row,
} from '@ostiary/testkit/samples/labelled'
import { baselinePairs, type ListMatcher, ourList, ourPairs, type PairMatcher, peerPairs } from './matchers.ts'
import {
  areaUnderCurve,
  atThreshold,
  bestF1,
  failuresByTier,
  isFailure,
  recallAtPrecision,
  type Scored,
} from './scoring.ts'

const THRESHOLDS = [0.7, 0.85, 0.95] as const
/** The list is screened once at the lowest threshold. The results for the other thresholds are subsets of that. */
const LOWEST = 0.7
const HALVES: readonly Half[] = ['tuning', 'held-out']
const TIERS: readonly Quality[] = ['STRONG', 'MEDIUM', 'WEAK']

type Say = (text: string) => void
type ScoredPair = LabelledPair & Scored
type Hits = ReturnType<ListMatcher['screen']>[number]

export const measure: Measure = async ({ full, say }) => {
  const missing = missingData()
  if (missing !== undefined) {
    say(`skipped: there is no labelled data at ${missing}`)
    return []
  }
  const pairs = loadPairs()
  const ours = await ourPairs()
  if (process.argv.includes('--tuning-errors')) {
    const at = process.argv.find((arg) => arg.startsWith('--at='))
    showTuningErrors(scorePairs(pairs, ours), at === undefined ? LOWEST : Number(at.slice('--at='.length)))
    say('skipped: only the errors of the tuning half were asked for')
    return []
  }
  const verbose = process.argv.includes('--verbose')
  const figures = measurePairs(pairs, { ours, 'logic-v2': peerPairs(pairs), baseline: baselinePairs })
  const entities = loadRealList()
  const list = await ourList(entities)
  say(`the list of ${entities.length} persons is ready`)
  figures.push(...measurePositives(loadPositives(entities), list, verbose))
  say('the UN rows are screened')
  figures.push(...measureNegatives(loadNegatives(full), list, say))
  return figures
}

function scorePairs(pairs: readonly LabelledPair[], matcher: PairMatcher): ScoredPair[] {
  return pairs.map((pair) => {
    const score = matcher.pair(pair.name1, pair.name2, pair.schema)
    if (!(score >= 0 && score <= 1)) throw new Error(`${pair.name1} and ${pair.name2} have the score ${score}`)
    return { ...pair, score }
  })
}

function measurePairs(pairs: readonly LabelledPair[], matchers: Record<string, PairMatcher>): Figure[] {
  const scored = Object.entries(matchers).map(([name, matcher]) => ({ name, pairs: scorePairs(pairs, matcher) }))
  for (const half of HALVES)
    for (const who of ['Person', 'all']) {
      const wanted = (pair: LabelledPair) => pair.half === half && (who === 'all' || pair.schema === who)
      const some = pairs.filter(wanted)
      const matches = some.filter(({ isMatch }) => isMatch).length
      console.log(`\n${half} half, ${who}: ${some.length} pairs, ${matches} of them matches`)
      const rows = scored.map(({ name, pairs }) => [name, ...describe(pairs.filter(wanted))])
      const failed = TIERS.map((tier) => `${tier} failed`)
      const columns = THRESHOLDS.map((at) => `P/R/F1 at ${at}`)
      printTable([['', ...columns, 'AUC', 'best F1 (at)', 'R at P>=.9', ...failed], ...rows])
    }
  const heldOut = scored[0]?.pairs.filter(({ half }) => half === 'held-out') ?? []
  const persons = heldOut.filter(({ schema }) => schema === 'Person')
  const strong = failuresByTier(heldOut, LOWEST).get('STRONG')?.failures ?? Number.NaN
  return [
    least('names.person.f1-at-0.7', atThreshold(persons, 0.7).f1, 0.7421),
    least('names.person.auc', areaUnderCurve(persons), 0.8381),
    least('names.person.precision-at-0.95', atThreshold(persons, 0.95).precision, 0.95),
    least('names.person.recall-at-0.95', atThreshold(persons, 0.95).recall, 0.45),
    least('names.all.f1-at-0.7', atThreshold(heldOut, 0.7).f1, 0.7901),
    most('names.strong.failures', strong, 0),
  ]
}

function describe(scored: readonly ScoredPair[]): string[] {
  const best = bestF1(scored)
  const tiers = failuresByTier(scored, LOWEST)
  return [
    ...THRESHOLDS.map((threshold) => {
      const { precision, recall, f1 } = atThreshold(scored, threshold)
      return [precision, recall, f1].map(short).join(' ')
    }),
    short(areaUnderCurve(scored)),
    `${short(best.f1)} (${short(best.threshold)})`,
    short(recallAtPrecision(scored, 0.9)),
    ...TIERS.map((tier) => {
      const { failures, cases } = tiers.get(tier) ?? { failures: 0, cases: 0 }
      return `${failures} of ${cases}`
    }),
  ]
}

/** Prints errors of the tuning half only: reading those of the held-out half would mean tuning on it. */
function showTuningErrors(scored: readonly ScoredPair[], threshold: number): void {
  const tuning = scored.filter(({ half }) => half === 'tuning')
  const wrong = tuning.filter((pair) => isFailure(pair, threshold))
  console.log(`\n${wrong.length} of ${tuning.length} pairs of the tuning half are wrong at ${threshold}`)
  for (const isMatch of [true, false]) {
    const some = wrong.filter((pair) => pair.isMatch === isMatch)
    console.log(`\n${some.length} ${isMatch ? 'matches that were missed' : 'others that were flagged'}`)
    const rows = some
      .toSorted((a, b) => a.schema.localeCompare(b.schema) || a.score - b.score)
      .map(({ schema, quality, category, score, peer, name1, name2 }) => {
        return [short(score), short(peer), quality, schema, category, `${name1}  |  ${name2}`]
      })
    printTable([['ours', 'v2', 'tier', 'schema', 'category', 'pair'], ...rows])
  }
}

function measurePositives(positives: readonly Positive[], list: ListMatcher, verbose: boolean): Figure[] {
  const known = positives.filter(({ gold }) => gold.length > 0)
  console.log(`\nUN rows: ${positives.length}, ${known.length} with a right answer`)
  for (const [why, some] of Map.groupBy(positives, (positive) => positive.why)) console.log(`  ${some.length} ${why}`)
  const table = [['right entity', ...THRESHOLDS.map((at) => `at ${at}`), 'ranked first', 'no gold: any hit at 0.7']]
  const failed: string[] = []
  const right = new Map<number, number>()
  for (const kind of ['untreated', 'treated'] as const)
    for (const withDate of [true, false]) {
      const hits = screen(
        list,
        positives.map((one) => one[kind]),
        withDate,
      )
      const judged = positives.map((one, at) => ({ ...one, hits: hits[at] ?? [] }))
      const golden = judged.filter(({ gold }) => gold.length > 0)
      const others = judged.filter(({ gold }) => gold.length === 0)
      const found = THRESHOLDS.map((at) => golden.filter((one) => goldScore(one) >= at).length / golden.length)
      const first = golden.filter(({ gold, hits }) => gold.includes(hits[0]?.id ?? ''))
      const name = `${kind}, ${withDate ? 'with' : 'without'} birth date`
      const any = others.filter(({ hits }) => hits.length > 0)
      table.push([
        name,
        ...found.map(percent),
        percent(first.length / golden.length),
        `${any.length} of ${others.length}`,
      ])
      for (const one of golden.filter((one) => goldScore(one) < 0.95).toSorted((a, b) => goldScore(a) - goldScore(b)))
        failed.push(`${short(goldScore(one))}  ${name}: ${one[kind].name}, ${one[kind].dob} -> ${one.gold.join(' ')}`)
      if (kind === 'treated' && withDate) for (const [n, at] of THRESHOLDS.entries()) right.set(at, found[n] ?? 0)
    }
  printTable(table)
  if (verbose) {
    for (const { untreated, why } of positives.filter(({ gold }) => gold.length === 0))
      console.log(`no gold: ${untreated.name}, ${untreated.dob}: ${why}`)
    for (const line of failed) console.log(`below 0.95: ${line}`)
  }
  return [
    least('names.un.right-at-0.7', right.get(0.7) ?? 0, 0.99),
    least('names.un.right-at-0.95', right.get(0.95) ?? 0, 0.93),
  ]
}

const goldScore = ({ gold, hits }: { gold: readonly string[]; hits: Hits }) =>
  hits.find(({ id }) => gold.includes(id))?.score ?? 0

function measureNegatives(rows: readonly Row[], list: ListMatcher, say: Say): Figure[] {
  const table = [['flagged', ...THRESHOLDS.map((at) => `at ${at}`)]]
  const flagged = new Map<number, number>()
  for (const withDate of [true, false]) {
    const started = performance.now()
    const best = screen(list, rows, withDate).map((hits) => hits[0]?.score ?? 0)
    const seconds = (performance.now() - started) / 1000
    const counts = THRESHOLDS.map((at) => best.filter((score) => score >= at).length)
    const name = `${rows.length} invented people, ${withDate ? 'with' : 'without'} birth date`
    table.push([name, ...counts.map((count) => `${percent(count / rows.length)} (${count})`)])
    say(`${name}: ${Math.round(rows.length / seconds)} rows a second`)
    if (withDate) for (const [n, at] of THRESHOLDS.entries()) flagged.set(at, (counts[n] ?? 0) / rows.length)
  }
  console.log('')
  printTable(table)
  return [
    most('names.negatives.flagged-at-0.95', flagged.get(0.95) ?? 1, 0.0002),
    most('names.negatives.flagged-at-0.7', flagged.get(0.7) ?? 1, 0.003),
  ]
}

function screen(list: ListMatcher, rows: readonly Row[], withDate: boolean): Hits[] {
  const hits = list.screen(withDate ? rows : rows.map((row) => ({ ...row, dob: '' })), LOWEST)
  if (hits.length !== rows.length) throw new Error(`${rows.length} rows gave ${hits.length} answers`)
  return hits
}

const least = (name: string, value: number, floor: number): Figure => ({ name, value, floor, is: 'least' })
const most = (name: string, value: number, floor: number): Figure => ({ name, value, floor, is: 'most' })
const short = (value: number) => (Number.isNaN(value) ? ' -  ' : value.toFixed(3).replace(/^0/, ''))
const percent = (value: number) => `${(value * 100).toFixed(2)} %`

function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}
