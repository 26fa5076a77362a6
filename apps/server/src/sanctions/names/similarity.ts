/**
 * The similarity of two words of names, both in lower-case Latin. A pair counts only when it is within a fixed number of
 * edits, has the same consonants, or is in one of our tables. This limit lets the index find all such pairs without
 * comparing every word with every other.
 */

/** Similarities are whole thousandths, so that the index and the full comparison give the same number. */
export const EXACT = 1000
/** A pair two edits apart never scores above this, which lets the index leave such pairs out where they cannot matter. */
export const TWO_EDITS_MAX = 740
export const SPELLING = 970
export const NICKNAME = 860
export const INITIAL = 800

const MAX_LENGTH = 62
const code = (letter: string) => letter.charCodeAt(0)

/** Edits allowed by the shorter word's length. In two letters one edit makes another name. */
export function editBudget(length: number): number {
  return length < 3 ? 0 : length < 6 ? 1 : 2
}

const A = new Uint8Array(64)
const B = new Uint8Array(64)
const ROWS = [new Uint8Array(64), new Uint8Array(64), new Uint8Array(64)] as const
const COSTS = [new Uint16Array(64), new Uint16Array(64), new Uint16Array(64)] as const

function load(into: Uint8Array, word: string): number {
  const length = Math.min(word.length, MAX_LENGTH)
  for (let at = 0; at < length; at++) into[at] = word.charCodeAt(at)
  return length
}

/** Edits (insert, delete, replace, swap of neighbours) from one word to the other, or `most + 1` when there are more. */
export function edits(a: Uint8Array, aLength: number, b: Uint8Array, bLength: number, most: number): number {
  if (Math.abs(aLength - bLength) > most) return most + 1
  let [before, last, row]: readonly Uint8Array[] = ROWS as readonly Uint8Array[] as [Uint8Array, Uint8Array, Uint8Array]
  if (!before || !last || !row) return most + 1
  for (let j = 0; j <= bLength; j++) last[j] = j
  for (let i = 1; i <= aLength; i++) {
    row[0] = i
    let best = i
    const x = a[i - 1] as number
    for (let j = 1; j <= bLength; j++) {
      const y = b[j - 1] as number
      let value = (last[j - 1] as number) + (x === y ? 0 : 1)
      if ((last[j] as number) + 1 < value) value = (last[j] as number) + 1
      if ((row[j - 1] as number) + 1 < value) value = (row[j - 1] as number) + 1
      if (i > 1 && j > 1 && x === b[j - 2] && a[i - 2] === y && (before[j - 2] as number) + 1 < value) {
        value = (before[j - 2] as number) + 1
      }
      row[j] = value
      if (value < best) best = value
    }
    if (best > most) return most + 1
    const spare: Uint8Array = before
    before = last
    last = row
    row = spare
  }
  return last[bLength] as number
}

/** What replacing one letter by another costs, in hundredths of an edit: letters that sound or look alike cost less. */
const REPLACE = new Uint8Array(128 * 128).fill(100)
for (const [letters, cost] of [
  ['aeiou', 70],
  ['iyj', 50],
  ['ouw', 60],
  ['kcq', 50],
  ['szc', 60],
  ['vw', 40],
  ['vbf', 70],
  ['dt', 80],
  ['gk', 80],
  ['gh', 80],
  ['bp', 80],
  ['mn', 80],
  ['jg', 70],
  ['o0', 40],
  ['il1', 60],
  ['s5', 40],
  ['g9', 40],
  ['e3', 40],
  ['a4', 40],
] as const) {
  for (const x of letters) {
    for (const y of letters) {
      const at = code(x) * 128 + code(y)
      if (x !== y && cost < (REPLACE[at] as number)) REPLACE[at] = cost
    }
  }
}
const SWAP = 90
/** A missing or extra letter, by itself and beside its double. */
const DROP = new Uint8Array(128).fill(100)
for (const vowel of 'aeiouy') DROP[code(vowel)] = 80
DROP[code('h')] = 60
const DROP_DOUBLE = 50

