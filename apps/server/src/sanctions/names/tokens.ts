/** Splits a name into weighted words. Lists and customer files use the same code, so that equal names give equal words. */
import { ABDUL_FORMS, DIN_FORMS, PARTICLES, TITLES, ULLAH_FORMS } from './tables.ts'
import { nativeForm, type Script, scriptOf, toLatin } from './transliterate.ts'

/**
 * `full` words tell people apart; `particle`s (al, bin, van) hardly do; an `initial` stands for a word it begins. `light`
 * is Abdul: alone it says little, but where the other name has another word in its place the names differ.
 */
export type Role = 'full' | 'particle' | 'initial' | 'light'

export interface Word {
  text: string
  role: Role
}

export interface Name {
  words: Word[]
  script: Script
  /** The comparable form in the name's own script, for scripts where a sound is not enough; otherwise ''. */
  native: string
}

export const MAX_WORDS = 10
const MAX_WORD_LENGTH = 40

/** Scripts whose characters mean more than their sound: 朋 and 平 sound alike and are different names. */
const WRITTEN_NAMES: readonly Script[] = ['han', 'kana', 'hangul']

/** One spelling for particles that lists write in many ways. */
const PARTICLE_FORMS: Readonly<Record<string, string>> = Object.fromEntries(
  ['al el ul ur as ar az ad ash', 'bin ibn ben bn', 'abu abou aboo', 'de di da du do', 'von van'].flatMap((group) => {
    const forms = group.split(' ')
    return forms.map((form) => [form, forms[0] as string])
  }),
)
const ARTICLES = new Set(['al', 'el', 'ul', 'ur', 'il', 'ol', 'as', 'ar', 'az', 'ad', 'an', 'ash', 'at', 'ed', 'ud'])
/** Behind a name they say nothing; before or within it they would be names. */
const SUFFIXES = new Set(['jr', 'sr', 'ii', 'iii', 'iv', 'esq', 'phd', 'md'])
/** Korean and Chinese names hold these as syllables. */
const NEVER_PARTICLES = new Set(['il', 'ol', 'an', 'at', 'na', 'do', 'e', 'y', 'i'])
/** Particles that are a name of their own at the beginning: Ben, Van, Le, Do. */
const NAME_WHEN_FIRST = new Set(['ben', 'van', 'le', 'la', 'da', 'san', 'mac', 'de', 'di', 'du'])

