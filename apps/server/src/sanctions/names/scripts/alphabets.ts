import anyAscii from 'any-ascii'

/**
 * Alphabets whose letters map one by one: Latin, Greek, Cyrillic and what any-ascii already spells well.
 * Everything below U+0600 is looked up in one array, so a name costs one index per letter.
 */
const LIMIT = 0x600
const LETTERS: readonly string[] = Array.from({ length: LIMIT }, (_, code) =>
  code < 0x20 || code === 0x7f ? ' ' : asciiOf(String.fromCharCode(code)),
)

/** any-ascii, but lower case and without the marks it uses for letters that have no Latin sound. */
export function asciiOf(text: string): string {
  return anyAscii(text)
    .toLowerCase()
    .replace(/[^\x20-\x7e]/g, ' ')
}

function pairs(text: string): Map<number, string> {
  const map = new Map<number, string>()
  for (const entry of text.trim().split(/\s+/)) {
    const [from, to = ''] = entry.split('=')
    if (from) map.set(from.charCodeAt(0), to)
  }
  return map
}

function overlay(base: readonly string[], ...changes: Map<number, string>[]): readonly string[] {
  const copy = [...base]
  for (const change of changes) for (const [code, value] of change) copy[code] = value
  return copy
}

const LATIN = overlay(LETTERS, pairs('ı=i ə=a ŋ=ng þ=th ð=d ø=o å=a æ=ae œ=oe ß=ss đ=d ł=l ħ=h ʻ= ʼ= ʹ= ʿ= ʾ='))

/** Vietnamese writes a plain d with a stroke; in the South Slavic languages the same letter is read dj. */
const SOUTH_SLAVIC = /[čćšž]/

export function latinText(run: string, whole: string): string {
  const stroke = run.includes('đ') && SOUTH_SLAVIC.test(whole) ? 'dj' : 'd'
  let out = ''
  for (let i = 0; i < run.length; i++) {
    const code = run.charCodeAt(i)
    out += code === 0x111 ? stroke : code < LIMIT ? (LATIN[code] ?? '') : asciiOf(run.charAt(i))
  }
  return out
}

const RUSSIAN = overlay(
  LETTERS,
  pairs(`а=a б=b в=v г=g д=d е=e ё=e ж=zh з=z и=i й=y к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f х=kh ц=ts ч=ch
    ш=sh щ=shch ъ= ы=y ь= э=e ю=yu я=ya і=i ї=yi є=ye ґ=g ў=u ѣ=e ѳ=f ѵ=i ј=j љ=lj њ=nj ћ=c ђ=dj џ=dz ѓ=gj ќ=kj ѕ=dz
    ә=a ғ=gh қ=q ң=ng ө=o ұ=u ү=u һ=h ҳ=h ҷ=j ӣ=i ӯ=u ҡ=q ҙ=z ҫ=s ҕ=gh ҹ=ch ӏ= ӑ=a ӗ=e ҝ=g җ=j ҥ=ng ҩ=o ҵ=ts`),
)

const CYRILLIC = {
  ru: RUSSIAN,
  uk: overlay(RUSSIAN, pairs('г=h и=y й=i є=ie ї=i ю=iu я=ia')),
  be: overlay(RUSSIAN, pairs('г=h ў=u ё=io ю=iu я=ia й=i щ=shch')),
  sr: overlay(RUSSIAN, pairs('х=h ц=c ч=c ж=z ш=s џ=dz')),
  mk: overlay(RUSSIAN, pairs('х=h ц=c')),
  bg: overlay(RUSSIAN, pairs('щ=sht х=h ъ=a')),
  uz: overlay(RUSSIAN, pairs('ў=o х=kh ж=j қ=q ғ=g')),
  kk: overlay(RUSSIAN, pairs('қ=k ғ=g ұ=u ә=a ж=zh')),
} as const

