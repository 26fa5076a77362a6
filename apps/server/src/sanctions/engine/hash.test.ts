import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../testing/random-names.ts'
import {
  eachNeighbour,
  hashText,
  hashWithout,
  INITIAL_TAGS,
  initialTag,
  NEAR_PREFIX,
  nearTag,
  wordTag,
} from './hash.ts'

const random = createRandom(51)
const LETTERS = [...'abdehiklmnorstuvz']
const bytes = (word: string) => Uint8Array.from(Buffer.from(word))
const word = (least: number, most: number) =>
  Array.from({ length: least + random.below(most - least + 1) }, () => random.pick(LETTERS)).join('')

function neighbours(text: string, least: number, most: number): Set<number> {
  const found = new Set<number>()
  eachNeighbour(bytes(text), text.length, least, most, (hash) => found.add(hash))
  return found
}

/** Exactly one insertion, removal, replacement or swap. */
function slip(text: string): string {
  const at = random.below(text.length)
  const kind = random.below(4)
  if (kind === 0) return text.slice(0, at) + random.pick(LETTERS) + text.slice(at)
  if (kind === 1) return text.slice(0, at) + text.slice(at + 1)
  if (kind === 2) return text.slice(0, at) + random.pick(LETTERS) + text.slice(at + 1)
  return text.slice(0, at) + (text[at + 1] ?? '') + (text[at] ?? '') + text.slice(at + 2)
}

for (const [most, least] of [
  [1, 3],
  [2, 6],
] as const) {
  test(`two words ${most} edits apart share a neighbour`, () => {
    for (let n = 0; n < 20_000; n++) {
      const a = word(least, 14)
      let b = a
      for (let slips = 0; slips < most; slips++) b = slip(b)
      if (b.length < least) continue
      const other = neighbours(b, 0, most)
      assert.ok(
        [...neighbours(a, 0, most)].some((hash) => other.has(hash)),
        `${a} ${b}`,
      )
    }
  })
}

test('words that have nothing in common share no neighbour', () => {
  const other = neighbours('quimbetz', 0, 2)
  assert.ok(![...neighbours('vorlandak', 0, 2)].some((hash) => other.has(hash)))
})

test('neighbours with up to one and with exactly two letters left out are together those with up to two', () => {
  for (let n = 0; n < 500; n++) {
    const text = word(3, 12)
    assert.deepEqual(
      [...neighbours(text, 0, 1), ...neighbours(text, 2, 2)].sort().filter(unique),
      [...neighbours(text, 0, 2)].sort(),
      text,
    )
  }
})

const unique = (value: number, at: number, all: readonly number[]) => all.indexOf(value) === at

test('only the first letters count, so that long words have no more neighbours than short ones', () => {
  assert.equal(NEAR_PREFIX, 7)
  assert.deepEqual(neighbours('vorlandak', 0, 2), neighbours('vorlandberg', 0, 2))
  assert.notDeepEqual(neighbours('vorlandak', 0, 2), neighbours('vorlantak', 0, 2))
  assert.equal(neighbours('vorland', 0, 2).size, 1 + 7 + 21)
})

test('the hash without two letters equals the hash of the word that never had them', () => {
  for (let n = 0; n < 2_000; n++) {
    const text = word(2, 12)
    const [a, b] = [random.below(text.length), random.below(text.length)]
    const left = [...text].filter((_, at) => at !== a && at !== b).join('')
    assert.equal(hashWithout(bytes(text), text.length, a, b), hashWithout(bytes(left), left.length, -1, -1), text)
  }
})

test('hashes equal those in existing snapshots', () => {
  assert.equal(hashText('vorlandek'), 3794218532)
  assert.equal(hashText('~al'), 1118306376)
  assert.equal(hashWithout(bytes('vorlandek'), 9, -1, -1), 1904265334)
  assert.equal(hashWithout(bytes('vorlandek'), 9, 1, 4), 1573387081)
  assert.equal(wordTag(0), 16022)
  assert.equal(wordTag(123_456), 17620)
})

test('a neighbour tag holds twelve bits of the hash and the length up to 15', () => {
  assert.equal(nearTag(0xabcdef01, 9), 0xabc9)
  assert.equal(nearTag(0xabcdef01, 15), 0xabcf)
  assert.equal(nearTag(0xabcdef01, 40), 0xabcf)
  assert.equal(nearTag(0xffffffff, 3) >>> 16, 0)
})

test('tags of words and of initials never collide, and fit in sixteen bits', () => {
  const initials = new Set([...'abcdefghijklmnopqrstuvwxyz'].map((letter) => initialTag(letter.charCodeAt(0))))
  assert.equal(initials.size, 26)
  for (const tag of initials) assert.ok(tag > 0 && tag < INITIAL_TAGS)
  for (let id = 0; id < 200_000; id++) {
    const tag = wordTag(id)
    assert.ok(tag >= INITIAL_TAGS && tag <= 0xffff && Number.isInteger(tag), String(id))
  }
})

test('hashes spread over their buckets', () => {
  const buckets = new Uint32Array(256)
  for (let n = 0; n < 25_600; n++) {
    const at = hashText(`${word(3, 9)}${n}`) & 255
    buckets[at] = (buckets[at] as number) + 1
  }
  assert.ok(
    Math.max(...buckets) < 200 && Math.min(...buckets) > 40,
    `${Math.min(...buckets)} to ${Math.max(...buckets)}`,
  )
})
