/**
 * A generated sanctions list of any size, in the FollowTheMoney format, the same for the same seed. If the real lists are on
 * this machine, it uses their words and frequencies. A Zipf-like tail of invented words makes the dictionary grow with the
 * list, as in a real one. An entity does not depend on how many follow it.
 */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { type FtmEntity, loadNegatives, loadRealList, missingData, namesOf } from './labelled.ts'

export interface SyntheticEntity extends FtmEntity {
  properties: Record<'name' | 'alias' | 'birthDate' | 'nationality' | 'topics', string[]>
  first_seen: string
  last_seen: string
  last_change: string
  target: boolean
}

export interface SyntheticOptions {
  /** Names per entity, on average: about 2.4 in the whole of OpenSanctions, about 6 on lists that spell out aliases. */
  namesEach?: 2.4 | 6
  seed?: number
}

/** Words of one script, with repetition, so that a random pick has the frequency of the source. */
interface Words {
  given: string[]
  middle: string[]
  family: string[]
  latin: boolean
  familyFirst: boolean
}

export type Random = () => number

/** Mulberry32: small, fast, and good enough to make names from. */
export function createRandom(seed: number): Random {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pick<T>(random: Random, values: readonly T[]): T {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new Error('There is nothing to pick from')
  return value
}

const SYLLABLES =
  `ba be bi da do fa ga go ha hi ja ka ke ko la le li ma me mi na ni no pa pe ra re ri ro sa se sha ta te ti va vi ya za
  zha chi kha ar er in an on ul ush ev ov sk enko yan dze shvili oglu man son berg ez ini escu wala pour zadeh`.split(
    /\s+/,
  )

/** The invented word of a rank: frequent ones are short, and two ranks have different syllables. */
export function inventedWord(rank: number): string {
  const base = SYLLABLES.length
  let length = 2
  let left = rank
  while (left >= base ** length) left -= base ** length++
  // Multiply by a large prime, so that neighbouring ranks do not look alike.
  let code = (left * 7_368_787) % base ** length
  let word = ''
  for (let n = 0; n < length; n++) {
    word += SYLLABLES[code % base]
    code = Math.floor(code / base)
  }
  return capitalised(word)
}

/** A rank below `ranks` after Zipf and Mandelbrot: about evenly likely up to `head`, then falling as rank^-(1 + slope). */
function zipfRank(random: Random, { head, slope, ranks }: Zipf): number {
  const least = (1 + ranks / head) ** -slope
  return Math.floor(head * ((1 - random() * (1 - least)) ** (-1 / slope) - 1))
}

interface Zipf {
  head: number
  slope: number
  ranks: number
}

const capitalised = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1)

const RULES: readonly (readonly [RegExp, string])[] = [
  [/ou/, 'u'],
  [/u/, 'ou'],
  [/ee/, 'i'],
  [/i$/, 'y'],
  [/y$/, 'i'],
  [/kh/i, 'h'],
  [/sh/i, 'ch'],
  [/q/i, 'k'],
  [/k/i, 'q'],
  [/v/i, 'w'],
  [/ts/i, 'c'],
  [/dj/i, 'j'],
  [/j/i, 'dj'],
  [/ev$/, 'iev'],
  [/ov$/, 'off'],
  [/iya$/, 'ia'],
  [/yu/i, 'iu'],
  [/ll/, 'l'],
  [/ss/, 's'],
  [/nn/, 'n'],
  [/ch/i, 'tch'],
  [/ei/, 'ey'],
  [/ai/, 'ay'],
  [/^al-/i, 'el-'],
  [/ph/i, 'f'],
  [/th/i, 't'],
  [/z/i, 's'],
  [/e/, 'a'],
  [/o/, 'u'],
  [/h$/, ''],
  [/$/, 'i'],
  [/g/i, 'gh'],
]
const MUHAMMADS = ['Mohammed', 'Muhammad', 'Mohamed', 'Mohamad', 'Mohammad', 'Muhammed', 'Mohamud']
const IS_MUHAMMAD = /^m[ou]hamm?[ae]d$/i