/** Names that are written so in Ukrainian only, although no letter of them gives the language away. */
const UKRAINIAN_WORDS = new Set(
  `володимир володимирович володимирівна олександр олександра олександрович олена дмитро
  дмитрович михайло петро павло микола миколайович кирило данило гаврило пилип юхим тарас остап
  оксана костянтин василь наталя катерина ганна`.split(/\s+/),
)

const BETWEEN_CONSONANTS = /[бвгджзклмнпрстфхцчшщ]ъ[бвгджзклмнпрстфхцчшщ]/

export type CyrillicLanguage = keyof typeof CYRILLIC

/** The language shows in a letter of the whole name, so it is asked once and not for each word. */
export function cyrillicLanguage(text: string): CyrillicLanguage {
  if (/[ѓќѕ]/.test(text)) return 'mk'
  if (/[ћђљњџј]/.test(text)) return 'sr'
  if (/[әғқңөұүһҳҷӣӯҡҙ]/.test(text)) return text.includes('ў') ? 'uz' : 'kk'
  if (text.includes('ў')) return 'be'
  if (/[іїєґ]/.test(text)) return /[ыэ]/.test(text) ? 'be' : 'uk'
  if (BETWEEN_CONSONANTS.test(text)) return 'bg'
  for (const word of text.split(/[^а-яё]+/)) if (UKRAINIAN_WORDS.has(word)) return 'uk'
  return 'ru'
}

/** Ukrainian and Belarusian spell the soft vowels with y at the start of a word only. */
const INITIAL: Readonly<Record<string, string>> = { є: 'ye', ї: 'yi', ю: 'yu', я: 'ya', й: 'y', ё: 'yo' }

export function cyrillicText(run: string, language: CyrillicLanguage): string {
  const table = CYRILLIC[language]
  const western = language === 'uk' || language === 'be'
  let out = ''
  for (let i = 0; i < run.length; i++) {
    const char = run.charAt(i)
    const code = char.charCodeAt(0)
    if (western && i === 0 && INITIAL[char] !== undefined) out += INITIAL[char]
    else if (char === 'ъ' && (i === run.length - 1 || language === 'ru')) continue
    else if (char === 'й' && i > 0 && run.charAt(i - 1) === 'ы') continue
    else if (char === 'ь' && language === 'ru' && run.charAt(i + 1) === 'е') out += 'i'
    else if (language === 'uk' && char === 'г' && run.charAt(i - 1) === 'з') out += 'gh'
    else out += code < LIMIT ? (table[code] ?? '') : asciiOf(char)
  }
  return out
}

const GREEK = overlay(
  LETTERS,
  pairs(`α=a β=v γ=g δ=d ε=e ζ=z η=i θ=th ι=i κ=k λ=l μ=m ν=n ξ=x ο=o π=p ρ=r σ=s ς=s τ=t υ=y φ=f χ=ch ψ=ps ω=o`),
)
const GREEK_MARKS = /[\u0300-\u036f]/g

/** ELOT 743, the spelling of Greek passports; the pairs depend on what follows, so they go first. */
export function greekText(run: string): string {
  const plain = run
    .normalize('NFD')
    .replace(/([αεη])υ(?!\u0308)/g, '$1\u0001')
    .replace(GREEK_MARKS, '')
    .replace(/ου/g, 'oy\u0002')
  let out = ''
  for (let i = 0; i < plain.length; i++) {
    const char = plain.charAt(i)
    const next = plain.charAt(i + 1)
    if (char === '\u0001') out += next === '' || /[θκξπστφχψς]/.test(next) ? 'f' : 'v'
    else if (char === '\u0002') continue
    else if (char === 'o' && next === 'y') {
      out += 'ou'
      i++
    } else if (char === 'μ' && next === 'π' && i === 0) {
      out += 'b'
      i++
    } else if (char === 'γ' && (next === 'γ' || next === 'ξ' || next === 'χ')) out += 'n'
    else {
      const code = char.charCodeAt(0)
      out += code < LIMIT ? (GREEK[code] ?? '') : asciiOf(char)
    }
  }
  return out
}
