/** Explains a score in words that a reviewer can check by looking at the two names. Runs for hits only. */
import type { MatchExplanation, NameMatchKind } from '@ostiary/contract'
import { spellingOf, tableSimilarity } from '../names/groups.ts'
import { EXACT, NICKNAME, SPELLING, wordSimilarity } from '../names/similarity.ts'
import type { Name, Word } from '../names/tokens.ts'
import { type BirthEvidence, type BirthSpan, formatBirth } from './birth.ts'
import { bestReading, compareWords, type Reading, scoreReading } from './pair.ts'

type Pair = MatchExplanation['name'][number]

/** The part of an explanation about the names. explainBirth has the part about the birth date. */
export function explainNames(query: Name, listed: Name): Omit<MatchExplanation, 'nameScore' | 'dob'> {
  const { reading, sameCharacters } = bestReading(query, listed)
  if (sameCharacters && query.native === listed.native) {
    const whole: Pair = { query: query.native, listed: listed.native, kind: 'exact', similarity: 1 }
    return { name: [whole], unmatchedQuery: [], unmatchedListed: [], notes: [] }
  }
  const { table } = scoreReading(reading, listed, sameCharacters)
  const paired = [...table.pairedWith.subarray(0, reading.words.length)]
  const pairs: Pair[] = []
  const unmatchedQuery: string[] = []
  reading.words.forEach((word, at) => {
    const other = listed.words[paired[at] ?? -1]
    if (other) pairs.push(pairOf(word, other, reading.exactAt.includes(at), query.script !== listed.script))
    else unmatchedQuery.push(word.text)
  })
  const unmatchedListed = listed.words.filter((_, at) => !paired.includes(at)).map(({ text }) => text)
  return { name: pairs, unmatchedQuery, unmatchedListed, notes: notesOf(query, listed, reading, paired) }
}

function pairOf(query: Word, listed: Word, joined: boolean, otherScript: boolean): Pair {
  const similarity = compareWords(query, listed)
  const kind = kindOf(query, listed, similarity)
  return {
    query: query.text,
    listed: listed.text,
    kind: joined ? 'joined' : otherScript && kind === 'exact' ? 'script' : kind,
    similarity: similarity / EXACT,
  }
}

function kindOf(query: Word, listed: Word, similarity: number): NameMatchKind {
  if (query.role !== listed.role) return 'initial'
  if (similarity === EXACT) return 'exact'
  const byTable = tableSimilarity(spellingOf(query.text), spellingOf(listed.text))
  if (byTable === similarity) return byTable === SPELLING ? 'spelling' : byTable === NICKNAME ? 'nickname' : 'edit'
  return wordSimilarity(query.text, listed.text, null, null) === similarity ? 'edit' : 'sound'
}

function notesOf(query: Name, listed: Name, { exactAt }: Reading, paired: readonly number[]): string[] {
  const notes: string[] = []
  if (query.script !== listed.script) {
    notes.push(`The row is in ${query.script} script, the list in ${listed.script}: compared in Latin letters`)
  }
  if (exactAt.length > 0) notes.push('Words were joined or divided to meet the listed name')
  const places = paired.filter((at) => at >= 0)
  if (places.some((at, n) => n > 0 && at < (places[n - 1] ?? 0))) notes.push('The words stand in another order')
  return notes
}

/** The part about the birth date. It names both dates, so that a reviewer sees a typing error at once. */
export function explainBirth(
  query: BirthSpan | null,
  listed: readonly BirthSpan[],
  evidence: BirthEvidence,
): MatchExplanation['dob'] {
  const ours = query ? formatBirth(query) : ''
  const span = listed[evidence.at]
  const theirs = span ? formatBirth(span) : ''
  const texts: Record<BirthEvidence['kind'], string> = {
    unknown: query ? 'The list has no birth date' : 'The row has no usable birth date',
    same_day: `Born on the same day, ${theirs}`,
    same_month: `The same month, ${theirs}`,
    same_year: `The same year: ${ours} and ${theirs}`,
    within_range: `${ours} is within ${theirs}`,
    day_and_month_swapped: `${ours} is ${theirs} with day and month swapped`,
    one_digit: `${ours} and ${theirs} differ in one digit`,
    near: `${ours} is near ${theirs}`,
    other_day: `The same year, another day: ${ours} and ${theirs}`,
    different: `${ours} is not ${theirs}`,
  }
  return { effect: evidence.effect, kind: evidence.kind, text: texts[evidence.kind] }
}
