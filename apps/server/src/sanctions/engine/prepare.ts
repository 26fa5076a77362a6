/** Makes the expansions of a list's frequent words, when the list is imported. */
import { createExpander, type Expansions, PER_WORD } from './expand.ts'
import { growing, shared } from './growing.ts'
import { CLASSES, countWords, type NameIndex } from './name-index.ts'
import { FULL } from './name-score.ts'

/**
 * How many words are prepared, the most frequent first. Measured with a million entities: they are two thirds of the different
 * words of a customer's file and 19 of 20 of all its words.
 */
const PREPARED_WORDS_MAX = 65_536
/** A word with fewer names is not prepared: a customer's file hardly ever has it. */
const NAMES_MIN = 4

export function prepareExpansions(index: NameIndex, wordsMax = PREPARED_WORDS_MAX): Expansions {
  const { wordAt, wordBytes } = index
  const words = countWords(index)
  const expander = createExpander(index)
  const expansionAt = shared(Uint32Array, words + 1)
  const expansions = growing(Uint32Array)
  const isFrequent = frequentWords(index, wordsMax)
  for (let id = 0; id < words; id++) {
    expansionAt[id] = expansions.length / PER_WORD
    if (!isFrequent[id]) continue
    const text = String.fromCharCode(...wordBytes.subarray(wordAt[id], wordAt[id + 1]))
    for (const number of expander.compute(text, 'near')) expansions.push(number)
  }
  expansionAt[words] = expansions.length / PER_WORD
  return { expansionAt, expansions: expansions.done() }
}

function frequentWords(index: NameIndex, wordsMax: number): Uint8Array {
  const { wordRole, postAt } = index
  const words = countWords(index)
  const namesOf = (id: number) => (postAt[(id + 1) * CLASSES] as number) - (postAt[id * CLASSES] as number)
  const order = new Float64Array(words)
  let count = 0
  for (let id = 0; id < words; id++) {
    if (wordRole[id] === FULL && namesOf(id) >= NAMES_MIN) order[count++] = namesOf(id) * 2 ** 32 + id
  }
  const isFrequent = new Uint8Array(words)
  for (const each of order.subarray(0, count).sort().reverse().subarray(0, wordsMax)) isFrequent[each % 2 ** 32] = 1
  return isFrequent
}
