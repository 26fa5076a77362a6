import { ARABIC_NAMES } from '../tables/arabic-names.ts'
import { asciiOf } from './alphabets.ts'

/** Letters that differ between the languages of the script, or only by a hamza, read as one. */
const FOLD = new Map(
  'أا إا آا ٱا ىي یي ېي ۍي ےي ێي ئي کك ڪك ګگ ہه ەه ۀه ھه ةه ؤو ۆو ۇو ۋو ڕر ڵل ٹت ټت ڈد ډد ڑر ړر ںن ڼن څچ ځج ښش ږژ'
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.charAt(1)] as const),
)
const MARKS = /[\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0640\u0621\u200b-\u200f]/g

/** The comparable form of text in the Arabic script: no marks, one letter for each family of letters. */
export function foldArabic(text: string): string {
  let out = ''
  for (const char of text.replace(MARKS, '')) out += FOLD.get(char) ?? char
  return out
}

/** Persian and its neighbours type their own yeh and kaf: the surest sign of the language in a single name. */
const PERSIAN = /[پچژگکیہےٹڈڑ]/

const NAMES = new Map<string, readonly [string, string]>()
for (const entry of ARABIC_NAMES.trim().split(/;\s+|\n/)) {
  const [spelling = '', ...words] = entry.split(' ')
  const [arabic = '', persian = arabic] = spelling.split('/')
  for (const word of words) NAMES.set(word, [arabic, persian])
}

const consonants = (text: string): Map<string, string> =>
  new Map(text.split(' ').map((pair) => [pair.charAt(0), pair.slice(1)] as const))
const ARABIC_LETTERS = consonants(
  'بb تt ثth جj حh خkh دd ذdh رr زz سs شsh صs ضd طt ظz ع غgh فf قq كk لl مm نn هh پp چch ژzh گg ڤv',
)
const PERSIAN_LETTERS = new Map([...ARABIC_LETTERS, ...consonants('ثs ذz ضz قgh')])

/** A sound of the word: the written long vowels are known, the short ones have to be put between the consonants. */
interface Sound {
  readonly text: string
  readonly vowel: boolean
}

function soundsOf(word: string, persian: boolean): Sound[] {
  const letters = persian ? PERSIAN_LETTERS : ARABIC_LETTERS
  const sounds: Sound[] = []
  const last = word.length - 1
  for (let i = 0; i <= last; i++) {
    const char = word.charAt(i)
    const next = word.charAt(i + 1)
    const before = sounds.at(-1)
    const afterConsonant = before !== undefined && !before.vowel
    if (char === 'ا') {
      if (i === 0 && (next === 'و' || next === 'ي') && last > 1 && word.charAt(2) !== 'ا') {
        sounds.push({ text: next === 'و' ? 'o' : 'i', vowel: true })
        i++
      } else if (before?.vowel !== true || before.text !== 'a') sounds.push({ text: 'a', vowel: true })
    } else if (char === 'و' || char === 'ي') {
      const glide = char === 'و' ? (persian ? 'v' : 'w') : 'y'
      const opensVowel = next === 'ا' || (next !== '' && next !== char && (next === 'و' || next === 'ي'))
      if (afterConsonant && !opensVowel)
        sounds.push({ text: char === 'و' ? 'u' : last === 2 && i === 1 ? 'ai' : 'i', vowel: true })
      else if (i === last && before?.text === 'a') sounds.push({ text: char === 'و' ? 'u' : 'i', vowel: true })
      else sounds.push({ text: glide, vowel: false })
    } else if (char === 'ه' && i === last && afterConsonant) sounds.push({ text: persian ? 'eh' : 'a', vowel: true })
    else sounds.push({ text: letters.get(char) ?? asciiOf(char).replace(/[^a-z0-9]/g, ''), vowel: false })
  }
  return sounds
}

/** Puts short vowels where the syllable structure (one consonant before each vowel, at most one after) wants them. */
function vocalise(sounds: readonly Sound[]): string {
  let out = ''
  let i = 0
  while (i < sounds.length) {
    const sound = sounds[i]
    if (sound === undefined) break
    if (sound.vowel) {
      out += sound.text
      i++
      continue
    }
    let end = i
    while (end < sounds.length && sounds[end]?.vowel === false) end++
    const count = end - i
    const closed = end === sounds.length
    const text = (at: number): string => sounds[i + at]?.text ?? ''
    const afterLong = i > 0
    const short = afterLong && sounds[i - 1]?.text === 'a' ? 'i' : 'a'
    const free = closed ? count : count - 1
    let at = 0
    if (afterLong && closed && count === 1) {
      out += text(0)
      at = 1
    }
    let first = true
    while (at < free) {
      const rest = free - at
      // "mu" opens most participles: Murad, Mujahid, Muslim.
      const vowel =
        first && !afterLong && text(at) === 'm' && (rest > 2 || (rest === 1 && sounds[end]?.text === 'a')) ? 'u' : short
      const ends = rest === 2 || rest > 3
      out += text(at) + (rest === 1 && closed ? '' : vowel)
      at++
      if (ends && at < free) out += text(at++)
      first = false
    }
    if (!closed) out += text(count - 1)
    i = end
  }
  return out
}

const COMPOUND = 'محمد علي امير عبد غلام سيد'.split(' ')

function known(word: string, persian: boolean): string | undefined {
  return NAMES.get(word)?.[persian ? 1 : 0]
}

function wordToLatin(word: string, persian: boolean, depth: number): string {
  const name = known(word, persian)
  if (name !== undefined) return name
  if (depth < 4 && word.length > 3) {
    if (word.startsWith('ال') && depth === 0) return `al ${wordToLatin(word.slice(2), persian, depth + 1)}`
    if (word.startsWith('عبدال') && word.length > 6) return `abd al ${wordToLatin(word.slice(5), persian, depth + 1)}`
    if (word.startsWith('ابوال') && word.length > 6) return `abu al ${wordToLatin(word.slice(5), persian, depth + 1)}`
    if (word.startsWith('ابو') && word.length > 5) return `abu ${wordToLatin(word.slice(3), persian, depth + 1)}`
    if (word.endsWith('الدين')) return `${wordToLatin(word.slice(0, -5), persian, depth + 1)} al din`
    if (word.endsWith('الله')) return `${wordToLatin(word.slice(0, -4), persian, depth + 1)}allah`
    for (const first of COMPOUND) {
      if (!word.startsWith(first) || word.length < first.length + 3) continue
      const rest = known(word.slice(first.length), persian)
      if (rest !== undefined) return `${known(first, persian)} ${rest}`
    }
    const stem = known(word.slice(0, -1), persian)
    if (stem !== undefined && word.endsWith('ي')) return `${stem}i`
    if (stem !== undefined && word.endsWith('ه')) return `${stem}${persian ? 'eh' : 'a'}`
  }
  return vocalise(soundsOf(word, persian))
}

export function arabicText(run: string, whole: string): string {
  const persian = PERSIAN.test(whole)
  return wordToLatin(foldArabic(run), persian, 0)
}