/** A spelling variant of the word. Often the word itself, when the drawn rule does not apply. */
function respelled(random: Random, word: string): string {
  if (IS_MUHAMMAD.test(word)) return pick(random, MUHAMMADS)
  const [pattern, by] = pick(random, RULES)
  const spelled = word.replace(pattern, by)
  return spelled.length > 1 ? capitalised(spelled) : word
}

let loaded: Words[] | undefined

/** The words by script: a name is made of words of one script. The largest script comes first. */
function vocabulary(): Words[] {
  loaded ??= missingData() === undefined ? realWords() : [inventedWords()]
  return loaded
}

const emptyWords = (latin: boolean, familyFirst: boolean): Words => ({
  given: [],
  middle: [],
  family: [],
  latin,
  familyFirst,
})

/** In which scripts lists write the family name first, where customers' files have it in a column of its own. */
export const isFamilyFirst = (name: string) =>
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Katakana}\p{Script=Hiragana}]/u.test(name)

function realWords(): Words[] {
  const scripts = new Map<string, Words>()
  const add = (name: string) => {
    const words = name.split(/[\s,]+/).filter((word) => word !== '')
    const [given, family] = [words[0], words.at(-1)]
    if (given === undefined || family === undefined || words.length < 2) return
    const script = scriptOf(given)
    const own = scripts.get(script) ?? emptyWords(script === 'Latin', isFamilyFirst(given))
    scripts.set(script, own)
    own.given.push(written(given))
    own.family.push(written(family))
    if (!own.familyFirst) own.middle.push(...words.slice(1, -1).map(written))
  }
  for (const name of loadRealList().flatMap(namesOf)) add(name)
  // The odd rows are the customers who are on no list: see customer-file.ts.
  loadNegatives(true).forEach(({ name }, at) => {
    if (at % 2 === 0) add(name)
  })
  return [...scripts.values()].sort((a, b) => b.given.length - a.given.length)
}

const SCRIPTS =
  'Latin Arabic Cyrillic Han Hangul Katakana Hiragana Devanagari Hebrew Greek Georgian Armenian Thai'.split(' ')
const SCRIPT_PATTERNS = SCRIPTS.map((script) => [script, new RegExp(`\\p{Script=${script}}`, 'u')] as const)
const scriptOf = (word: string) => SCRIPT_PATTERNS.find(([, pattern]) => pattern.test(word))?.[0] ?? 'other'

/** OFAC writes family names in capitals. */
const written = (word: string) =>
  word.length > 2 && word === word.toUpperCase()
    ? word.toLowerCase().replace(/(^|-)\p{L}/gu, (start) => start.toUpperCase())
    : word

function inventedWords(): Words {
  const random = createRandom(1)
  const some = (zipf: Zipf, from: number) =>
    Array.from({ length: 60_000 }, () => inventedWord(from + zipfRank(random, zipf)))
  return {
    given: some({ head: 100, slope: 0.7, ranks: 6_000 }, 0),
    middle: some({ head: 100, slope: 0.7, ranks: 4_000 }, 2_000),
    family: some({ head: 200, slope: 0.4, ranks: 20_000 }, 3_000),
    latin: true,
    familyFirst: false,
  }
}

// Chosen for a dictionary of about 500,000 words at a million entities with 2.4 names each.
const TAIL_SHARE = 0.42
const MIDDLE_TAIL_SHARE = 0.15
const TAIL: Zipf = { head: 30_000, slope: 0.05, ranks: 16_000_000 }

