import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../testing/random-names.ts'
import { relativesOf, spellingOf, tableSimilarity } from './groups.ts'
import { NICKNAME, SPELLING } from './similarity.ts'
import { NICKNAMES, SPELLING_GROUPS } from './tables.ts'

const between = (a: string, b: string) => tableSimilarity(spellingOf(a), spellingOf(b))
const known = [...new Set([...SPELLING_GROUPS, ...NICKNAMES].flatMap((line) => line.split(' ')))]

test('two spellings of one name are as alike as a spelling is', () => {
  assert.equal(between('mohammed', 'muhammad'), SPELLING)
  assert.equal(between('muhammad', 'mohammed'), SPELLING)
})

test('a name and its short form are as alike as a nickname is', () => {
  assert.equal(between('bartholomew', 'bart'), NICKNAME)
  assert.equal(between('bart', 'bartholomew'), NICKNAME)
})

test('a short form of several names is alike to each of them, and they are not alike', () => {
  assert.equal(between('chris', 'christopher'), NICKNAME)
  assert.equal(between('chris', 'christina'), NICKNAME)
  assert.equal(between('christopher', 'christina'), 0)
})

test('a spelling counts before a nickname', () => {
  const both = known.filter((word) =>
    relativesOf(word).some(({ text }) => between(word, text) === SPELLING && shareLine(word, text)),
  )
  assert.ok(both.length > 0, 'the tables hold no such pair')
})

function shareLine(a: string, b: string): boolean {
  return spellingOf(a).nicknames.some((line) => spellingOf(b).nicknames.includes(line))
}

test('unknown words are alike to nothing, not even to each other', () => {
  assert.deepEqual(spellingOf('vorlandek'), { spelling: -1, nicknames: [] })
  assert.equal(between('vorlandek', 'talvostin'), 0)
  assert.equal(between('vorlandek', 'mohammed'), 0)
  assert.deepEqual(relativesOf('vorlandek'), [])
})

test('words that every object knows are no names', () => {
  for (const word of ['constructor', '__proto__', 'toString']) assert.deepEqual(relativesOf(word), [], word)
})

test('every line of the tables is known by all its words', () => {
  for (const [lines, least] of [
    [SPELLING_GROUPS, SPELLING],
    [NICKNAMES, NICKNAME],
  ] as const) {
    for (const line of lines) {
      const [first = '', ...others] = line.split(' ')
      for (const other of others) assert.ok(between(first, other) >= least, `${first} ${other}`)
    }
  }
})

test('the relatives of a word are exactly the words the tables call alike, each once and never the word itself', () => {
  const random = createRandom(31)
  for (let n = 0; n < 300; n++) {
    const word = random.pick(known)
    const expected = known.filter((other) => other !== word && between(word, other) > 0)
    const relatives = relativesOf(word)
    assert.deepEqual(relatives.map(({ text }) => text).sort(), expected.sort(), word)
    for (const { text, similarity } of relatives) assert.equal(similarity, between(word, text), `${word} ${text}`)
  }
})
