import type { ListedMatch, NameMatchKind, RowWarning } from '@ostiary/contract'

type Pair = ListedMatch['explanation']['name'][number]

/** The label that is shown beside a pair of words. */
export const KIND_LABELS: Record<NameMatchKind, string> = {
  exact: 'same',
  spelling: 'spelling variant',
  edit: 'typo',
  sound: 'sounds alike',
  initial: 'initial',
  nickname: 'nickname',
  joined: 'joined or divided',
  script: 'different script',
}

/** `pair` is the word of the row and the word of the list. */
const PAIR_PHRASES: Record<NameMatchKind, (pair: string) => string> = {
  exact: (pair) => `the same word ${pair}`,
  spelling: (pair) => `spelling variant ${pair}`,
  edit: (pair) => `typo in ${pair}`,
  sound: (pair) => `sounds alike ${pair}`,
  initial: (pair) => `initial ${pair}`,
  nickname: (pair) => `nickname ${pair}`,
  joined: (pair) => `words joined or divided ${pair}`,
  script: (pair) => `different script ${pair}`,
}

export const WARNING_MEANINGS: Record<RowWarning, string> = {
  INVALID_DOB: 'The birth date must be YYYY-MM-DD, YYYY-MM or YYYY, from 1850 to 2100. Only the name was compared',
  PARTIAL_DOB: 'The birth date has only a year, or a year and a month. Only these were compared',
  EMPTY_NAME: 'The row has neither a first nor a last name. Nothing was compared',
  MISSING_FIELDS: 'The row has too few columns. The id, a name or the birth date is missing and counts as empty',
  NAME_NOT_COMPARABLE: 'The name has only initials, punctuation or symbols. It was not compared with the list',
  STALE_EXCEPTION: 'The exception for this id was made for another name or birth date. It was not applied',
}

/** Why an entry has its score, in one line: `typo in 'valshakken'~'valshaken'; born on the same day, 1961-04-17`. */
export function explainShort({ explanation, name, matchedName }: ListedMatch): string {
  const { name: pairs, unmatchedQuery, unmatchedListed, notes, dob } = explanation
  // The notes already say that words were joined or divided.
  const inexact = pairs.filter(
    ({ kind, query, listed }) => kind !== 'exact' && !(kind === 'joined' && query === listed),
  )
  const hasSameWords = inexact.length === 0 && unmatchedQuery.length === 0 && unmatchedListed.length === 0
  return [
    ...(hasSameWords ? ['the same words'] : inexact.map(pairPhrase)),
    ...(unmatchedQuery.length > 0 ? [`only in the row: ${quoted(unmatchedQuery)}`] : []),
    ...(unmatchedListed.length > 0 ? [`only in the list: ${quoted(unmatchedListed)}`] : []),
    ...notes.map(lowerFirst),
    ...(matchedName !== name ? [`also listed as '${matchedName}'`] : []),
    lowerFirst(dob.text),
  ].join('; ')
}

function pairPhrase({ query, listed, kind }: Pair): string {
  return PAIR_PHRASES[kind](`'${query}'~'${listed}'`)
}

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(', ')

/** Lowers the first letter, so that a sentence fits into a longer line. */
const lowerFirst = (sentence: string) => sentence.charAt(0).toLowerCase() + sentence.slice(1)

/** Formats a change of the score as `+0.02`, `−0.04` or `±0`. The minus is the printed one (U+2212). */
export function signed(change: number): string {
  const size = String(Math.abs(Math.round(change * 10_000) / 10_000))
  return change > 0 ? `+${size}` : change < 0 ? `−${size}` : '±0'
}

export const score = (value: number) => value.toFixed(4)
