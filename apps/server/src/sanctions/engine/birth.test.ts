import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRandom } from '../testing/random-names.ts'
import { BIRTH_BONUS_MAX, type BirthKind, type BirthSpan, compareBirths, formatBirth } from './birth.ts'

/** `1958`, `1958-04`, `1958-04-03`, `1958..1962`; a `~` before it for circa. */
function span(text: string): BirthSpan {
  const circa = text.startsWith('~')
  const [first = '', last = first] = text.replace('~', '').split('..')
  return { from: edge(first, '0101'), to: edge(last, '1231'), circa }
}

function edge(text: string, fill: string): number {
  const [year = '', month, day] = text.split('-')
  const end = fill === '1231' ? String(new Date(Date.UTC(Number(year), Number(month ?? 12), 0)).getUTCDate()) : '01'
  return Number(`${year}${month ?? fill.slice(0, 2)}${day ?? end}`)
}

const compare = (query: string, ...listed: string[]) => compareBirths(span(query), listed.map(span))

describe('one date against another', () => {
  const cases: [what: string, query: string, listed: string, kind: BirthKind, effect: number][] = [
    ['the same day', '1958-04-03', '1958-04-03', 'same_day', 0.03],
    ['day and month swapped', '1958-04-03', '1958-03-04', 'day_and_month_swapped', 0],
    ['one digit of the day', '1958-04-03', '1958-04-08', 'one_digit', -0.04],
    ['one digit of the year', '1958-04-03', '1968-04-03', 'one_digit', -0.04],
    ['another day of the year', '1958-04-03', '1958-11-27', 'other_day', -0.08],
    ['the same day a year on, more than one digit', '1959-04-03', '1960-04-03', 'near', -0.04],
    ['another day a year on', '1958-04-03', '1959-11-27', 'near', -0.2],
    ['another day two years on', '1958-04-03', '1960-11-27', 'different', -0.33],
    ['day and month swapped, but in another year', '1958-04-03', '1961-03-04', 'different', -0.33],
    ['another day two years from an estimated day', '1958-04-03', '~1960-11-27', 'near', -0.08],
    ['another day three years from an estimated day', '1958-04-03', '~1961-11-27', 'different', -0.33],
    ['a day in the listed month', '1958-04-03', '1958-04', 'same_month', 0.02],
    ['the month of the listed day', '1958-04', '1958-04-03', 'same_month', 0.02],
    ['a day in a listed month of 31 days', '1958-05-31', '1958-05', 'same_month', 0.02],
    ['the same month', '1958-04', '1958-04', 'same_month', 0.02],
    ['a day in the listed year', '1958-04-03', '1958', 'same_year', 0.01],
    ['the year of the listed day', '1958', '1958-04-03', 'same_year', 0.01],
    ['a month in the listed year', '1958-04', '1958', 'same_year', 0.01],
    ['a day in a year that is an estimate', '1958-04-03', '~1958', 'same_year', 0],
    ['a day within several years', '1960-04-03', '1958..1962', 'within_range', 0],
    ['a year within several years', '1960', '1958..1962', 'within_range', 0],
    ['the first and the last day of a range are within it', '1962-12-31', '1958..1962', 'within_range', 0],
    ['another month of the year', '1958-04', '1958-06-01', 'near', -0.03],
    ['a year apart', '1959-04-03', '1958', 'near', -0.04],
    ['two years apart', '1960-04-03', '1958', 'near', -0.1],
    ['three years apart', '1961-04-03', '1958', 'near', -0.2],
    ['four years apart', '1962-04-03', '1958', 'near', -0.2],
    ['five years apart', '1963-04-03', '1958', 'near', -0.25],
    ['six years apart', '1964-04-03', '1958', 'different', -0.33],
    ['six years before', '1952', '1958', 'different', -0.33],
    ['a year after a range', '1963-04-03', '1958..1962', 'near', -0.04],
    ['a year before a range', '1957', '1958..1962', 'near', -0.04],
    ['a year from an estimate', '1959-04-03', '~1958', 'near', -0.02],
    ['two years from an estimate', '1960-04-03', '~1958', 'near', -0.05],
    ['five years from an estimate', '1963-04-03', '~1958', 'near', -0.2],
    ['six years from an estimate', '1964-04-03', '~1958', 'different', -0.33],
  ]
  for (const [what, query, listed, kind, effect] of cases) {
    test(`${what}: ${query}, ${listed}`, () => assert.deepEqual(compare(query, listed), { kind, effect, at: 0 }))
  }

  test('the cases above cover every kind', () => {
    const kinds = new Set(cases.map(([, , , kind]) => kind))
    assert.equal(kinds.size, 9) // and `unknown` below
  })

  test('February 29 is a day like any other', () => {
    assert.equal(compare('1960-02-29', '1960-02').kind, 'same_month')
    assert.equal(compare('1960-02-29', '1960-02-29').kind, 'same_day')
  })
})

