import {
  COMPOUND_SURNAMES,
  GIVEN_READINGS,
  JAPANESE_CHARACTERS,
  JAPANESE_GIVEN,
  JAPANESE_SURNAMES,
  KOREAN_SURNAMES,
  SURNAME_READINGS,
} from '../tables/east-asian.ts'
import { asciiOf } from './alphabets.ts'

/** Which part of a name a text holds: a given name alone must not lose its first character to the surname. */
export type NamePart = 'full' | 'given' | 'family'

/** What a run of characters needs to know about the text around it. */
export interface RunPlace {
  readonly part: NamePart
  /** Number of runs of the same writing in the text: one run is a whole name, several are its written parts. */
  readonly runs: number
  /** Position of this run among them. */
  readonly index: number
  /** The first of them. If it is a surname, the last one is not. */
  readonly first: string
  /** A middle dot separates the parts of a foreign name, which has no Chinese surname. */
  readonly foreign: boolean
  readonly japanese: boolean
}

const syllable = (char: string): string => asciiOf(char).trim()
const given = (char: string): string => GIVEN_READINGS.get(char) ?? syllable(char)
const surname = (char: string): string => SURNAME_READINGS.get(char) ?? syllable(char)

function joined(chars: readonly string[]): string {
  let out = ''
  for (const char of chars) out += given(char)
  return out
}

function familyName(chars: readonly string[]): string {
  return COMPOUND_SURNAMES.get(chars.join('')) ?? chars.map(surname).join('')
}

/** A run longer than a personal name is a company or a place: its characters stay apart. */
const LONGEST_NAME = 4

export function hanText(run: string, place: RunPlace): string {
  const chars = [...run]
  if (place.japanese) return japaneseText(run, place)
  if (place.foreign || place.part === 'given') return joined(chars)
  if (place.part === 'family') return familyName(chars)
  if (place.runs > 1) {
    // Written in parts the surname may stand at either end; it is short or a known compound.
    const outer = place.index === 0 || place.index === place.runs - 1
    return outer && (chars.length === 1 || COMPOUND_SURNAMES.has(run)) ? familyName(chars) : joined(chars)
  }
  if (chars.length > LONGEST_NAME) return chars.map(given).join(' ')
  const size = COMPOUND_SURNAMES.has(chars.slice(0, 2).join('')) ? 2 : 1
  const family = familyName(chars.slice(0, size))
  return chars.length > size ? `${family} ${joined(chars.slice(size))}` : family
}

function japaneseSurnameLength(run: string): number {
  for (const size of [3, 2]) if (JAPANESE_SURNAMES.has(run.slice(0, size))) return size
  return 0
}

/** Surname and first given character of many a Chinese name: three characters that begin so are read in Chinese. */
const RATHER_CHINESE = /^(?:金子|高木|高田|石川|石井|石田|安田|古川|平田|平野|武田)[\u4e00-\u9fff](?![\u4e00-\u9fff])/

/** Chinese characters are Japanese when kana stand beside them or when a part of the name is a Japanese surname. */
export function isJapanese(text: string): boolean {
  if (/[\u3041-\u3096\u30a1-\u30fa々]/.test(text)) return true
  const words = text.match(/[\u4e00-\u9fff]+/g) ?? []
  if (words.length > 1) return words.some((word) => word.length > 1 && JAPANESE_SURNAMES.has(word))
  const name = words[0] ?? ''
  return japaneseSurnameLength(name) > 0 && !RATHER_CHINESE.test(name)
}

function japaneseGiven(run: string): string {
  const whole = JAPANESE_GIVEN.get(run)
  if (whole !== undefined) return whole
  let out = ''
  for (let i = 0; i < run.length; i++) {
    const char = run.charAt(i)
    if (char === '々') continue
    if (isKana(char.charCodeAt(0))) {
      let end = i
      while (end < run.length && isKana(run.charCodeAt(end))) end++
      out += kanaText(run.slice(i, end))
      i = end - 1
    } else out += JAPANESE_CHARACTERS.get(char) ?? syllable(char)
  }
  return out
}