/** Includes common misspellings: a word of so little weight must not cost a match. */
const ABDUL = new Set([...ABDUL_FORMS, 'adbul', 'abudl', 'abdlu', 'badul', 'adbel', 'badur'])
const DIN = new Set(DIN_FORMS)
const ULLAH = new Set(ULLAH_FORMS)
const ABDUL_JOINED = /^(?!abd[uae]lla)abd(?:ul|el|al|ol|oul|ur|ar|er|us|as|es|ud|ed)(?=[a-z]{4,}$)/
const DIN_ENDING = /(?:[aeou]d?|[aeou]l)d(?:i|ee|ie)ne?$/
const ULLAH_ENDING = /[aou]llah?$/
const APOSTROPHES = /['`´‘’ʻʼʾʿ"“”]/g
/** "JC" in "JC Vorberg" is two initials; "NG" and all-capital names are not. */
const ASCII = /^[\x20-\x7e]*$/
const TWO_CAPITALS = /[A-Z]{2}/
const CAPITAL_INITIALS = /(?<![A-Za-z.])([BCDFGHJKLMNPQRSTVWXZ])([BCDFGHJKLMNPQRSTVWXZ])(?![A-Za-z])/g

/** The words of a name in the order given; "LAST, First" is turned round. Empty when nothing identifies anyone. */
export function readName(given: string): Name {
  const text = shortened(given)
  const script = ASCII.test(text) ? 'latin' : scriptOf(text)
  const mayHold = script === 'latin' && TWO_CAPITALS.test(text) && /[a-z]/.test(text)
  const words = mayHold ? text.replace(CAPITAL_INITIALS, splitInitials) : text
  return {
    words: toWords(splitWords(turnRound(toLatin(words)))),
    script,
    native: WRITTEN_NAMES.includes(script) ? nativeForm(text) : '',
  }
}

/** Longer than any name. One character may expand to eighteen letters, so the text is cut after the expansion. */
const MOST_LETTERS = 200

function shortened(text: string): string {
  if (text.length <= MOST_LETTERS && ASCII.test(text)) return text
  const cut = text.slice(0, MOST_LETTERS).toWellFormed()
  const undone = ASCII.test(cut) ? cut : cut.normalize('NFKC')
  return undone.length > MOST_LETTERS ? undone.slice(0, MOST_LETTERS).toWellFormed() : cut
}

/** A name given in two fields, as the customer's file does. */
export function readPerson(firstname: string, lastname: string): Name {
  const first = firstname.trim()
  const last = lastname.trim()
  const written = !ASCII.test(last) && WRITTEN_NAMES.includes(scriptOf(last)) && WRITTEN_NAMES.includes(scriptOf(first))
  return readName(written ? `${last}${first}` : `${first.replaceAll(',', ' ')} ${last.replaceAll(',', ' ')}`)
}

function splitInitials(both: string, first: string, second: string): string {
  const word = both.toLowerCase()
  return word === 'ng' || word === 'md' || TITLES.has(word) || SUFFIXES.has(word) ? both : `${first} ${second}`
}

function turnRound(text: string): string {
  const comma = text.indexOf(',')
  if (comma < 0) return text
  return `${text.slice(comma + 1).replaceAll(',', ' ')} ${text.slice(0, comma)}`
}

export function splitWords(text: string): string[] {
  const clean = text.replace(APOSTROPHES, '')
  const found: string[] = []
  let start = -1
  for (let at = 0; at <= clean.length; at++) {
    const letter = at < clean.length ? clean.charCodeAt(at) : 32
    const inWord = (letter >= 97 && letter <= 122) || (letter >= 48 && letter <= 57)
    if (inWord && start < 0) start = at
    if (!inWord && start >= 0) {
      found.push(clean.slice(start, Math.min(at, start + MAX_WORD_LENGTH)))
      start = -1
    }
  }
  return found
}

function toWords(raw: readonly string[]): Word[] {
  const joined = joinCompounds(withoutTitles(raw))
  const words = joined.map((text, at) => wordOf(text, at, joined.length))
  const kept = words.length > MAX_WORDS ? shorten(words) : words
  if (kept.some(({ role }) => role === 'full')) return kept
  // Nothing but particles ("De La") or initials: the particles are the name. Initials alone name nobody.
  return kept.map((word) => (word.role === 'initial' ? word : { ...word, role: 'full' }))
}

/** Titles before a name and suffixes behind it go, as long as a name remains. Elsewhere a title may be a name. */
function withoutTitles(raw: readonly string[]): readonly string[] {
  let from = 0
  let to = raw.length
  while (to - from > 1 && SUFFIXES.has(raw[to - 1] as string)) to--
  while (to - from > 1 && TITLES.has(raw[from] as string)) from++
  return raw.slice(from, to)
}

function wordOf(text: string, at: number, count: number): Word {
  if (text.length === 1 && text >= 'a') return { text, role: 'initial' }
  const isName = (at === 0 && NAME_WHEN_FIRST.has(text)) || (text === 'abdul' && at === count - 1)
  const isTitleWithin = TITLES.has(text) && at > 0 && at < count - 1
  const particle = isName ? null : isTitleWithin ? { text, role: 'particle' as const } : particleOf(text)
  return particle ?? { text, role: 'full' }
}

export function particleOf(text: string): Word | null {
  if (text === 'abdul') return { text, role: 'light' }
  if (!PARTICLES.has(text) || NEVER_PARTICLES.has(text)) return null
  return { text: PARTICLE_FORMS[text] ?? text, role: 'particle' }
}

/** Long names keep their full words first; the order stays. */
function shorten(words: readonly Word[]): Word[] {
  const full = words.filter(({ role }) => role === 'full').slice(0, MAX_WORDS)
  const others = words.filter(({ role }) => role !== 'full').slice(0, MAX_WORDS - full.length)
  return words.filter((word) => full.includes(word) || others.includes(word))
}

/** "abd al X", "abdel X" and "abdulX" become `abdul X`; "X ud din" becomes `Xuddin`, "X ullah" `Xullah`. */
function joinCompounds(raw: readonly string[]): string[] {
  const out: string[] = []
  for (let at = 0; at < raw.length; at++) {
    const word = raw[at] as string
    const next = raw[at + 1]
    const last = out.length - 1
    const joined = word.startsWith('abd') ? ABDUL_JOINED.exec(word) : null
    if (word === 'abd' && next !== undefined && ULLAH.has(next)) {
      out.push('abdullah')
      at++
    } else if (word === 'abd' && next !== undefined && ARTICLES.has(next) && at + 2 < raw.length) {
      out.push('abdul')
      at++
    } else if (ABDUL.has(word) && next !== undefined) {
      out.push('abdul')
    } else if (joined) {
      out.push('abdul', oneSpelling(word.slice(joined[0].length)))
    } else if (out[last] === 'abdul' && ULLAH.has(word)) {
      out[last] = 'abdullah'
    } else if (takesEnding(out[last]) && ARTICLES.has(word) && next !== undefined && DIN.has(next)) {
      out[last] = `${out[last]}uddin`
      at++
    } else if (takesEnding(out[last]) && DIN.has(word) && STARTS_WITH_VOWEL.test(word)) out[last] = `${out[last]}uddin`
    else if (takesEnding(out[last]) && ULLAH.has(word)) out[last] = `${out[last]}ullah`
    else out.push(oneSpelling(word))
  }
  return out
}

const STARTS_WITH_VOWEL = /^[aeiou]/
const LONGEST_WITHOUT_ENDING = MAX_WORD_LENGTH - 5

/** "Deen" alone is a family name, and an initial or a particle takes no ending; nor does a name that has one. */
function takesEnding(word: string | undefined): word is string {
  if (word === undefined || word.length < 3 || word.length > LONGEST_WITHOUT_ENDING) return false
  return !word.endsWith('uddin') && !word.endsWith('ullah') && particleOf(word) === null
}

function oneSpelling(word: string): string {
  // All of these endings end with one of four letters. Most words do not, and looking is cheaper than two patterns.
  if (word.length < 7 || !'nhea'.includes(word[word.length - 1] as string)) return word
  return word.replace(DIN_ENDING, 'uddin').replace(ULLAH_ENDING, 'ullah')
}
