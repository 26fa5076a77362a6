import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRandom } from '../testing/random-names.ts'
import { EXACT, editBudget, editSimilarity, edits, skeletonOf, TWO_EDITS_MAX, wordSimilarity } from './similarity.ts'

/** Optimal string alignment, written as the textbook has it. */
function distance(a: string, b: string): number {
  const d = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  )
  const at = (i: number, j: number) => d[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? at(i - 2, j - 2) + 1
          : Number.POSITIVE_INFINITY
      ;(d[i] as number[])[j] = Math.min(replaced, at(i - 1, j) + 1, at(i, j - 1) + 1, swapped)
    }
  }
  return at(a.length, b.length)
}

const bytes = (word: string) => Uint8Array.from(Buffer.from(word))
const byEdits = (a: string, b: string, most: 1 | 2 = 2) => editSimilarity(bytes(a), a.length, bytes(b), b.length, most)

/** Pairs of invented words from equal to far apart, over few letters so that they come near by chance too. */
function* pairs(seed: number, count: number): Generator<[string, string]> {
  const random = createRandom(seed)
  const letters = [...'abehiknorstvyz']
  const word = () => Array.from({ length: 1 + random.below(12) }, () => random.pick(letters)).join('')
  const slip = (text: string) => {
    const at = random.below(text.length + 1)
    const kind = random.below(4)
    if (kind === 0) return text.slice(0, at) + random.pick(letters) + text.slice(at)
    if (kind === 1) return text.slice(0, at) + text.slice(at + 1)
    if (kind === 2) return text.slice(0, at) + random.pick(letters) + text.slice(at + 1)
    return text.slice(0, at) + (text[at + 1] ?? '') + (text[at] ?? '') + text.slice(at + 2)
  }
  for (let n = 0; n < count; n++) {
    const a = word()
    let b = random.next() < 0.1 ? word() : a
    for (let slips = random.below(4); slips > 0; slips--) b = slip(b)
    if (b !== '') yield [a, b]
  }
}

describe('edits', () => {
  test('counts as the textbook does, up to the most that is asked for', () => {
    for (const [a, b] of pairs(21, 20_000)) {
      const real = distance(a, b)
      for (const most of [1, 2]) {
        const counted = edits(bytes(a), a.length, bytes(b), b.length, most)
        if (real <= most) assert.equal(counted, real, `${a} ${b}`)
        else assert.ok(counted > most, `${a} ${b}: ${counted} instead of ${real}`)
      }
    }
  })

  test('more edits are allowed in longer words, none in two letters', () => {
    assert.deepEqual([1, 2, 3, 4, 5, 6, 7, 40].map(editBudget), [0, 0, 1, 1, 1, 2, 2, 2])
  })

  test('exactly the pairs within the budget of the shorter word count', () => {
    const counts = { within: 0, beyond: 0 }
    for (const [a, b] of pairs(22, 20_000)) {
      if (a === b) continue
      const within = distance(a, b) <= editBudget(Math.min(a.length, b.length))
      counts[within ? 'within' : 'beyond']++
      assert.equal(wordSimilarity(a, b, null, null) > 0, within, `${a} ${b}`)
      assert.equal(byEdits(a, b) > 0, within, `${a} ${b}`)
    }
    assert.ok(counts.within > 3_000 && counts.beyond > 3_000, JSON.stringify(counts))
  })

  test('when only one edit is asked for, two do not count', () => {
    assert.equal(byEdits('vorbergal', 'vorbirgol', 1), 0)
    assert.ok(byEdits('vorbergal', 'vorbirgol', 2) > 0)
    assert.equal(byEdits('vorbergal', 'vorbergol', 1), byEdits('vorbergal', 'vorbergol', 2))
  })

  test('two edits never score above the limit that the index relies on', () => {
    let most = 0
    for (const [a, b] of pairs(23, 20_000)) {
      const similarity = byEdits(a, b)
      if (distance(a, b) === 2 && similarity > 0) {
        assert.ok(similarity > 1 && similarity <= TWO_EDITS_MAX, `${a} ${b} ${similarity}`)
        most = Math.max(most, similarity)
      }
    }
    assert.equal(most, TWO_EDITS_MAX)
    assert.equal(TWO_EDITS_MAX, 740)
  })
})

