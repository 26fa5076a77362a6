import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { NAME_MATCH_KINDS, type NameMatchKind } from '@ostiary/contract'
import { readName } from '../names/tokens.ts'
import { createNames } from '../testing/random-names.ts'
import { BIRTH_KINDS, type BirthSpan, compareBirths } from './birth.ts'
import { explainBirth, explainNames } from './explain.ts'

const explain = (query: string, listed: string) => explainNames(readName(query), readName(listed))

describe('the kind of match between two words', () => {
  const cases: [what: string, query: string, listed: string, kind: NameMatchKind, similarity: number][] = [
    ['the same word', 'vorberg', 'Vorberg', 'exact', 1],
    ['another spelling of the same name', 'Mohammed', 'Magomed', 'spelling', 0.97],
    ['a short form', 'Bart', 'Bartholomew', 'nickname', 0.86],
    ['a typing error', 'Vorberg', 'Vormerg', 'edit', 0.871],
    ['the same sound', 'Khorvand', 'Horvend', 'sound', 0.91],
    ['an initial', 'V.', 'Vorberg', 'initial', 0.8],
    ['an initial on the list', 'Vorberg', 'V.', 'initial', 0.8],
    ['the same initial', 'V.', 'V.', 'exact', 1],
  ]
  for (const [what, query, listed, kind, similarity] of cases) {
    test(`${what}: ${query}, ${listed}`, () => {
      const { name } = explain(`Talvostin ${query}`, `Talvostin ${listed}`)
      assert.deepEqual(
        name.map((pair) => [pair.kind, pair.similarity]),
        [
          ['exact', 1],
          [kind, similarity],
        ],
      )
      assert.equal(name[1]?.query, readName(`Talvostin ${query}`).words[1]?.text)
      assert.equal(name[1]?.listed, readName(`Talvostin ${listed}`).words[1]?.text)
    })
  }

  test('joined words are shown as they matched the list', () => {
    const { name, notes } = explain('Karvol Mendrik Vorberg', 'Karvolmendrik Vorberg')
    assert.deepEqual(name, [
      { query: 'karvolmendrik', listed: 'karvolmendrik', kind: 'joined', similarity: 1 },
      { query: 'vorberg', listed: 'vorberg', kind: 'exact', similarity: 1 },
    ])
    assert.deepEqual(notes, ['Words were joined or divided to meet the listed name'])
  })

  test('divided words are shown as they matched the list', () => {
    const { name } = explain('Karvolmendrik Vorberg', 'Karvol Mendrik Vorberg')
    assert.deepEqual(
      name.map(({ query, kind }) => [query, kind]),
      [
        ['karvol', 'joined'],
        ['mendrik', 'joined'],
        ['vorberg', 'exact'],
      ],
    )
  })
})

describe('words without a partner', () => {
  test('are named on both sides', () => {
    const { name, unmatchedQuery, unmatchedListed, notes } = explain(
      'Karvol Zilunde Vorberg',
      'Karvol al Mabrosk Vorberg',
    )
    assert.deepEqual(unmatchedQuery, ['zilunde'])
    assert.deepEqual(unmatchedListed, ['al', 'mabrosk'])
    assert.deepEqual(
      name.map(({ query }) => query),
      ['karvol', 'vorberg'],
    )
    assert.deepEqual(notes, [])
  })

  test('every listed word is either paired or listed as unmatched, once', () => {
    const names = createNames(81)
    for (let n = 0; n < 1_500; n++) {
      const text = names.name()
      const [query, listed] = [readName(text), readName(names.mutate(text))]
      // Names in the same characters are explained as a whole.
      if (query.native !== '' && query.native === listed.native) continue
      const { name, unmatchedListed } = explainNames(query, listed)
      const explained = [...name.map((pair) => pair.listed), ...unmatchedListed].sort()
      assert.deepEqual(explained, listed.words.map((word) => word.text).sort(), text)
      for (const { similarity } of name) assert.ok(similarity > 0 && similarity <= 1, text)
    }
  })

  test('names in the same characters have no unmatched words', () => {
    const { unmatchedQuery, unmatchedListed } = explain('欧蓝月', '欧 蓝 月')
    assert.deepEqual([unmatchedQuery, unmatchedListed], [[], []])
  })
})

describe('notes', () => {
  test('say which scripts were compared', () => {
    assert.deepEqual(explain('Карвол Ворберг', 'Karvol Vorberg').notes, [
      'The row is in cyrillic script, the list in latin: compared in Latin letters',
    ])
    assert.deepEqual(explain('Карвол Ворберг', 'Карвол Ворберг').notes, [])
  })

  test('say that the words stand in another order', () => {
    assert.deepEqual(explain('Vorberg Karvol', 'Karvol Vorberg').notes, ['The words stand in another order'])
    assert.deepEqual(explain('Karvol Vorberg', 'Karvol Mendrik Vorberg').notes, [])
  })
})

describe('the birth date', () => {
  const day = (from: number, to = from, circa = false): BirthSpan => ({ from, to, circa })
  const year = (number: number, circa = false) => day(number * 10_000 + 101, number * 10_000 + 1231, circa)
  const cases: [string, BirthSpan | null, BirthSpan[], string][] = [
    ['unknown', null, [year(1958)], 'The row has no usable birth date'],
    ['unknown', day(19580403), [], 'The list has no birth date'],
    ['same_day', day(19580403), [day(19580403)], 'Born on the same day, 1958-04-03'],
    ['same_month', day(19580403), [day(19580401, 19580430)], 'The same month, 1958-04'],
    ['same_year', day(19580403), [year(1958)], 'The same year: 1958-04-03 and 1958'],
    ['within_range', day(19600403), [day(19580101, 19621231)], '1960-04-03 is within 1958 to 1962'],
    ['day_and_month_swapped', day(19580403), [day(19580304)], '1958-04-03 is 1958-03-04 with day and month swapped'],
    ['one_digit', day(19580403), [day(19680403)], '1958-04-03 and 1968-04-03 differ in one digit'],
    ['near', day(19590403), [year(1958, true)], '1959-04-03 is near circa 1958'],
    ['other_day', day(19580403), [day(19581127)], 'The same year, another day: 1958-04-03 and 1958-11-27'],
    ['different', day(19580403), [day(19311127)], '1958-04-03 is not 1931-11-27'],
  ]
  for (const [kind, query, listed, text] of cases) {
    test(`${kind}: ${text}`, () => {
      const evidence = compareBirths(query, listed)
      assert.deepEqual(explainBirth(query, listed, evidence), { kind, effect: evidence.effect, text })
    })
  }

  test('of several dates, the text names the one that counted', () => {
    const listed = [year(1931), day(19580403), year(1958)]
    const query = day(19580403)
    assert.equal(explainBirth(query, listed, compareBirths(query, listed)).text, 'Born on the same day, 1958-04-03')
  })
})

test('the documentation of area B names every kind that an explanation can contain', () => {
  const text = readFileSync(new URL('../../../../../docs/api/sanctions.md', import.meta.url), 'utf8')
  const [, scores = ''] = text.split('## What a score means')
  for (const kind of [...NAME_MATCH_KINDS, ...BIRTH_KINDS]) assert.ok(scores.includes(`\`${kind}\``), kind)
})
