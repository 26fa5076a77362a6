/**
 * The labelled data for the accuracy of names. It has other authors and licences, so it is kept outside the repository. A
 * machine without it skips the measurement.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { ROOT } from '../run.ts'

const FOLDER = `${process.env.OSTIARY_DATA ?? `${ROOT}../shared/data`}/sanctions`
const BENCH = 'labelled/yente_candidate_bench'

export type Half = 'tuning' | 'held-out'
/** How sure the label of a pair is: STRONG cases leave no doubt, WEAK ones do. The file calls it quality. */
export type Tier = 'STRONG' | 'MEDIUM' | 'WEAK'

/** One pair of names, whether they mean the same person or company, and the score that nomenklatura's matcher logic-v2 gives it. */
export interface LabelledPair {
  schema: string
  name1: string
  name2: string
  isMatch: boolean
  tier: Tier
  category: string
  logicV2Score: number
  half: Half
}

/** A line of a list as FollowTheMoney writes it. */
export interface FtmEntity {
  id: string
  caption: string
  schema: string
  properties: Record<string, string[]>
  datasets: string[]
}

/** What a customer would send. `dob` is as the source has it: a full date, a year, or empty. */
export interface Row {
  name: string
  first?: string
  last?: string
  dob: string
}

/** A person who is on the UN's list, in two rows that a customer might send. */
export interface Positive {
  asListed: Row
  /** The same row with a typing error, another word order or another birth date. Many rows are the same as `asListed`. */
  distorted: Row
  /** Entities of the real list that are this person; empty when no entity could be determined. */
  gold: string[]
  /** Says how the right entities of the row were found, or why it has none. */
  goldBasis: string
}

/** Where the data should be but is not, or undefined when it is there. */
export function missingData(): string | undefined {
  const path = `${FOLDER}/labelled`
  return existsSync(path) ? undefined : path
}

const read = (path: string) => readFileSync(`${FOLDER}/${path}`, 'utf8')

/** Comma-separated values with quotes (RFC 4180), as one object per record under the names of the first line. */
export function parseCsv(text: string): Record<string, string>[] {
  const records: string[][] = []
  let record: string[] = []
  const whole = text.endsWith('\n') ? text : `${text}\n`
  const fields = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n)/gy
  while (fields.lastIndex < whole.length) {
    const [, quoted, plain = '', end] = fields.exec(whole) ?? []
    if (end === undefined) throw new Error(`Record ${records.length + 1} has a stray quote`)
    record.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    records.push(record)
    record = []
  }
  const [header = [], ...rows] = records
  return rows.map((row) => Object.fromEntries(header.map((name, at) => [name, row[at] ?? ''])))
}

/**
 * Which half a pair belongs to. The listed name decides, so that the variants of one name stay in the same half: tuning on
 * `tuning` must not see variants of the names in `held-out`.
 */
export function halfOf(name2: string): Half {
  const first = createHash('sha256').update(name2.toLowerCase()).digest()[0] ?? 0
  return first % 2 === 0 ? 'tuning' : 'held-out'
}

export function loadPairs(): LabelledPair[] {
  return parseCsv(read('labelled/nomenklatura_logicv2_frozen_scores.csv')).map((row) => ({
    schema: row.schema ?? '',
    name1: row.name1 ?? '',
    name2: row.name2 ?? '',
    isMatch: row.is_match === 'true',
    tier: row.quality as Tier,
    category: row.category ?? '',
    logicV2Score: Number(row.score),
    half: halfOf(row.name2 ?? ''),
  }))
}

/** The persons of OFAC's and the UN's lists. */
export function loadRealList(): FtmEntity[] {
  return read('real_persons_ofac_un.ftm.jsonl')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as FtmEntity)
}

/** Invented people who are on no list. Every tenth, unless all are wanted: the files are in random order. */
export function loadNegatives(all: boolean): Row[] {
  return ['us', 'global'].flatMap((file) =>
    parseCsv(read(`${BENCH}/negatives_${file}.csv`))
      .filter((_, at) => all || at % 10 === 0)
      .map(({ first_name: first = '', middle_name: middle = '', last_name: last = '', date_of_birth: dob = '' }) => {
        const given = middle === '' ? first : `${first} ${middle}`
        return { name: `${given} ${last}`, first: given, last, dob }
      }),
  )
}

/** The source calls distorted rows treated. Row i of both files is the same person, so both have the same right answer. */
export function loadPositives(entities: readonly FtmEntity[]): Positive[] {
  const [asListed, distorted] = ['untreated', 'treated'].map((file) =>
    parseCsv(read(`${BENCH}/positives_un_${file}.csv`)).map(
      (row): Row => ({ name: row.full_name ?? '', dob: row.date_of_birth ?? '' }),
    ),
  )
  if (!asListed || asListed.length !== distorted?.length) throw new Error('The UN files differ in length')
  const byName = indexNames(entities)
  return asListed.map((row, at) => ({
    asListed: row,
    distorted: distorted[at] ?? row,
    ...findGold(row, byName.get(plainName(row.name)) ?? []),
  }))
}

/** A normal form that ignores marks, case and word order. It is simple and independent of the matcher that it judges. */
export function plainName(name: string): string {
  const letters = name.normalize('NFKD').replace(/\p{M}|['’‘`ʼʻ]/gu, '')
  return (letters.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).sort().join(' ')
}

export const namesOf = ({ properties }: FtmEntity): string[] => [
  ...(properties.name ?? []),
  ...(properties.alias ?? []),
  ...(properties.weakAlias ?? []),
]

export const birthDatesOf = ({ properties }: FtmEntity): string[] => properties.birthDate ?? []

function indexNames(entities: readonly FtmEntity[]): Map<string, FtmEntity[]> {
  const byName = new Map<string, FtmEntity[]>()
  for (const entity of entities)
    for (const name of new Set(namesOf(entity).map(plainName)))
      if (name !== '') byName.set(name, [...(byName.get(name) ?? []), entity])
  return byName
}

function findGold({ dob }: Row, named: readonly FtmEntity[]): Pick<Positive, 'gold' | 'goldBasis'> {
  const ids = (some: readonly FtmEntity[]) => some.map(({ id }) => id)
  if (named.length === 0) return { gold: [], goldBasis: 'no entity has this name' }
  if (named.length === 1) return { gold: ids(named), goldBasis: 'one entity has this name' }
  if (dob === '') return { gold: ids(named), goldBasis: 'several have this name, the row has no birth date' }
  const sameYear = named.filter((entity) => birthDatesOf(entity).some((date) => date.slice(0, 4) === dob.slice(0, 4)))
  if (sameYear.length > 0) return { gold: ids(sameYear), goldBasis: 'several have this name, chosen by birth year' }
  return { gold: ids(named), goldBasis: 'several have this name, none the birth year' }
}