/** The cheapest way from one word to the other, in hundredths of an edit. */
function weightedEdits(a: Uint8Array, aLength: number, b: Uint8Array, bLength: number): number {
  let [before, last, row] = COSTS as unknown as [Uint16Array, Uint16Array, Uint16Array]
  last[0] = 0
  for (let j = 1; j <= bLength; j++) last[j] = (last[j - 1] as number) + dropCost(b, j - 1, bLength)
  for (let i = 1; i <= aLength; i++) {
    const x = a[i - 1] as number
    const dropX = dropCost(a, i - 1, aLength)
    row[0] = (last[0] as number) + dropX
    for (let j = 1; j <= bLength; j++) {
      const y = b[j - 1] as number
      let value = (last[j - 1] as number) + (x === y ? 0 : (REPLACE[(x & 127) * 128 + (y & 127)] as number))
      const without = (last[j] as number) + dropX
      if (without < value) value = without
      const extra = (row[j - 1] as number) + dropCost(b, j - 1, bLength)
      if (extra < value) value = extra
      if (i > 1 && j > 1 && x === b[j - 2] && a[i - 2] === y && (before[j - 2] as number) + SWAP < value) {
        value = (before[j - 2] as number) + SWAP
      }
      row[j] = value
    }
    const spare = before
    before = last
    last = row
    row = spare
  }
  return last[bLength] as number
}

function dropCost(word: Uint8Array, at: number, length: number): number {
  const letter = word[at] as number
  const doubled = (at > 0 && word[at - 1] === letter) || (at + 1 < length && word[at + 1] === letter)
  return doubled ? DROP_DOUBLE : (DROP[letter & 127] as number)
}

/** What the one edit between two words costs, in hundredths of an edit; -1 when they are further apart. */
function oneEdit(a: Uint8Array, aLength: number, b: Uint8Array, bLength: number): number {
  if (aLength > bLength) return oneEdit(b, bLength, a, aLength)
  let at = 0
  while (at < aLength && a[at] === b[at]) at++
  let end = 0
  while (end < aLength - at && a[aLength - 1 - end] === b[bLength - 1 - end]) end++
  const left = aLength - at - end
  if (bLength - aLength === 1) return left === 0 ? dropCost(b, at, bLength) : -1
  if (bLength !== aLength) return -1
  if (left === 1) return REPLACE[((a[at] as number) & 127) * 128 + ((b[at] as number) & 127)] as number
  return left === 2 && a[at] === b[at + 1] && a[at + 1] === b[at] ? SWAP : -1
}

/** Lost per edit and letter of the longer word, and for another first letter. Fitted on the tuning half. */
const PER_EDIT = 9.0
const FIRST_LETTER = 30

/** Similarity of two different words by edits, 0 when there are more than `most` or than their length allows. */
export function editSimilarity(a: Uint8Array, aLength: number, b: Uint8Array, bLength: number, most: 1 | 2): number {
  const budget = Math.min(most, editBudget(aLength < bLength ? aLength : bLength))
  if (budget === 0) return 0
  const longer = aLength > bLength ? aLength : bLength
  const first = a[0] === b[0] ? 0 : FIRST_LETTER
  const cost = oneEdit(a, aLength, b, bLength)
  if (cost >= 0) return Math.round(EXACT - (cost * PER_EDIT) / longer - first)
  if (budget === 1 || edits(a, aLength, b, bLength, 2) > 2) return 0
  const lost = (weightedEdits(a, aLength, b, bLength) * PER_EDIT) / longer + first
  return Math.max(2, Math.min(Math.round(EXACT - lost), TWO_EDITS_MAX))
}

/** The consonants of a word by sound, and its vowels by class: transliterations share them. Null for short words. */
export interface Skeleton {
  consonants: string
  vowels: string
}