describe('what one edit costs', () => {
  // 1000, less nine thousandths of the cost by letter of the longer word, less 30 for another first letter.
  const cases: [string, string, string, number][] = [
    ['any letter replaced', 'talvost', 'talmost', 1000 - Math.round(900 / 7)],
    ['a vowel for a vowel', 'talvost', 'talvest', 1000 - Math.round((70 * 9) / 7)],
    ['v for w', 'talvost', 'talwost', 1000 - Math.round((40 * 9) / 7)],
    ['i for y', 'talvist', 'talvyst', 1000 - Math.round((50 * 9) / 7)],
    ['a digit that looks like the letter', 'talvost', 'talv0st', 1000 - Math.round((40 * 9) / 7)],
    ['two letters swapped', 'talvost', 'tavlost', 1000 - Math.round((90 * 9) / 7)],
    ['a consonant left out', 'talvost', 'tavost', 1000 - Math.round(900 / 7)],
    ['a vowel left out', 'talvost', 'talvst', 1000 - Math.round((80 * 9) / 7)],
    ['an h left out', 'talhost', 'talost', 1000 - Math.round((60 * 9) / 7)],
    ['one of two equal letters left out', 'tallost', 'talost', 1000 - Math.round((50 * 9) / 7)],
    ['another first letter', 'talvost', 'ralvost', Math.round(1000 - 900 / 7 - 30)],
    ['in a short word', 'tal', 'tam', 1000 - 300],
  ]
  for (const [what, a, b, expected] of cases) {
    test(`${what}: ${a}, ${b}`, () => {
      assert.equal(byEdits(a, b), expected)
      assert.equal(byEdits(b, a), expected)
    })
  }

  test('a longer word loses less by the same edit', () => {
    assert.ok(byEdits('vorbergtal', 'vorbergtam') > byEdits('bergtal', 'bergtam'))
  })
})

describe('similarity', () => {
  test('does not depend on which word comes first', () => {
    for (const [a, b] of pairs(24, 20_000)) assert.equal(wordSimilarity(a, b), wordSimilarity(b, a), `${a} ${b}`)
  })

  test('is a whole number from 0 to 1000, and 1000 for the same word only', () => {
    for (const [a, b] of pairs(25, 20_000)) {
      const similarity = wordSimilarity(a, b)
      assert.ok(Number.isInteger(similarity) && similarity >= 0 && similarity <= EXACT, `${a} ${b} ${similarity}`)
      assert.equal(similarity === EXACT, a === b, `${a} ${b}`)
      assert.equal(wordSimilarity(a, a), EXACT)
    }
  })

  test('is the better of edits and sound', () => {
    let bySound = 0
    for (const [a, b] of pairs(26, 20_000)) {
      const edited = wordSimilarity(a, b, null, null)
      assert.ok(wordSimilarity(a, b) >= edited, `${a} ${b}`)
      if (a !== b && wordSimilarity(a, b) > edited) bySound++
    }
    assert.ok(bySound > 100, `sound decided only ${bySound} times`)
  })
})

describe('sound', () => {
  test('transliterations of one word have the same consonants', () => {
    const variants = [
      'khorvand horvand',
      'zhorvand djorvand jorvand dzhorvand',
      'chorvand tchorvand tschorvand czorvand',
      'shorvand schorvand shchorvand',
      'vorlandov worlandoff vorlandoff',
      'philvorn filvorn',
      'qarvond karvond carvond ckarvond',
      'zarvond sarvond tsarvond tzarvond',
      'cilvorn silvorn',
      'maxorv maksorv',
      'thorvand torvand',
      'talvorra talvora',
      'vorlanda vorlandah',
    ]
    for (const line of variants) {
      const [first = '', ...others] = line.split(' ')
      for (const other of others)
        assert.equal(skeletonOf(other)?.consonants, skeletonOf(first)?.consonants, `${first} ${other}`)
    }
    assert.notEqual(skeletonOf('vorland')?.consonants, skeletonOf('morland')?.consonants)
  })

  test('vowels differ by class: a; e, i and y; o and u', () => {
    assert.equal(skeletonOf('varland')?.vowels, '11')
    assert.equal(skeletonOf('verlynd')?.vowels, '22')
    assert.equal(skeletonOf('vorlund')?.vowels, '33')
    assert.equal(skeletonOf('vourleend')?.vowels, '32')
  })

  test('a vowel at the beginning is heard', () => {
    assert.notEqual(skeletonOf('arland')?.consonants, skeletonOf('rland')?.consonants)
    assert.equal(skeletonOf('arland')?.consonants, skeletonOf('erland')?.consonants)
  })

  test('short words and words of few consonants have no sound to go by', () => {
    for (const word of ['', 'v', 'vor', 'oua', 'aeioua']) assert.equal(skeletonOf(word), null, word)
    assert.notEqual(skeletonOf('vorl'), null)
    assert.notEqual(skeletonOf('volo'), null)
    assert.equal(skeletonOf('vouloua'), null)
  })

  test('the same consonants give 960, less 50 for each vowel that differs', () => {
    assert.equal(wordSimilarity('khorvand', 'horvand'), 960)
    assert.equal(wordSimilarity('khorvand', 'hourvend'), 910)
    assert.equal(wordSimilarity('khorvand', 'hervend'), 860)
  })

  test('too many different vowels make another word', () => {
    assert.equal(wordSimilarity('khorvandar', 'hervendyr'), 0)
    assert.equal(wordSimilarity('khor', 'hera'), 0)
  })
})
