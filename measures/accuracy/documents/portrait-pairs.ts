/** Pairs of a printed and a live portrait, and how many of them fall on the wrong side of a threshold. */
import { wilsonInterval } from '../verification.ts'

export interface PortraitPair {
  /** Name of the print. */
  kind: string
  /** Person on the document, and person before the camera. */
  people: readonly [string, string]
  score: number
  /** Between the dates of the two portraits of one person. */
  yearsApart: number | undefined
}

export const THRESHOLDS = [0.35, 0.4, 0.42, 0.45, 0.5] as const
/** The upper end of the interval of pairs of two people that pass must be below this at the threshold that is chosen. */
const PASSED_MAX = 0.001

const isGenuine = ({ people: [one, other] }: PortraitPair) => one === other

export function countErrors(pairs: readonly PortraitPair[], threshold: number) {
  const genuine = pairs.filter(isGenuine)
  const others = pairs.filter((pair) => !isGenuine(pair))
  const refused = genuine.filter(({ score }) => score < threshold)
  const passed = others.filter(({ score }) => score >= threshold)
  return {
    refused: refused.length,
    /** Pairs of one person are not independent of each other, so the people are counted, too. */
    refusedPeople: new Set(refused.map(({ people: [person] }) => person)).size,
    genuine: genuine.length,
    genuinePeople: new Set(genuine.map(({ people: [person] }) => person)).size,
    passed: passed.length,
    passedPeople: new Set(passed.map(({ people }) => people.toSorted().join())).size,
    others: others.length,
  }
}

/** The lowest threshold at which few enough pairs of two people pass. */
export function chooseThreshold(pairs: readonly PortraitPair[]): number | undefined {
  return THRESHOLDS.find((threshold) => {
    const { passed, others } = countErrors(pairs, threshold)
    return wilsonInterval(passed, others)[1] <= PASSED_MAX
  })
}

/** The pairs whose people are both in this half of all people; a pair across the halves is in none. */
export function halfOf(pairs: readonly PortraitPair[], half: 0 | 1): PortraitPair[] {
  const several = peopleOf(pairs.filter(isGenuine))
  const single = peopleOf(pairs).filter((person) => !several.includes(person))
  // Both kinds of people are divided, because only those with several portraits give genuine pairs.
  const inHalf = new Set([several, single].flatMap((people) => people.filter((_, at) => at % 2 === half)))
  return pairs.filter(({ people }) => people.every((person) => inHalf.has(person)))
}

const peopleOf = (pairs: readonly PortraitPair[]) => [...new Set(pairs.flatMap(({ people }) => people))].sort()

export function errorsLine(pairs: readonly PortraitPair[], threshold: number): string {
  const { refused, refusedPeople, genuine, genuinePeople, passed, passedPeople, others } = countErrors(pairs, threshold)
  const refusals = `refused ${refused} of ${genuine} ${interval(refused, genuine, 1)}, ${refusedPeople} of ${genuinePeople} people`
  const passes = `others passed ${passed} of ${others} ${interval(passed, others, 3)}, ${passedPeople} pairs of people`
  return `${threshold.toFixed(2)}: ${refusals}${others > 0 ? `; ${passes}` : ''}`
}

function interval(count: number, total: number, digits: number): string {
  const percent = (share: number) => (100 * share).toFixed(digits)
  const [low, high] = wilsonInterval(count, total)
  return `(${percent(count / total)} % [${percent(low)}, ${percent(high)}])`
}
