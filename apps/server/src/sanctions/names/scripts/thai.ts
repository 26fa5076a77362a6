import { asciiOf } from './alphabets.ts'

const LEADING_VOWEL = /([เแโใไ])([ก-ฮ])([รล](?=[ก-ฮ]))?/g
const SILENT = /[ก-ฮ][ิุ]?\u0e4c/g
const letters = (text: string): ReadonlyMap<string, string> =>
  new Map(text.split(' ').map((pair) => [pair.charAt(0), pair.slice(1)] as const))
const INITIALS = letters(
  'กk ขkh ฃkh คkh ฅkh ฆkh งng จch ฉch ชch ซs ฌch ญy ฎd ฏt ฐth ฑth ฒth ณn ดd ตt ถth ทth ธth นn บb ปp ผph ฝf พph ฟf ภph มm ยy รr ลl วw ศs ษs สs หh ฬl อ ฮh',
)
const FINALS = letters(
  'กk ขk คk ฆk งng จt ชt ซt ญn ฎt ฏt ฐt ฑt ฒt ณn ดt ตt ถt ทt ธt นn บp ปp พp ฟp ภp มm ยi รn ลn วo ศt ษt สt ฬn',
)
const VOWELS = letters('ะa าa ิi ีi ึue ืue ุu ูu เe แae โo ใai ไai ำam ัa ฤrue Iia Uuea Ooe Aao Wua')

/** Thai writes some vowels before their consonant and others not at all; this is the Royal system, near enough. */
export function thaiText(run: string): string {
  const word = run
    .replace(/ษณ\u0e4c/g, '')
    .replace(SILENT, '')
    .replace(/ํา/g, 'ำ')
    .replace(/[่-๎็]/g, '')
    .replace(/รร(?=[ก-ฮ])/g, 'ั')
    .replace(/รร/g, 'ัน')
    .replace(/([ใไ][ก-ฮ])ย/g, '$1')
    .replace(/ศร(?=ี)/g, 'ศ')
    .replace(/เ([ก-ฮ][รลว]?)ีย/g, '$1I') // vowels of several signs; a capital stands for each
    .replace(/เ([ก-ฮ][รลว]?)ือ/g, '$1U')
    .replace(/เ([ก-ฮ][รลว]?)ิ/g, '$1O')
    .replace(/เ([ก-ฮ][รลว]?)า/g, '$1A')
    .replace(/ัว/g, 'W')
    .replace(LEADING_VOWEL, (_, vowel: string, first: string, second?: string) => `${first}${second ?? ''}${vowel}`)
    .replace(/ห(?=[งญนมยรลว][ก-ฮ]?[ะ-ูเ-ไ])/g, '')
  let out = ''
  let open = false // the syllable has its vowel and may take a closing consonant
  for (let i = 0; i < word.length; i++) {
    const char = word.charAt(i)
    const next = word.charAt(i + 1)
    const vowel = VOWELS.get(char)
    const initial = INITIALS.get(char)
    if (vowel !== undefined) {
      out += vowel
      open = char !== 'ำ' && char !== 'ะ'
    } else if (initial === undefined) {
      out += asciiOf(char).replace(/[^a-z0-9]/g, '')
      open = false
    } else if (VOWELS.has(next)) {
      out += initial
      open = false
    } else if (char === 'อ' && i > 0 && !open) {
      out += 'o'
      open = true
    } else {
      const bare = bareConsonants(word, i)
      const atEnd = i + bare === word.length
      if (open && !(atEnd && bare === 2)) {
        out += FINALS.get(char) ?? ''
        open = false
      } else if (next === 'อ' || ((next === 'ร' || next === 'ล') && bare === 1)) out += initial
      else {
        open = atEnd ? bare === 2 : bare > 1
        out += initial + (open ? 'o' : next === '' ? '' : 'a')
      }
    }
  }
  return out
}

/** How many consonants from here on have no written vowel after them. */
function bareConsonants(word: string, from: number): number {
  let end = from
  while (end < word.length && INITIALS.has(word.charAt(end)) && !VOWELS.has(word.charAt(end + 1))) end++
  return end - from
}