export function* syntheticEntities(
  count: number,
  { namesEach = 2.4, seed = 1 }: SyntheticOptions = {},
): Generator<SyntheticEntity> {
  const random = createRandom(seed)
  const scripts = vocabulary()
  const names = scripts.reduce((sum, { given }) => sum + given.length, 0)
  const drawScript = () => {
    let at = random() * names
    for (const words of scripts) {
      at -= words.given.length
      if (at < 0) return words
    }
    throw new Error('There are no words')
  }
  // The mean of a floored exponential is 1 / (e^(1/scale) - 1).
  const scale = 1 / Math.log(1 + 1 / (namesEach - 1))
  for (let n = 0; n < count; n++) {
    const words = drawScript()
    const base = drawName(random, words)
    const name = base.join(' ')
    const aliases = new Set<string>()
    const wanted = Math.min(40, Math.floor(-Math.log(1 - random()) * scale))
    for (let tries = 0; aliases.size < wanted && tries < wanted * 4 + 8; tries++) {
      const alias = drawAlias(random, base, words).join(' ')
      if (alias !== name) aliases.add(alias)
    }
    yield {
      id: `syn-${n}`,
      caption: name,
      schema: 'Person',
      properties: {
        name: [name],
        alias: [...aliases],
        birthDate: drawBirthDate(random),
        nationality: [pick(random, ['ru', 'ir', 'sy', 'kp', 'ua', 'by', 'us', 've', 'cn', 'iq'])],
        topics: [random() < 0.1 ? 'sanction' : 'role.pep'],
      },
      datasets: ['syn'],
      first_seen: '2024-01-01T00:00:00',
      last_seen: '2026-01-01T00:00:00',
      last_change: '2025-01-01T00:00:00',
      target: true,
    }
  }
}

function drawName(random: Random, { given, middle, family, latin, familyFirst }: Words): string[] {
  if (familyFirst) return [pick(random, family), drawSigns(random, given)]
  const last = latin && random() < TAIL_SHARE ? drawTail(random) : pick(random, family)
  if (middle.length === 0 || random() > 0.45) return [pick(random, given), last]
  return [pick(random, given), latin && random() < MIDDLE_TAIL_SHARE ? drawTail(random) : pick(random, middle), last]
}

/** Most given names of two signs are a choice of each sign, which keeps namesakes as rare as they are. */
function drawSigns(random: Random, given: readonly string[]): string {
  const [one, other] = [pick(random, given), pick(random, given)]
  return random() < 0.8 ? one.slice(0, 1) + other.slice(-1) : one
}

const drawTail = (random: Random) => inventedWord(zipfRank(random, TAIL))

function drawAlias(random: Random, base: readonly string[], words: Words): string[] {
  const { given, middle, latin, familyFirst } = words
  const last = base.at(-1) ?? ''
  const kind = random()
  if (familyFirst) return kind < 0.3 ? [base.join('')] : [base[0] ?? '', drawSigns(random, given)]
  if (latin && kind < 0.65) return base.map((word) => (random() < 0.5 ? respelled(random, word) : word))
  if (kind < 0.75) return [last, ...base.slice(0, -1)]
  if (kind < 0.85 && base.length > 2) return [base[0] ?? '', last]
  return [...base.slice(0, -1), pick(random, middle.length > 0 ? middle : given), last]
}

function drawBirthDate(random: Random): string[] {
  const year = String(1930 + Math.floor(random() * 80))
  const [month, day] = [12, 28].map((most) => String(1 + Math.floor(random() * most)).padStart(2, '0'))
  const kind = random()
  if (kind < 0.6) return [`${year}-${month}-${day}`]
  if (kind < 0.75) return [year]
  return kind < 0.8 ? [`${year}-${month}`] : []
}

export interface Written {
  names: number
  bytes: number
  /** Entities at even distances through the list. */
  sample: SyntheticEntity[]
}

/** Writes a list as lines of JSON. */
export async function writeEntities(
  path: string,
  count: number,
  { sample = 0, ...options }: SyntheticOptions & { sample?: number } = {},
): Promise<Written> {
  const file = createWriteStream(path, { highWaterMark: 1 << 22 })
  const written: Written = { names: 0, bytes: 0, sample: [] }
  const step = sample > 0 ? Math.max(1, Math.floor(count / sample)) : Number.POSITIVE_INFINITY
  let lines: string[] = []
  let at = 0
  const flush = async () => {
    const chunk = Buffer.from(lines.join(''))
    lines = []
    written.bytes += chunk.length
    if (!file.write(chunk)) await once(file, 'drain')
  }
  for (const entity of syntheticEntities(count, options)) {
    if (at++ % step === 0 && written.sample.length < sample) written.sample.push(entity)
    written.names += 1 + entity.properties.alias.length
    lines.push(`${JSON.stringify(entity)}\n`)
    if (lines.length === 2000) await flush()
  }
  await flush()
  file.end()
  await once(file, 'finish')
  return written
}