/** Letters that are written together for one sound, longest first. Capitals are sounds without a letter of their own. */
const SOUNDS = new Map(
  Object.entries(
    Object.groupBy(
      [
        ...['tsch C', 'shch S', 'tch C', 'tsh C', 'sch S', 'dzh J', 'iey i', 'cz C', 'ch C', 'sh S', 'dj J', 'zh J'],
        ...['kh h', 'gh g', 'ph f', 'th t', 'dh d', 'ck k', 'ts s', 'tz s', 'ou u', 'oo u', 'ee i', 'iy i', 'ij i'],
        ...['yi i', 'ii i', 'ce s', 'ci s', 'cy s', 'c k', 'q k', 'w v', 'z s', 'j J'],
      ].map((line) => line.split(' ') as [letters: string, sound: string]),
      ([letters]) => letters[0] as string,
    ),
  ),
)
const VOWEL_CLASS: Record<string, string> = { a: '1', e: '2', i: '2', y: '2', o: '3', u: '3' }

/** What is heard at a place of a word, and how many letters it takes. A soft c leaves its vowel to be heard next. */
function soundAt(word: string, at: number): [sound: string, letters: number] {
  const first = word[at] as string
  for (const [letters, sound] of SOUNDS.get(first) ?? []) {
    if (letters.length > 1 && !word.startsWith(letters, at)) continue
    return [sound, first === 'c' && sound === 's' ? 1 : letters.length]
  }
  return [first, 1]
}

const skeletons = new Map<string, Skeleton | null>()
const KEPT_SKELETONS = 60_000

/** Cached because the words of a file and of matching names repeat. */
export function skeletonOf(word: string): Skeleton | null {
  if (word.length < 4) return null
  const known = skeletons.get(word)
  if (known !== undefined) return known
  const made = makeSkeleton(word)
  if (skeletons.size >= KEPT_SKELETONS) skeletons.clear()
  skeletons.set(word, made)
  return made
}

function makeSkeleton(word: string): Skeleton | null {
  const heard = word.endsWith('off') ? `${word.slice(0, -3)}ov` : word
  let consonants = ''
  let vowels = ''
  let previous = ''
  for (let at = 0; at < heard.length; ) {
    const [sound, letters] = heard[at] === 'x' ? ['ks', 1] : soundAt(heard, at)
    const isFirst = at === 0
    at += letters
    if (sound === previous) continue
    previous = sound
    const vowel = VOWEL_CLASS[sound]
    if (vowel) {
      if (isFirst) consonants += 'A'
      vowels += vowel
    } else if (sound !== 'h' || at < heard.length) consonants += sound
  }
  const enough = consonants.length >= 3 || (consonants.length === 2 && word.length <= 5)
  return enough ? { consonants, vowels } : null
}

const SAME_SKELETON = 960
const PER_VOWEL = 50

/** Similarity of two words with the same consonants; 0 when their vowels differ too much. */
export function vowelSimilarity(
  a: Uint8Array,
  aLength: number,
  b: Uint8Array,
  bLength: number,
  shorterWord: number,
): number {
  const most = shorterWord >= 6 ? 2 : 1
  const different = edits(a, aLength, b, bLength, most)
  return different > most ? 0 : SAME_SKELETON - PER_VOWEL * different
}

/** Two words by edits and by sound, the better of the two. Tables of spellings and nicknames come on top. */
export function wordSimilarity(
  a: string,
  b: string,
  skeletonA = skeletonOf(a),
  skeletonB: Skeleton | null = skeletonOf(b),
): number {
  if (a === b) return EXACT
  const byEdits = editSimilarity(A, load(A, a), B, load(B, b), 2)
  if (!skeletonA || !skeletonB || skeletonA.consonants !== skeletonB.consonants) return byEdits
  const shorter = Math.min(a.length, b.length)
  const bySound = vowelSimilarity(A, load(A, skeletonA.vowels), B, load(B, skeletonB.vowels), shorter)
  return Math.max(byEdits, bySound)
}
