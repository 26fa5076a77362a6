/** Names that are spelt in several ways, and their short forms, as numbers the index can keep. */
import { NICKNAME, SPELLING } from './similarity.ts'
import { NICKNAMES, SPELLING_GROUPS } from './tables.ts'

export interface Groups {
  /** The name this is a spelling of, or -1. */
  spelling: number
  /** Lines of the nickname table the word is on. */
  nicknames: readonly number[]
}

const NONE: Groups = { spelling: -1, nicknames: [] }
const groups = new Map<string, { spelling: number; nicknames: number[] }>()
const membersOf = { spelling: [] as string[][], nickname: [] as string[][] }

function entry(word: string): { spelling: number; nicknames: number[] } {
  const found = groups.get(word) ?? { spelling: -1, nicknames: [] }
  groups.set(word, found)
  return found
}

SPELLING_GROUPS.forEach((line, at) => {
  const words = line.split(' ')
  membersOf.spelling.push(words)
  for (const word of words) entry(word).spelling = at
})
NICKNAMES.forEach((line, at) => {
  const words = line.split(' ')
  membersOf.nickname.push(words)
  for (const word of words) entry(word).nicknames.push(at)
})

export function spellingOf(word: string): Groups {
  return groups.get(word) ?? NONE
}

export function tableSimilarity(a: Groups, b: Groups): number {
  if (a.spelling >= 0 && a.spelling === b.spelling) return SPELLING
  return a.nicknames.some((line) => b.nicknames.includes(line)) ? NICKNAME : 0
}

/** Every word that the tables call the same name or a short form of it. */
export function relativesOf(word: string): { text: string; similarity: number }[] {
  const own = spellingOf(word)
  const related = new Map<string, number>()
  for (const line of own.nicknames) for (const text of membersOf.nickname[line] ?? []) related.set(text, NICKNAME)
  for (const text of membersOf.spelling[own.spelling] ?? []) related.set(text, SPELLING)
  related.delete(word)
  return [...related].map(([text, similarity]) => ({ text, similarity }))
}
