/** Cuts the name of a company or organisation into weighted words: its legal form and fillers say little. */
import { COMPANY_FILLER, COMPANY_FORMS, COUNTRY_SHORT, ORDINALS } from './tables.ts'
import { MAX_WORDS, type Name, splitWords, type Word } from './tokens.ts'
import { scriptOf, toLatin } from './transliterate.ts'

const LONGEST_FORM = 6

/** Phrases with one canonical word: legal forms by their kind, countries by their code. */
const phrases = new Map<string, Word>()
for (const line of COMPANY_FORMS) {
  const [canonical = '', ...forms] = line.split(' ')
  for (const form of [canonical, ...forms]) {
    phrases.set(form.replaceAll('_', ' '), { text: `form${canonical.replaceAll('_', '')}`, role: 'particle' })
  }
}
for (const [country, short] of COUNTRY_SHORT) phrases.set(country, { text: short.replaceAll(' ', ''), role: 'full' })

export function readCompany(text: string): Name {
  const raw = splitWords(joinDotted(toLatin(text)).replaceAll('&', ' and '))
  const words: Word[] = []
  for (let at = 0; at < raw.length; ) {
    const { word, length } = phraseAt(raw, at)
    if (word) words.push(word)
    at += length
  }
  const kept = words.slice(0, MAX_WORDS)
  const named = kept.some(({ role }) => role === 'full') ? kept : kept.map((word): Word => ({ ...word, role: 'full' }))
  return { words: named, script: scriptOf(text), native: '' }
}

/** "L.L.C." is one word, and so is "G.m.b.H". */
function joinDotted(text: string): string {
  return text.replace(/(?<![a-z])(?:[a-z]{1,2}\.){2,}[a-z]?(?![a-z])/g, (dotted) => dotted.replaceAll('.', ''))
}

function phraseAt(raw: readonly string[], at: number): { word: Word | null; length: number } {
  for (let length = Math.min(LONGEST_FORM, raw.length - at); length > 0; length--) {
    const word = phrases.get(raw.slice(at, at + length).join(' '))
    if (word) return { word, length }
  }
  const text = raw[at] as string
  if (text === 'the') return { word: null, length: 1 }
  const number = ORDINALS.get(text)
  if (number !== undefined) return { word: { text: number, role: 'full' }, length: 1 }
  return { word: { text, role: COMPANY_FILLER.has(text) ? 'light' : 'full' }, length: 1 }
}
