import {
  asciiOf,
  type CyrillicLanguage,
  cyrillicLanguage,
  cyrillicText,
  greekText,
  latinText,
} from './scripts/alphabets.ts'
import { arabicText, foldArabic } from './scripts/arabic.ts'
import {
  hangulText,
  hanText,
  isJapanese,
  isKana,
  kanaText,
  type NamePart,
  type RunPlace,
} from './scripts/east-asian.ts'
import { foldHebrew, hebrewText } from './scripts/hebrew.ts'
import { indicText } from './scripts/indic.ts'
import { thaiText } from './scripts/thai.ts'
import { SIMPLIFIED } from './tables/simplified.ts'

export type { NamePart } from './scripts/east-asian.ts'
export type Script = 'latin' | 'cyrillic' | 'greek' | 'arabic' | 'hebrew' | 'han' | 'kana' | 'hangul' | 'other'

/** Finer than Script: what decides which rules a run of characters is read by. */
type Kind = Script | 'ascii' | 'indic' | 'thai'

function kindOf(code: number): Kind {
  if (code < 0x80) return 'ascii'
  if (code < 0x370) return 'latin'
  if (code < 0x400) return 'greek'
  if (code < 0x530) return 'cyrillic'
  if (code < 0x590) return 'other'
  if (code < 0x600) return 'hebrew'
  if (code < 0x700 || (code >= 0x750 && code < 0x780) || (code >= 0x870 && code < 0x900)) return 'arabic'
  if (code < 0x900) return 'other'
  if (code < 0xd80) return 'indic'
  if (code >= 0xe00 && code < 0xe80) return 'thai'
  if (code >= 0x1e00 && code < 0x1f00) return 'latin'
  if (code >= 0x1f00 && code < 0x2000) return 'greek'
  if (code === 0x200c || code === 0x200d || code === 0xfeff) return 'other'
  if (isKana(code)) return 'kana'
  if (code === 0x3005 || code === 0x3007 || (code >= 0x3400 && code < 0xa000)) return 'han'
  if (code >= 0xac00 && code < 0xd7a4) return 'hangul'
  if (code >= 0xd840 && code < 0xd88e) return 'han'
  if (code >= 0xf900 && code < 0xfb00) return 'han'
  return 'other'
}

function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code > 0x7e) return false
  }
  return true
}

/** Only Latin letters, accents and punctuation: one table look-up per character, no runs. */
function isWestern(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x370) return false
  return true
}

/** Every sign people type for an apostrophe or for the Arabic ayn, as NFKC would turn some of them into a space. */
const APOSTROPHES = /[\u00b4\u2018\u2019\u201b\u2032\u02b9-\u02bf\u02c8\u02ca\u02cb\uff07\u055a]/g
/** Joiners and direction marks are invisible and mean nothing in a name. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|[\ufe00-\ufe0f]/g
/** Ukrainian separates two letters with it; Latin spellings leave it out. */
const INNER_APOSTROPHE = /(?<=[\u0400-\u04ff])'(?=[\u0400-\u04ff])/g
/** Hebrew writes j, zh and ch with it. */
const GERESH = /(?<=[גזצץ])'/g
/** A middle dot stands between the words of a foreign name. */
const DOTS = /[\u00b7\u30fb\u2022\u2027\u2e31\u0387]/g

function prepared(text: string): string {
  return text.replace(APOSTROPHES, "'").replace(INVISIBLE, '').normalize('NFKC').toLowerCase()
}

interface Run {
  readonly kind: Kind
  text: string
}

function runsOf(text: string): Run[] {
  const runs: Run[] = []
  let start = 0
  while (start < text.length) {
    const kind = kindOf(text.charCodeAt(start))
    let end = start + 1
    while (end < text.length && sameRun(kind, text.charCodeAt(end))) end++
    runs.push({ kind, text: text.slice(start, end) })
    start = end
  }
  return runs
}

/** A low surrogate goes with its high one, and a mark with the letter before it. */
function sameRun(kind: Kind, code: number): boolean {
  if (code >= 0xdc00 && code < 0xe000) return true
  if (code >= 0x300 && code < 0x370 && kind !== 'ascii') return true
  return kindOf(code) === kind
}

/** Chinese characters and kana that touch are one Japanese word. */
function mergeJapanese(runs: readonly Run[]): Run[] {
  const merged: Run[] = []
  for (const run of runs) {
    const before = merged.at(-1)
    if (before !== undefined && (before.kind === 'han' || before.kind === 'kana') && run.kind === 'han') {
      merged[merged.length - 1] = { kind: 'han', text: before.text + run.text }
    } else if (before?.kind === 'han' && run.kind === 'kana') before.text += run.text
    else merged.push(run)
  }
  return merged
}

/**
 * The text in Latin letters a to z: what the tokeniser works on. Punctuation stays, it decides there.
 * `part` matters for names in Chinese or Korean script only, where surname and given name are not separated.
 */
export function toLatin(text: string, part: NamePart = 'full'): string {
  return isPlain(text) ? text.toLowerCase() : (westernLatin(text) ?? slowLatin(text, part))
}

/**
 * Every character of the Western European pages as the long way gives it. Only the d with a stroke depends on its
 * neighbours; most names that are not plain ASCII need no more than this table.
 */
const WESTERN: readonly string[] = Array.from({ length: 0x250 }, (_, code) =>
  code === 0x110 || code === 0x111 ? '' : slowLatin(String.fromCharCode(code), 'full'),
)

function westernLatin(text: string): string | undefined {
  let out = ''
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x250 || code === 0x110 || code === 0x111) return undefined
    out += WESTERN[code]
  }
  return out
}

