import type { ListedMatch, NameMatchKind, RowWarning } from '@ostiary/contract'

type Pair = ListedMatch['explanation']['name'][number]

/** The label that is shown beside a pair of words. */
export const KIND_LABELS: Record<NameMatchKind, string> = {
  exact: 'same',
  spelling: 'other spelling',
  edit: 'typo',
  sound: 'sounds alike',
  initial: 'initial',
  nickname: 'nickname',
  joined: 'joined',
  script: 'other script',
}

const PAIR_SENTENCES: Record<NameMatchKind, (pair: string) => string> = {
  exact: (pair) => `the same word ${pair}`,
  spelling: (pair) => `other spelling ${pair}`,
  edit: (pair) => `typo in ${pair}`,
  sound: (pair) => `sounds alike ${pair}`,
  initial: (pair) => `initial ${pair}`,
  nickname: (pair) => `nickname ${pair}`,
  joined: (pair) => `joined or divided ${pair}`,
  script: (pair) => `other script ${pair}`,
}

export const WARNING_MEANINGS: Record<RowWarning, string> = {
  INVALID_DOB:
    'The birth date is not written YYYY-MM-DD, YYYY-MM or YYYY, or is not a date from 1850 to 2100: only the name was compared',
  PARTIAL_DOB: 'The birth date is a year or a month, and was compared as such',
  EMPTY_NAME: 'Neither first nor last name: nothing could be compared',
  MISSING_FIELDS: 'The row ends before all four columns',
  NAME_NOT_COMPARABLE: 'The name has only initials or signs, so it was compared with nobody',
  STALE_EXCEPTION: 'An exception for this id names another name or birth date, so it does not hold',
}

/** Why an entry has its score, in one line: `typo in 'valshakken'~'valshaken'; born on the same day, 1961-04-17`. */
export function explainShort({ explanation, name, matchedName }: ListedMatch): string {
  const { name: pairs, unmatchedQuery, unmatchedListed, notes, dob } = explanation
  // The notes already mention joined words.
  const odd = pairs.filter(({ kind, query, listed }) => kind !== 'exact' && !(kind === 'joined' && query === listed))
  const isWhole = odd.length === 0 && unmatchedQuery.length === 0 && unmatchedListed.length === 0
  return [
    ...(isWhole ? ['the same words'] : odd.map(sayPair)),
    ...(unmatchedQuery.length > 0 ? [`only in the row: ${quoted(unmatchedQuery)}`] : []),
    ...(unmatchedListed.length > 0 ? [`only in the list: ${quoted(unmatchedListed)}`] : []),
    ...notes.map(inner),
    ...(matchedName !== name ? [`listed also as '${matchedName}'`] : []),
    inner(dob.text),
  ].join('; ')
}

function sayPair({ query, listed, kind }: Pair): string {
  return PAIR_SENTENCES[kind](`'${query}'~'${listed}'`)
}

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(', ')

/** Lowers the first letter, so that a sentence fits into a longer line. */
const inner = (sentence: string) => sentence.charAt(0).toLowerCase() + sentence.slice(1)

/** `+0.02`, `−0.04`, `±0`: with the sign that printed texts use. */
export function signed(effect: number): string {
  const size = String(Math.abs(Math.round(effect * 10_000) / 10_000))
  return effect > 0 ? `+${size}` : effect < 0 ? `−${size}` : '±0'
}

export const score = (value: number) => value.toFixed(4)
