import { asciiOf } from './alphabets.ts'

/**
 * Scripts of South Asia. Their blocks share one layout, so one table by offset serves nine of them.
 * A consonant carries an a unless another vowel or the killer sign follows; any-ascii leaves that a out.
 */
const FIRST = 0x900
const LAST = 0xd7f
const BLOCK = 0x80

const CONSONANTS = 'k kh g gh n ch chh j jh n t th d dh n t th d dh n n p ph b bh m y r r l l l v sh sh s h'.split(' ') // 0x15 to 0x39
const VOWELS = 'a a i i u u ri l e e e ai o o o au'.split(' ') // 0x05 to 0x14
const SIGNS = 'a i i u u ri ri e e e ai o o o au'.split(' ') // 0x3e to 0x4c
const KILLER = 0x4d
const NUKTA = 0x3c
const WITH_NUKTA: Readonly<Record<string, string>> = { k: 'q', g: 'gh', j: 'z', d: 'r', dh: 'rh', ph: 'f', y: 'y' }

const BENGALI = 1
const GURMUKHI = 2
const GUJARATI = 3
/** Languages that do not speak the a at the end of a word, nor every one inside it. */
const SILENT = new Set([0, BENGALI, GURMUKHI, GUJARATI])

/** Words whose spelling in Latin has become fixed. */
const FIXED = new Map(
  'सिंह singh सिंघ singh ਸਿੰਘ singh સિંહ singh সিংহ singh ਕੌਰ kaur कौर kaur খান khan मोहम्मद mohammad মোহাম্মদ mohammad মুহাম্মদ mohammad হোসেন hossain হোসাইন hossain রহমান rahman আহমেদ ahmed আলী ali ইসলাম islam চৌধুরী chowdhury चौधरी chaudhary चोधरी chaudhary গুপ্ত gupta রায় roy রয় roy घोष ghosh মুখার্জি mukherjee मुखर्जी mukherjee बनर्जी banerjee चटर्जी chatterjee श्रेष्ठ shrestha ज्ञान gyan पाण्डे pandey पांडे pandey दुबे dubey'
    .split(' ')
    .flatMap((word, i, all) => (i % 2 === 0 ? [[word, all[i + 1] ?? ''] as const] : [])),
)

export function isIndic(code: number): boolean {
  return code >= FIRST && code <= LAST
}

/** A sound with the mark whether it is an a that nobody wrote. */
interface Sound {
  text: string
  readonly kind: 'consonant' | 'vowel' | 'inherent'
}

/** The dot over a letter is the nasal of the consonant that follows it. */
function isLabial(code: number): boolean {
  const offset = (code - FIRST) % BLOCK
  return offset >= 0x2a && offset <= 0x2e
}

function soundsOf(run: string, block: number): Sound[] {
  const sounds: Sound[] = []
  const dropInherent = (): void => {
    if (sounds.at(-1)?.kind === 'inherent') sounds.pop()
  }
  for (let i = 0; i < run.length; i++) {
    const code = run.charCodeAt(i)
    const offset = (code - FIRST) % BLOCK
    if (!isIndic(code)) continue
    if (offset >= 0x15 && offset <= 0x39) {
      const text = CONSONANTS[offset - 0x15] ?? ''
      if (offset === 0x1e && sounds.at(-1)?.text === 'j') {
        sounds.splice(-1, 1, { text: 'gy', kind: 'consonant' }, { text: 'a', kind: 'inherent' })
        continue
      }
      sounds.push({ text: block === BENGALI && text === 'y' ? 'j' : text, kind: 'consonant' })
      sounds.push({ text: 'a', kind: 'inherent' })
    } else if (offset >= 0x3e && offset <= 0x4c) {
      dropInherent()
      sounds.push({ text: SIGNS[offset - 0x3e] ?? '', kind: 'vowel' })
    } else if (offset === KILLER) dropInherent()
    else if (offset === NUKTA) {
      const consonant = sounds.at(-2)
      if (consonant?.kind === 'consonant')
        consonant.text =
          block === BENGALI && consonant.text === 'j' ? 'y' : (WITH_NUKTA[consonant.text] ?? consonant.text)
    } else if (offset >= 0x05 && offset <= 0x14) sounds.push({ text: VOWELS[offset - 5] ?? '', kind: 'vowel' })
    else if (offset === 2 || offset === 1 || offset === 0x70)
      sounds.push({ text: isLabial(run.charCodeAt(i + 1)) ? 'm' : 'n', kind: 'consonant' })
    else if (code >= 0xd7a && code <= 0xd7f) sounds.push({ text: 'nnrllk'.charAt(code - 0xd7a), kind: 'consonant' })
    else {
      const text = asciiOf(run.charAt(i)).replace(/[^a-z0-9]/g, '')
      if (text !== '') sounds.push({ text, kind: 'consonant' })
    }
  }
  return sounds
}

/** Leaves out the unwritten a at the end (not after two consonants) and between two open syllables. */
function dropSilent(sounds: Sound[]): void {
  const isVowel = (at: number): boolean => sounds[at] !== undefined && sounds[at]?.kind !== 'consonant'
  const end = sounds.length - 1
  const nasal = (at: number): boolean => /^[nm]$/.test(sounds[at]?.text ?? '') && isVowel(at - 1)
  if (end > 1 && sounds[end]?.kind === 'inherent' && (isVowel(end - 2) || nasal(end - 2))) sounds.pop()
  for (let i = sounds.length - 3; i > 1; i--) {
    const open = isVowel(i - 2) && !isVowel(i - 1) && !isVowel(i + 1) && isVowel(i + 2)
    if (sounds[i]?.kind === 'inherent' && open) sounds.splice(i, 1)
  }
}

const ZERO_WIDTH = /[\u200b-\u200d]/g

export function indicText(run: string): string {
  const word = run.replace(ZERO_WIDTH, '')
  const fixed = FIXED.get(word)
  if (fixed !== undefined) return fixed
  const block = (word.charCodeAt(0) - FIRST) >> 7
  const sounds = soundsOf(word, block)
  if (SILENT.has(block)) dropSilent(sounds)
  return sounds.map((sound) => sound.text).join('')
}
