import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NICKNAME, SPELLING } from '../names/similarity.ts'
import { readName, type Word } from '../names/tokens.ts'
import { createNames } from '../testing/random-names.ts'
import { RULES } from './name-score.ts'
import { bestReading, compareWords, divisionsOf, markerOf, readingsOf, scoreNames } from './pair.ts'

const score = (query: string, listed: string) => scoreNames(readName(query), readName(listed))
const full = (text: string): Word => ({ text, role: 'full' })
const near = (actual: number, expected: number, what = '') =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${what} ${actual} is not ${expected}`)

describe('two words', () => {
  const initial = (text: string): Word => ({ text, role: 'initial' })
  const particle = (text: string): Word => ({ text, role: 'particle' })
  const light = (text: string): Word => ({ text, role: 'light' })

  test('the same word is exact, in every role', () => {
    for (const make of [full, initial, particle, light]) assert.equal(compareWords(make('k'), make('k')), 1000)
  })

  test('an initial matches a word that begins with it, and no other', () => {
    assert.equal(compareWords(initial('k'), full('karvol')), 800)
    assert.equal(compareWords(full('karvol'), initial('k')), 800)
    assert.equal(compareWords(initial('m'), full('karvol')), 0)
    assert.equal(compareWords(initial('m'), initial('k')), 0)
  })

  test('particles and Abdul match only themselves', () => {
    assert.equal(compareWords(particle('bin'), particle('al')), 0)
    assert.equal(compareWords(particle('binvor'), particle('binvol')), 0)
    assert.equal(compareWords(particle('al'), full('al')), 0)
    assert.equal(compareWords(light('abdul'), full('abdul')), 0)
    assert.equal(compareWords(particle('al'), initial('a')), 0)
  })

  test('the tables count when they are better than edits and sound', () => {
    assert.equal(compareWords(full('mohammed'), full('magomed')), SPELLING)
    assert.equal(compareWords(full('bartholomew'), full('bart')), NICKNAME)
  })
})

describe('identical names', () => {
  test('score 1 when they have more than one word and an initial', () => {
    for (const text of [
      'Karvol Vorberg',
      'Karvol bin Mendrik al-Vorberg',
      'Vorberg',
      'Карвол Ворберг',
      '欧蓝月',
      'Karvol M. Vorberg',
    ]) {
      assert.equal(score(text, text), 1, text)
    }
  })

  test('random ones too', () => {
    const names = createNames(71)
    let checked = 0
    for (let n = 0; n < 2_000; n++) {
      const name = readName(names.name())
      const heavy = name.words.filter(({ role }) => role === 'full' || role === 'initial')
      const fulls = heavy.filter(({ role }) => role === 'full').length
      if (fulls === 0 || (fulls === 1 && heavy.length > 1)) continue
      checked++
      assert.equal(scoreNames(name, name), 1, name.words.map(({ text }) => text).join(' '))
    }
    assert.ok(checked > 1_000)
  })

  test('one word and an initial is too little to be sure, even when they are the same', () => {
    near(score('K. Vorberg', 'K. Vorberg'), RULES.initialMax)
  })

  test('initials alone score nothing', () => assert.equal(score('K. V.', 'K. V.'), 0))
})

test('every score is between 0 and 1', () => {
  const names = createNames(72)
  for (let n = 0; n < 5_000; n++) {
    const text = names.name()
    const other = n % 4 === 0 ? names.name() : names.mutate(names.mutate(text))
    const value = score(text, other)
    assert.ok(value >= 0 && value <= 1, `${text} | ${other}: ${value}`)
  }
})

describe('words that only one name has', () => {
  test('one that only the list has costs an eighth of its weight, one that only the customer has a third', () => {
    near(score('Karvol Vorberg', 'Karvol Mendrik Vorberg'), 2 / 2.12)
    near(score('Karvol Mendrik Vorberg', 'Karvol Vorberg'), 2 / 2.3)
  })

  test('a particle more or less costs next to nothing', () => {
    near(score('Karvol Vorberg', 'Karvol al-Vorberg'), 2 / (2 + 0.12 * 0.2))
    near(score('Karvol al-Vorberg', 'Karvol Vorberg'), 2 / (2 + 0.3 * 0.2))
    near(score('Karvol Vorberg', 'Abdul Karvol Vorberg'), 2 / (2 + 0.12 * 0.2))
  })

  test('an initial more or less costs a little', () =>
    near(score('Karvol M. Vorberg', 'Karvol Vorberg'), 2 / (2 + 0.3 * 0.4)))
})

describe('contradictions', () => {
  test('an unmatched word in both names costs much more than one in only one name', () => {
    const contradicted = score('Karvol Zilunde Vorberg', 'Karvol Mabrosk Vorberg')
    near(contradicted, (2 / 2.42) * 0.7)
    assert.ok(contradicted < score('Karvol Zilunde Vorberg', 'Karvol Vorberg') - 0.2)
  })

  test('each further contradiction costs again', () => {
    near(score('Karvol Vorberg Zilunde Quostin', 'Karvol Vorberg Mabrosk Hefrim'), (2 / 2.84) * 0.7 ** 2)
  })

  test('particles contradict nothing', () => {
    assert.ok(score('Karvol bin Vorberg', 'Karvol al Vorberg') > 0.95)
    near(score('Karvol bin Vorberg', 'Karvol Mabrosk Vorberg'), 2 / (2 + 0.3 * 0.2 + 0.12))
    near(score('Karvol Mabrosk Vorberg', 'Karvol bin Vorberg'), 2 / (2 + 0.3 + 0.12 * 0.2))
  })

  test('Abdul contradicts another word in its place', () => {
    near(score('Abdul Karvol Vorberg', 'Mabrosk Karvol Vorberg'), (2 / (2 + 0.3 * 0.2 + 0.12)) * 0.7)
    near(score('Mabrosk Karvol Vorberg', 'Abdul Karvol Vorberg'), (2 / (2 + 0.3 + 0.12 * 0.2)) * 0.7)
  })

  test('another initial contradicts too', () => {
    assert.ok(score('Karvol M. Vorberg', 'Karvol T. Vorberg') < 0.7)
  })

  test('a pair of words that is hardly alike is close to a contradiction', () => {
    // Two edits apart: 740 at most, 80 below doubtfulBelow.
    const similarity = compareWords(full('vorbergan'), full('vorbulgan'))
    assert.ok(similarity > 0 && similarity <= 740)
    near(
      score('Karvol Vorbergan', 'Karvol Vorbulgan'),
      ((1000 + similarity) / 2000) * (1 - 0.0015 * (820 - similarity)),
    )
  })
})

describe('one shared word', () => {
  test('is never enough when either name has more words', () => {
    for (const [query, listed] of [
      ['Vorberg', 'Karvol Vorberg'],
      ['Karvol Vorberg', 'Vorberg'],
      ['Karvol Vorberg', 'Mabrosk Vorberg'],
      ['al-Vorberg', 'Karvol al-Vorberg'],
      ['Abdul Karvol', 'Abdul Karvol Vorberg'],
    ] as const) {
      assert.ok(score(query, listed) <= RULES.oneWordMax, `${query} | ${listed}`)
    }
  })

  test('is enough when both names are only that word', () => {
    assert.equal(score('Vorberg', 'Vorberg'), 1)
    assert.equal(score('Abdul Karvol', 'Abdul Karvol'), 1)
  })

  test('scores higher with a matching initial, but is not certain', () => {
    const value = score('K. Vorberg', 'Karvol Vorberg')
    assert.ok(value > RULES.oneWordMax && value <= RULES.initialMax, String(value))
    assert.ok(score('M. Vorberg', 'Karvol Vorberg') <= RULES.oneWordMax)
  })

  test('no word in common scores 0', () => assert.equal(score('Karvol Vorberg', 'Zilunde Mabrosk'), 0))

  test('random names that share one word stay below the limit', () => {
    const names = createNames(73)
    let checked = 0
    for (let n = 0; n < 3_000; n++) {
      const [query, listed] = [readName(names.name()), readName(names.name())]
      const heavy = [query, listed].map(({ words }) => words.filter(({ role }) => role === 'full'))
      const alike = (heavy[0] ?? []).filter((word) => (heavy[1] ?? []).some((other) => compareWords(word, other) > 0))
      const hasInitial = [query, listed].some(({ words }) => words.some(({ role }) => role === 'initial'))
      const { reading, score } = bestReading(query, listed)
      if (alike.length !== 1 || hasInitial || reading.exactAt.length > 0) continue
      if (query.native !== '' || (heavy[0]?.length === 1 && heavy[1]?.length === 1)) continue
      checked++
      assert.ok(score <= RULES.oneWordMax, `${score}`)
    }
    assert.ok(checked > 100, String(checked))
  })
})

describe('order', () => {
  test('the same words in another order cost very little', () => {
    near(score('Vorberg Karvol', 'Karvol Vorberg'), RULES.reordered)
    near(score('Vorberg Karvol Mendrik', 'Karvol Mendrik Vorberg'), RULES.reordered)
  })

  test('an article at another position costs nothing', () => {
    assert.equal(score('al Karvol Vorberg', 'Karvol al Vorberg'), 1)
  })

  test('father and son in swapped roles are a contradiction', () => {
    near(score('Karvol bin Mendrik', 'Mendrik bin Karvol'), RULES.swappedFatherAndSon)
    near(score('Karvol ibn Mendrik Vorberg', 'Mendrik bin Karvol Vorberg'), RULES.swappedFatherAndSon)
    assert.equal(score('Karvol bin Mendrik', 'Karvol ibn Mendrik'), 1)
  })

  test('without a marker in both names, swapped words are only another order', () => {
    assert.ok(score('Karvol Mendrik', 'Mendrik bin Karvol') > 0.95)
  })

  test('a marker after the name of the father works as well', () => {
    assert.ok(score('Karvol Mendrik oglu', 'Mendrik Karvol oglu') <= RULES.swappedFatherAndSon)
  })

  test('a repeated name pairs in order', () => {
    assert.equal(score('Karvol Karvol Vorberg', 'Karvol Karvol Vorberg'), 1)
    near(score('Vorberg Karvol', 'Vorberg Karvol Vorberg'), 2 / 2.12)
  })

  test('the first marker counts', () => {
    assert.equal(markerOf(readName('Karvol bin Mendrik bin Vorberg').words), 1)
    assert.equal(markerOf(readName('Karvol Vorberg').words), -1)
  })
})

describe('joined and divided words', () => {
  test('joined and divided words match the list at a small cost', () => {
    near(score('Karvol Mendrik Vorberg', 'Karvolmendrik Vorberg'), RULES.joined)
    near(score('Karvolmendrik Vorberg', 'Karvol Mendrik Vorberg'), RULES.joined)
    near(score('Kar vol men Vorberg', 'Karvolmen Vorberg'), RULES.joined)
  })

  test('an article that is joined to its name is found', () => {
    near(score('Karvol Alvorberg', 'Karvol al-Vorberg'), RULES.joined)
    near(score('Karvol al-Vorberg', 'Karvol Alvorberg'), RULES.joined)
  })

  test('a space that slipped by one letter is found', () => {
    near(score('Karvo Lvorberg', 'Karvol Vorberg'), RULES.joined)
    near(score('Karvolv Orberg', 'Karvol Vorberg'), RULES.joined)
  })

  test('a joined word must be exactly the listed one', () => {
    assert.ok(score('Karvol Mendrik Vorberg', 'Karvolmendrit Vorberg') < 0.9)
  })

  test('readings use only new words that the list has, and the first is the name as written', () => {
    const words = [full('karvol'), full('mendrik')]
    assert.deepEqual(
      readingsOf(words, () => false),
      [{ words, exactAt: [] }],
    )
    assert.deepEqual(readingsOf(words, ({ text }) => text === 'karvolmendrik').slice(1), [
      { words: [full('karvolmendrik')], exactAt: [0] },
    ])
    assert.deepEqual(readingsOf(words, ({ text }) => ['karvolm', 'endrik'].includes(text)).slice(1), [
      { words: [full('karvolm'), full('endrik')], exactAt: [0, 1] },
    ])
  })

  test('no reading has more than ten words', () => {
    const words = Array.from({ length: 10 }, (_, n) => full(`vorlandek${String.fromCharCode(97 + n)}`))
    for (const reading of readingsOf(words, () => true)) assert.ok(reading.words.length <= 10)
  })

  test('a word is divided into parts of at least three letters, or an article and at least three letters', () => {
    const divisions = divisionsOf('alvorban').map((parts) =>
      parts.map(({ text, role }) => `${text}:${role[0]}`).join(' '),
    )
    assert.deepEqual(divisions, ['al:p vorban:f', 'alv:f orban:f', 'alvo:f rban:f', 'alvor:f ban:f'])
    assert.deepEqual(divisionsOf('alvo'), [])
  })
})

describe('names in the same Chinese, Japanese or Korean script', () => {
  test('the same characters are the same name, with or without a space, simplified or not', () => {
    assert.equal(score('欧蓝月', '欧 蓝月'), 1)
    assert.equal(score('歐藍月', '欧蓝月'), 1)
  })

  test('the same sound in other characters is not certain', () => {
    assert.deepEqual(readName('欧兰月').words, readName('欧蓝月').words)
    near(score('欧兰月', '欧蓝月'), RULES.otherCharacters)
  })

  test('names in different scripts are compared by sound alone', () => assert.equal(score('Ou Lanyue', '欧蓝月'), 1))

  test('a similar sound does not count between names in the same script', () => {
    assert.ok(score('금별빈', '금별빛') < score('Geum Byeolbin', '금별빛'))
  })
})

describe('a name that is spelt in another way', () => {
  test('a typing error costs little, and less in a longer word', () => {
    const value = score('Karvol Vorberg', 'Karvol Vorborg')
    assert.ok(value > 0.93 && value < 1, String(value))
    assert.ok(score('Karvol Vorbergstal', 'Karvol Vorborgstal') > value)
  })

  test('another script costs nothing', () => assert.equal(score('Карвол Ворберг', 'Karvol Vorberg'), 1))

  test('the pairing does not depend on what was compared before', () => {
    const names = createNames(74)
    const pairs = Array.from({ length: 200 }, () => {
      const text = names.name()
      return [readName(text), readName(names.mutate(text))] as const
    })
    const alone = pairs.map(([query, listed]) => scoreNames(query, listed))
    const again = pairs
      .toReversed()
      .map(([query, listed]) => scoreNames(query, listed))
      .reverse()
    assert.deepEqual(again, alone)
  })
})