describe('missing dates', () => {
  test('have no effect', () => {
    const unknown = { kind: 'unknown', effect: 0, at: -1 }
    assert.deepEqual(compareBirths(null, [span('1958')]), unknown)
    assert.deepEqual(compareBirths(span('1958'), []), unknown)
    assert.deepEqual(compareBirths(null, []), unknown)
  })
})

describe('several listed dates', () => {
  test('the date with the best effect counts, at any position', () => {
    assert.deepEqual(compare('1958-04-03', '1931', '1958-04-03', '1958'), { kind: 'same_day', effect: 0.03, at: 1 })
    assert.deepEqual(compare('1958-04-03', '1931', '1932', '1958'), { kind: 'same_year', effect: 0.01, at: 2 })
  })

  test('the first of equal dates counts', () => {
    assert.equal(compare('1958-04-03', '1958', '1958').at, 0)
    assert.equal(compare('1958-04-03', '1931', '1932').at, 0)
  })

  test('another listed date never lowers the effect', () => {
    const random = createRandom(61)
    const any = () => {
      const year = String(1950 + random.below(12))
      const month = `${year}-${String(1 + random.below(12)).padStart(2, '0')}`
      const day = `${month}-${String(1 + random.below(28)).padStart(2, '0')}`
      return `${random.next() < 0.3 ? '~' : ''}${random.pick([year, month, day, `${year}..${Number(year) + 3}`])}`
    }
    for (let n = 0; n < 5_000; n++) {
      const query = any().replace('~', '')
      const listed = [any(), any()]
      const before = compare(query, ...listed)
      const after = compare(query, ...listed, any())
      assert.ok(after.effect >= before.effect, `${query} ${listed}`)
      for (const { effect, at } of [before, after]) {
        assert.ok(effect <= BIRTH_BONUS_MAX && effect >= -0.33, `${query} ${listed}: ${effect}`)
        assert.ok(at >= 0 && at <= 2)
      }
    }
  })
})

describe('writing a date', () => {
  const cases: [BirthSpan, string][] = [
    [span('1958-04-03'), '1958-04-03'],
    [span('1958-04'), '1958-04'],
    [span('1960-02'), '1960-02'],
    [span('1958'), '1958'],
    [span('1958..1962'), '1958 to 1962'],
    [span('~1958'), 'circa 1958'],
    [span('~1958-04-03'), 'circa 1958-04-03'],
    [{ from: 19580403, to: 19580620, circa: false }, '1958-04-03 to 1958-06-20'],
    [{ from: 19580403, to: 19580420, circa: false }, '1958-04-03 to 1958-04-20'],
    [{ from: 19580101, to: 19580630, circa: false }, '1958-01-01 to 1958-06-30'],
  ]
  for (const [date, text] of cases) test(text, () => assert.equal(formatBirth(date), text))

  test('a part of a month is not the month', () => {
    assert.equal(formatBirth({ from: 19580401, to: 19580415, circa: false }), '1958-04-01 to 1958-04-15')
  })
})
