/** Seeded invented names with everything that makes names difficult, for property tests. Only tests import this. */
import type { ListedEntity } from '../lists/listed.ts'

export function createRandom(seed: number): {
  next(): number
  pick<T>(from: readonly T[]): T
  below(count: number): number
} {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  return { next, below, pick: (from) => from[below(from.length)] as (typeof from)[number] }
}

const SYLLABLES = [
  'ba',
  'ka',
  'mo',
  'ham',
  'ed',
  'vla',
  'di',
  'mir',
  'ser',
  'gei',
  'an',
  'na',
  'xi',
  'li',
  'os',
  'ku',
  'tov',
]
const WORDS = ['mohammed', 'muhammad', 'ali', 'sergei', 'sergey', 'anna', 'kim', 'yong', 'abdul', 'bob', 'robert', 'jo']
const LIGHT = ['al', 'bin', 'van', 'de', 'abu', 'ibn', 'dr', 'abdul', 'el']
const OTHER_SCRIPTS = ['Петров', 'محمد', '李明', '김철수', '明', 'Σωκράτης', 'たろう', '王', '이', 'משה', 'Ганна']
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

export function createNames(seed: number) {
  const random = createRandom(seed)
  const vocabulary = Array.from({ length: 60 }, () => {
    const count = 1 + random.below(4)
    return Array.from({ length: count }, () => random.pick(SYLLABLES)).join('')
  }).concat(WORDS)

  function word(): string {
    const kind = random.next()
    if (kind < 0.08) return random.pick(LIGHT)
    if (kind < 0.13) return `${random.pick([...LETTERS])}.`
    if (kind < 0.18) return random.pick(OTHER_SCRIPTS)
    return random.pick(vocabulary)
  }

  const name = () => {
    const words = random.next() < 0.12 ? 6 + random.below(6) : 1 + random.below(6)
    return Array.from({ length: words }, word).join(random.next() < 0.1 ? '-' : ' ')
  }

  /** Makes a typing error, or removes, adds, moves or joins a word. */
  function mutate(text: string): string {
    const at = random.below(Math.max(1, text.length))
    const words = text.split(' ')
    switch (random.below(8)) {
      case 0:
        return text.slice(0, at) + text.slice(at + 1)
      case 1:
        return text.slice(0, at) + random.pick([...LETTERS]) + text.slice(at)
      case 2:
        return text.slice(0, at) + random.pick([...LETTERS]) + text.slice(at + 1)
      case 3:
        return text.slice(0, at) + (text[at + 1] ?? '') + (text[at] ?? '') + text.slice(at + 2)
      case 4:
        return [...words.slice(1), words[0]].join(' ')
      case 5:
        return words.filter((_, n) => n !== at % words.length).join(' ') || text
      case 6:
        return `${text} ${word()}`
      default:
        return text.replace(' ', '')
    }
  }

  return {
    random,
    name,
    mutate,
    entity: (id: number): ListedEntity => ({
      id: `e-${id}`,
      schema: 'Person',
      names: Array.from({ length: 1 + random.below(3) }, () => ({ text: name(), kind: 'name' as const })),
      births: [],
      countries: [],
      topics: [],
      programs: [],
      sourceUrl: null,
      datasets: [],
    }),
  }
}
