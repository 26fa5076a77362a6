/**
 * This measures how well our matcher of names (sanctions screening, area B) separates listed people from others:
 * - Pairs of names that others labelled as the same or not the same are scored by three matchers: ours, logic-v2 of the library
 *   nomenklatura, and a simple baseline.
 * - People who are on the UN's list, and invented people who are on no list, are screened against the lists of OFAC and the UN.
 *
 * --full screens all 100,000 invented people instead of 10,000. --verbose prints the UN rows that failed. --tuning-errors [--at=0.95]
 * only prints the pairs of the tuning half that our matcher judges wrongly, at 0.7 or at the given threshold.
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
  type Row,
  type Tier,
} from '@ostiary/testkit/samples/labelled'
import { baselinePairs, type ListMatcher, logicV2Pairs, ourList, ourPairs, type PairMatcher } from './matchers.ts'
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
const TIERS: readonly Tier[] = ['STRONG', 'MEDIUM', 'WEAK']

/** About what logic-v2 reaches on all pairs (docs/accuracy/names.md). Our matcher must reach it on the held-out half. */
const LOGIC_V2 = { personF1At07: 0.7421, personAuc: 0.8381, allF1At07: 0.7901 } as const

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
    const option = process.argv.find((arg) => arg.startsWith('--at='))
    showTuningErrors(scorePairs(pairs, ours), option === undefined ? LOWEST : Number(option.slice('--at='.length)))
    say('skipped: with --tuning-errors nothing is measured')
    return []
  }
  const verbose = process.argv.includes('--verbose')
  const figures = measurePairs(pairs, ours)
  const entities = loadRealList()
  const list = await ourList(entities)
  say(`the list of ${entities.length} persons is ready`)
  figures.push(...measureListedPeople(loadPositives(entities), list, verbose))
  say('the UN rows are screened')
  figures.push(...measureInventedPeople(loadNegatives(full), list, say))
  return figures
}

function scorePairs(pairs: readonly LabelledPair[], matcher: PairMatcher): ScoredPair[] {
  return pairs.map((pair) => {
    const score = matcher.pair(pair.name1, pair.name2, pair.schema)
    if (!(score >= 0 && score <= 1)) throw new Error(`${pair.name1} and ${pair.name2} have the score ${score}`)
    return { ...pair, score }
  })
}

function measurePairs(pairs: readonly LabelledPair[], ourMatcher: PairMatcher): Figure[] {
  const scored = {
    ours: scorePairs(pairs, ourMatcher),
    'logic-v2': scorePairs(pairs, logicV2Pairs(pairs)),
    baseline: scorePairs(pairs, baselinePairs),
  }
  for (const half of HALVES)
    for (const schema of ['Person', 'all']) {
      const isChosen = (pair: LabelledPair) => pair.half === half && (schema === 'all' || pair.schema === schema)
      const chosen = pairs.filter(isChosen)
      const matches = chosen.filter(({ isMatch }) => isMatch).length
      console.log(`\n${half} half, ${schema}: ${chosen.length} pairs, ${matches} of them matches`)
      const rows = Object.entries(scored).map(([name, all]) => [name, ...accuracyCells(all.filter(isChosen))])
      const failed = TIERS.map((tier) => `${tier} failed`)
      const columns = THRESHOLDS.map((threshold) => `P/R/F1 at ${threshold}`)
      printTable([['', ...columns, 'AUC', 'best F1 (at)', 'R at P>=.9', ...failed], ...rows])
    }
  const heldOut = scored.ours.filter(({ half }) => half === 'held-out')
  const persons = heldOut.filter(({ schema }) => schema === 'Person')
  const strong = failuresByTier(heldOut, LOWEST).get('STRONG')?.failures ?? Number.NaN
  return [
    atLeast('names.person.f1-at-0.7', atThreshold(persons, 0.7).f1, LOGIC_V2.personF1At07),
    atLeast('names.person.auc', areaUnderCurve(persons), LOGIC_V2.personAuc),
    atLeast('names.person.precision-at-0.95', atThreshold(persons, 0.95).precision, 0.95),
    atLeast('names.person.recall-at-0.95', atThreshold(persons, 0.95).recall, 0.45),
    atLeast('names.all.f1-at-0.7', atThreshold(heldOut, 0.7).f1, LOGIC_V2.allF1At07),
    atMost('names.strong.failures', strong, 0),
  ]
}