function slowLatin(text: string, part: NamePart): string {
  const foreign = text.search(DOTS) >= 0
  const whole = prepared(foreign ? text.replace(DOTS, ' ') : text)
    .replace(INNER_APOSTROPHE, '')
    .replace(GERESH, '\u05f3')
  if (isWestern(whole)) return latinText(whole, whole)
  const runs = mergeJapanese(runsOf(whole))
  const language = runs.some((run) => run.kind === 'cyrillic') ? cyrillicLanguage(whole) : 'ru'
  const han = runs.filter((run) => run.kind === 'han')
  const hangul = runs.filter((run) => run.kind === 'hangul')
  const japanese = han.length > 0 && isJapanese(whole)
  let hanIndex = 0
  let hangulIndex = 0
  let out = ''
  for (const run of runs) {
    if (run.kind === 'ascii') {
      out += plainAscii(run.text)
      continue
    }
    let place: RunPlace | undefined
    if (run.kind === 'han') place = { ...placeIn(han, hanIndex++), part, foreign, japanese }
    else if (run.kind === 'hangul') place = { ...placeIn(hangul, hangulIndex++), part, foreign, japanese: false }
    out += render(run, whole, language, place)
  }
  // Two words in Arabic, one in nearly every Latin document.
  return out.includes('abd allah') ? out.replace(/\babd allah\b/g, 'abdallah') : out
}

function placeIn(runs: readonly Run[], index: number): Pick<RunPlace, 'runs' | 'index' | 'first'> {
  return { runs: runs.length, index, first: runs[0]?.text ?? '' }
}

function plainAscii(text: string): string {
  return isPlain(text) ? text : text.replace(/[^\x20-\x7e]/g, ' ')
}

function render(run: Run, whole: string, language: CyrillicLanguage, place: RunPlace | undefined): string {
  switch (run.kind) {
    case 'latin':
      return latinText(run.text, whole)
    case 'cyrillic':
      return cyrillicText(run.text, language)
    case 'greek':
      return greekText(run.text)
    case 'arabic':
      return arabicText(run.text, whole)
    case 'hebrew':
      return hebrewText(run.text)
    case 'indic':
      return indicText(run.text)
    case 'thai':
      return thaiText(run.text)
    case 'kana':
      return kanaText(run.text)
    case 'han':
      return place === undefined ? '' : hanText(run.text, place)
    case 'hangul':
      return place === undefined ? '' : hangulText(run.text, place)
    default:
      return asciiOf(run.text).replace(/['`]/g, '') // signs of Armenian or Ethiopic letters, not of the name
  }
}

const SCRIPTS: readonly Script[] = ['latin', 'cyrillic', 'greek', 'arabic', 'hebrew', 'han', 'kana', 'hangul', 'other']

function isAsciiLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
}

/** Latin with its accents, by far the most frequent text that is not ASCII. */
const WESTERN_LETTERS = /^(?:[\x20-\x7e\u00a0-\u024f\u1e00-\u1eff]|[\u0300-\u036f])*$/

/** The script most letters of the text belong to; a text without letters counts as Latin. */
export function scriptOf(text: string): Script {
  if (isPlain(text) || WESTERN_LETTERS.test(text)) return 'latin'
  const counts = new Map<Script, number>()
  for (const char of text.normalize('NFKC')) {
    const code = char.charCodeAt(0)
    if (code < 0x80 ? !isAsciiLetter(code) : !/\p{L}/u.test(char)) continue
    const kind = kindOf(code)
    const script = kind === 'ascii' ? 'latin' : kind === 'indic' || kind === 'thai' ? 'other' : kind
    counts.set(script, (counts.get(script) ?? 0) + 1)
  }
  let best: Script = 'latin'
  for (const script of SCRIPTS) if ((counts.get(script) ?? 0) > (counts.get(best) ?? 0)) best = script
  // Kana beside Chinese characters decide: a Japanese name is not comparable with a Chinese one.
  return best === 'han' && counts.has('kana') ? 'kana' : best
}

/** Marks that did not join their letter, and everything that is no letter, digit or vowel sign. */
const NO_LETTER = /[\u0300-\u036f]+|[^\p{L}\p{N}\p{M}]+/gu
const CYRILLIC_FOLD: Readonly<Record<string, string>> = { ё: 'е', ґ: 'г', ѐ: 'е', ѝ: 'и' }

/** The form in which two names of one script are compared letter by letter, without any transliteration. */
export function nativeForm(text: string): string {
  if (isPlain(text)) return text.toLowerCase().replace(/[^a-z0-9]+/g, '')
  const letters = prepared(text).replace(NO_LETTER, '').normalize('NFKC')
  let out = ''
  for (const run of runsOf(letters)) {
    if (run.kind === 'latin') out += latinText(run.text, '').replace(/[^a-z0-9]/g, '')
    else if (run.kind === 'arabic') out += foldArabic(run.text)
    else if (run.kind === 'hebrew') out += foldHebrew(run.text)
    else if (run.kind === 'greek')
      out += run.text
        .normalize('NFD')
        .replace(/[\u0300-\u036f]/g, '')
        .replace(/ς/g, 'σ')
    else if (run.kind === 'han') for (const char of run.text) out += SIMPLIFIED.get(char) ?? char
    else if (run.kind === 'cyrillic') for (const char of run.text) out += CYRILLIC_FOLD[char] ?? char
    else if (run.kind === 'kana') for (const char of run.text) out += toHiragana(char)
    else out += run.text
  }
  return out
}

/** A Japanese name may be noted in either kana; the long-vowel bar stays, it is a letter of the name. */
function toHiragana(char: string): string {
  const code = char.charCodeAt(0)
  return code >= 0x30a1 && code <= 0x30f6 ? String.fromCharCode(code - 0x60) : char
}
