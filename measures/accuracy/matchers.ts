/**
 * The matchers whose accuracy is measured: our engine and the ones it is compared with. Any matcher that implements one of
 * the two interfaces can be scored.
 */
import {
  calibrate,
  createIndexBuilder,
  createSearcher,
  findMatches,
  type ListedEntity,
  readDob,
  readName,
  type SearchableList,
  scoreCompanies,
  scoreNames,
} from '@ostiary/server/measure'
import { birthDatesOf, type FtmEntity, type LabelledPair, namesOf, type Row } from '@ostiary/testkit/samples/labelled'

/** How alike two names are, from 0 to 1. */
export interface PairMatcher {
  pair(query: string, listed: string, schema: string): number
}

/** Screens rows against a list: per row every entity with at least this score, best first. */
export interface ListMatcher {
  screen(rows: readonly Row[], threshold: number): { id: string; score: number }[][]
}

/** Our scores of names alone, as published. Companies are read as companies. */
export async function ourPairs(): Promise<PairMatcher> {
  return {
    pair: (query, listed, schema) =>
      calibrate(schema === 'Person' ? scoreNames(readName(query), readName(listed)) : scoreCompanies(query, listed)),
  }
}

/** Our engine on a list: index, search and birth dates, without HTTP and threads. */
export async function ourList(entities: readonly FtmEntity[]): Promise<ListMatcher> {
  const builder = createIndexBuilder()
  const indexed = entities.filter((entity, at) => builder.add(listedOf(entity), at))
  const index = builder.finish()
  const list: SearchableList = {
    dataset: 'real',
    version: '1',
    index,
    searcher: createSearcher(index),
    record: (at) => listedOf(indexed[at] as FtmEntity),
  }
  return {
    screen: (rows, threshold) =>
      rows.map(({ name, dob }) =>
        findMatches(list, readName(name), birthOf(dob), threshold)
          .sort((a, b) => b.score - a.score)
          .map(({ entity, score }) => ({ id: (indexed[entity] as FtmEntity).id, score })),
      ),
  }
}

function listedOf(entity: FtmEntity): ListedEntity {
  return {
    id: entity.id,
    schema: 'Person',
    names: namesOf(entity).map((text) => ({ text, kind: 'name' })),
    births: birthDatesOf(entity).flatMap((date) => birthOf(date) ?? []),
    countries: [],
    topics: [],
    programs: [],
    sourceUrl: null,
    datasets: [],
  }
}

/** Some rows of the fixtures write `1969-7-16`. */
function birthOf(date: string) {
  const span = readDob(date.replace(/-(\d)(?=-|$)/g, '-0$1'))
  return span === undefined || span === 'invalid' ? null : { ...span, circa: false }
}

/** The scores of nomenklatura's matcher logic-v2, from its authors' file. The file has scores for these pairs only. */
export function logicV2Pairs(pairs: readonly LabelledPair[]): PairMatcher {
  const key = (...parts: string[]) => parts.join('\n')
  const scores = new Map(
    pairs.map(({ schema, name1, name2, logicV2Score }) => [key(schema, name1, name2), logicV2Score]),
  )
  return { pair: (query, listed, schema) => scores.get(key(schema, query, listed)) ?? Number.NaN }
}

/** The simple baseline: each word takes the most similar word of the other name, averaged. */
export const baselinePairs: PairMatcher = {
  pair: (query, listed) => alignWords(wordsOf(query), wordsOf(listed), (word) => (other) => jaroWinkler(word, other)),
}

function wordsOf(name: string): string[] {
  const letters = name.normalize('NFKD').replace(/\p{M}|['’‘`ʼʻ]/gu, '')
  return letters.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/** Averages both directions, weighted by word length, so that both a missing and an extra word lower the score. */
function alignWords(
  query: readonly string[],
  listed: readonly string[],
  alikeness: (query: string) => (listed: string) => number,
): number {
  const queryBest = query.map(() => 0)
  const listedBest = listed.map(() => 0)
  for (const [q, word] of query.entries()) {
    const alike = alikeness(word)
    for (let l = 0; l < listed.length; l++) {
      const score = alike(listed[l] ?? '')
      if (score > (queryBest[q] ?? 0)) queryBest[q] = score
      if (score > (listedBest[l] ?? 0)) listedBest[l] = score
    }
  }
  return (weightedMean(query, queryBest) + weightedMean(listed, listedBest)) / 2
}

function weightedMean(words: readonly string[], scores: readonly number[]): number {
  let [letters, sum] = [0, 0]
  for (let at = 0; at < words.length; at++) {
    const { length } = words[at] ?? ''
    letters += length
    sum += length * (scores[at] ?? 0)
  }
  return letters === 0 ? 0 : sum / letters
}

/** Winkler's form of Jaro's measure: a tenth of the rest for each of up to four equal first letters. */
export function jaroWinkler(a: string, b: string): number {
  if (a === b) return 1
  const reach = Math.max(0, Math.floor(Math.max(a.length, b.length) / 2) - 1)
  const taken = new Uint8Array(b.length)
  const common: string[] = []
  for (let i = 0; i < a.length; i++) {
    const last = Math.min(b.length - 1, i + reach)
    for (let j = Math.max(0, i - reach); j <= last; j++) {
      if (taken[j] || a[i] !== b[j]) continue
      taken[j] = 1
      common.push(a.charAt(i))
      break
    }
  }
  if (common.length === 0) return 0
  let [displaced, at] = [0, 0]
  for (let j = 0; j < b.length; j++) if (taken[j] && b[j] !== common[at++]) displaced++
  const m = common.length
  const jaro = (m / a.length + m / b.length + (m - displaced / 2) / m) / 3
  let prefix = 0
  while (prefix < 4 && prefix < a.length && a[prefix] === b[prefix]) prefix++
  return jaro + prefix * 0.1 * (1 - jaro)
}
