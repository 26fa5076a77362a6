/**
 * What a word of a listed name may mean for the current query, by the word's tag. The scan of a posting list reads only tags, so
 * this decides whether the words of the name themselves need to be read. Two words may share a tag; then the tag has the better of the two.
 */
import { MAX_WORDS } from '../names/tokens.ts'

/** The most words of the list that one query may stand for. Measured: some tens per query word. */
export const SLOTS = 1 << 15
const TAGS = 1 << 16

export interface Meanings {
  /** 1 for each tag that has a slot. It rules out most names. */
  marks: Uint8Array
  /** The slot of a tag, or 0. */
  slotOf: Uint16Array
  /** Per slot: the positions of the query words that words with this tag may stand for, as a bit mask. */
  mask: Uint16Array
  /** Per slot and position: the best similarity. */
  similarity: Uint16Array
  clear(): void
  add(tag: number, at: number, similarity: number): void
}

export function createMeanings(): Meanings {
  const marks = new Uint8Array(TAGS)
  const slotOf = new Uint16Array(TAGS)
  const mask = new Uint16Array(SLOTS)
  const similarityIn = new Uint16Array(SLOTS * MAX_WORDS)
  const tagsSet = new Uint16Array(SLOTS)
  let slots = 1
  return {
    marks,
    slotOf,
    mask,
    similarity: similarityIn,
    clear() {
      for (let slot = 1; slot < slots; slot++) {
        const tag = tagsSet[slot] as number
        slotOf[tag] = 0
        marks[tag] = 0
      }
      slots = 1
    },
    add(tag, at, similarity) {
      let slot = slotOf[tag] as number
      if (slot === 0) {
        if (slots === SLOTS) throw new Error('A name may stand for more words than the search has slots for')
        slot = slots++
        slotOf[tag] = slot
        tagsSet[slot] = tag
        mask[slot] = 0
        marks[tag] = 1
        const first = slot * MAX_WORDS
        for (let n = first; n < first + MAX_WORDS; n++) similarityIn[n] = 0
      }
      mask[slot] = (mask[slot] as number) | (1 << at)
      const place = slot * MAX_WORDS + at
      if (similarity > (similarityIn[place] as number)) similarityIn[place] = similarity
    },
  }
}