function japaneseText(run: string, place: RunPlace): string {
  const family = JAPANESE_SURNAMES.get(run)
  if (place.part === 'given') return japaneseGiven(run)
  if (family !== undefined && (place.index === 0 || !JAPANESE_GIVEN.has(run))) return family
  const size = place.runs > 1 ? 0 : japaneseSurnameLength(run)
  if (size === 0) return japaneseGiven(run)
  return `${JAPANESE_SURNAMES.get(run.slice(0, size))} ${japaneseGiven(run.slice(size))}`
}

export function isKana(code: number): boolean {
  return (code >= 0x3041 && code <= 0x309f) || (code >= 0x30a1 && code <= 0x30ff && code !== 0x30fb)
}

const HIRAGANA =
  'a a i i u u e e o o ka ga ki gi ku gu ke ge ko go sa za shi ji su zu se ze so zo ta da chi ji t tsu zu te de to do na ni nu ne no ha ba pa hi bi pi fu bu pu he be pe ho bo po ma mi mu me mo ya ya yu yu yo yo ra ri ru re ro wa wa i e o n vu ka ke'.split(
    ' ',
  )
const SMALL_VOWELS = 'ぁぃぅぇぉゃゅょゎ'

/** Hepburn; long vowels are written short, as passports do. */
export function kanaText(run: string): string {
  const sounds: string[] = []
  for (let i = 0; i < run.length; i++) {
    let code = run.charCodeAt(i)
    if (code >= 0x30a1 && code <= 0x30f6) code -= 0x60
    const char = String.fromCharCode(code)
    const sound = HIRAGANA[code - 0x3041] ?? ''
    const before = sounds.at(-1)
    if (char === 'っ') sounds.push('*')
    else if (SMALL_VOWELS.includes(char) && before !== undefined && before !== '*' && /[aeiou]$/.test(before)) {
      const stem = before.slice(0, -1)
      const glide = sound.startsWith('y') && /(sh|ch|j)$/.test(stem) ? sound.slice(1) : sound
      sounds[sounds.length - 1] = stem + glide
    } else if (sound !== '') sounds.push(sound)
  }
  let out = ''
  for (let i = 0; i < sounds.length; i++) {
    const sound = sounds[i] ?? ''
    if (sound !== '*') out += sound
    else out += (sounds[i + 1] ?? '').startsWith('ch') ? 't' : (sounds[i + 1] ?? '').replace(/[^a-z].*|(?<=.).*/g, '')
  }
  return out
    .replace(/o[ou]+/g, 'o')
    .replace(/u{2,}/g, 'u')
    .replace(/a{2,}/g, 'a')
    .replace(/i{2,}/g, 'i')
    .replace(/e{2,}/g, 'e')
}

const LEADS = 'g kk n d tt r m b pp s ss  j jj ch k t p h'.split(' ')
const VOWELS = 'a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i'.split(' ')
const TAILS = ' k k k n n n t l k m l l l p l m p p t t ng t t k t p t'.split(' ')

function hangulSyllable(code: number): string {
  const index = code - 0xac00
  if (index < 0 || index > 11171) return syllable(String.fromCharCode(code))
  const lead = LEADS[Math.floor(index / 588)] ?? ''
  return lead + (VOWELS[Math.floor((index % 588) / 28)] ?? '') + (TAILS[index % 28] ?? '')
}

function hangulJoined(text: string): string {
  let out = ''
  for (let i = 0; i < text.length; i++) {
    const sound = hangulSyllable(text.charCodeAt(i))
    out += out.endsWith('l') && sound.startsWith('r') ? `l${sound.slice(1)}` : sound
  }
  return out
}

/** Revised Romanisation, the surname in its customary spelling. */
export function hangulText(run: string, place: RunPlace): string {
  if (place.part === 'given' || place.foreign) return hangulJoined(run)
  const last = place.index === place.runs - 1 && !KOREAN_SURNAMES.has(place.first)
  if (place.index > 0 && !last) return hangulJoined(run)
  const whole = KOREAN_SURNAMES.get(run)
  if (whole !== undefined) return whole
  if (place.part === 'family' || place.runs > 1 || run.length < 2 || run.length > LONGEST_NAME) return hangulJoined(run)
  const size = run.length > 2 && KOREAN_SURNAMES.has(run.slice(0, 2)) ? 2 : 1
  const family = KOREAN_SURNAMES.get(run.slice(0, size))
  return family === undefined ? hangulJoined(run) : `${family} ${hangulJoined(run.slice(size))}`
}