/** The cells of a table row about one matcher. */
function accuracyCells(scored: readonly ScoredPair[]): string[] {
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

/** Prints errors of the tuning half only: a developer who reads those of the held-out half would tune on it. */
function showTuningErrors(scored: readonly ScoredPair[], threshold: number): void {
  const tuning = scored.filter(({ half }) => half === 'tuning')
  const wrong = tuning.filter((pair) => isFailure(pair, threshold))
  console.log(`\n${wrong.length} of ${tuning.length} pairs of the tuning half are wrong at ${threshold}`)
  for (const isMatch of [true, false]) {
    const pairs = wrong.filter((pair) => pair.isMatch === isMatch)
    console.log(`\n${pairs.length} ${isMatch ? 'matches that were missed' : 'others that were flagged'}`)
    const rows = pairs
      .toSorted((a, b) => a.schema.localeCompare(b.schema) || a.score - b.score)
      .map(({ schema, tier, category, score, logicV2Score, name1, name2 }) => {
        return [short(score), short(logicV2Score), tier, schema, category, `${name1}  |  ${name2}`]
      })
    printTable([['ours', 'logic-v2', 'tier', 'schema', 'category', 'pair'], ...rows])
  }
}

const ROW_KINDS = { asListed: 'as listed', distorted: 'distorted' } as const

/**
 * Screens people who are on the UN's list, with their names as listed and distorted (typing errors, other word order, another birth date).
 * A row is found only if the right entity is among its hits. The gold of a row is the ids of its right entities.
 */
function measureListedPeople(positives: readonly Positive[], list: ListMatcher, verbose: boolean): Figure[] {
  console.log(`\nUN rows: ${positives.length}, ${positives.filter(hasGold).length} with a known right entity`)
  for (const [basis, rows] of Map.groupBy(positives, ({ goldBasis }) => goldBasis))
    console.log(`  ${rows.length} ${basis}`)
  const columns = THRESHOLDS.map((threshold) => `at ${threshold}`)
  const table = [['right entity found', ...columns, 'ranked first', 'right entity unknown: any hit at 0.7']]
  const failed: string[] = []
  const foundShares = new Map<number, number>()
  for (const kind of ['asListed', 'distorted'] as const)
    for (const withDate of [true, false]) {
      const rows = positives.map((positive) => positive[kind])
      const hits = screen(list, rows, withDate)
      const screened = positives.map((positive, index) => ({ ...positive, hits: hits[index] ?? [] }))
      const withGold = screened.filter(hasGold)
      const withoutGold = screened.filter((one) => !hasGold(one))
      const shares = THRESHOLDS.map(
        (threshold) => withGold.filter((one) => goldScore(one) >= threshold).length / withGold.length,
      )
      const first = withGold.filter(({ gold, hits }) => gold.includes(hits[0]?.id ?? ''))
      const name = `${ROW_KINDS[kind]}, ${withDate ? 'with' : 'without'} birth date`
      const hit = withoutGold.filter(({ hits }) => hits.length > 0)
      table.push([
        name,
        ...shares.map(percent),
        percent(first.length / withGold.length),
        `${hit.length} of ${withoutGold.length}`,
      ])
      for (const one of withGold.filter((one) => goldScore(one) < 0.95).toSorted((a, b) => goldScore(a) - goldScore(b)))
        failed.push(`${short(goldScore(one))}  ${name}: ${one[kind].name}, ${one[kind].dob} -> ${one.gold.join(' ')}`)
      if (kind === 'distorted' && withDate)
        for (const [index, threshold] of THRESHOLDS.entries()) foundShares.set(threshold, shares[index] ?? 0)
    }
  printTable(table)
  if (verbose) {
    for (const { asListed, goldBasis } of positives.filter((positive) => !hasGold(positive)))
      console.log(`right entity unknown: ${asListed.name}, ${asListed.dob}: ${goldBasis}`)
    for (const line of failed) console.log(`below 0.95: ${line}`)
  }
  return [
    atLeast('names.un.right-at-0.7', foundShares.get(0.7) ?? 0, 0.99),
    atLeast('names.un.right-at-0.95', foundShares.get(0.95) ?? 0, 0.93),
  ]
}

const hasGold = ({ gold }: Positive) => gold.length > 0

/** The score of the right entity; 0 when it is not among the hits. */
const goldScore = ({ gold, hits }: { gold: readonly string[]; hits: Hits }) =>
  hits.find(({ id }) => gold.includes(id))?.score ?? 0

/** Screens people who are on no list: every hit is wrong. */
function measureInventedPeople(rows: readonly Row[], list: ListMatcher, say: Say): Figure[] {
  const table = [['flagged', ...THRESHOLDS.map((threshold) => `at ${threshold}`)]]
  const flagged = new Map<number, number>()
  for (const withDate of [true, false]) {
    const started = performance.now()
    const best = screen(list, rows, withDate).map((hits) => hits[0]?.score ?? 0)
    const seconds = (performance.now() - started) / 1000
    const counts = THRESHOLDS.map((threshold) => best.filter((score) => score >= threshold).length)
    const name = `${rows.length} invented people, ${withDate ? 'with' : 'without'} birth date`
    table.push([name, ...counts.map((count) => `${percent(count / rows.length)} (${count})`)])
    say(`${name}: ${Math.round(rows.length / seconds)} rows a second`)
    if (withDate)
      for (const [index, threshold] of THRESHOLDS.entries()) flagged.set(threshold, (counts[index] ?? 0) / rows.length)
  }
  console.log('')
  printTable(table)
  return [
    atMost('names.negatives.flagged-at-0.95', flagged.get(0.95) ?? 1, 0.0002),
    atMost('names.negatives.flagged-at-0.7', flagged.get(0.7) ?? 1, 0.003),
  ]
}

function screen(list: ListMatcher, rows: readonly Row[], withDate: boolean): Hits[] {
  const hits = list.screen(withDate ? rows : rows.map((row) => ({ ...row, dob: '' })), LOWEST)
  if (hits.length !== rows.length) throw new Error(`${rows.length} rows gave ${hits.length} answers`)
  return hits
}

const atLeast = (name: string, value: number, floor: number): Figure => ({ name, value, floor, is: 'least' })
const atMost = (name: string, value: number, ceiling: number): Figure => ({ name, value, floor: ceiling, is: 'most' })
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
