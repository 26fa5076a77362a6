import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ListedEntity } from './listed.ts'
import { cleanText, firstWebAddress, MAX_NAMES, MAX_TEXT_CHARS, toListed } from './normalise.ts'

const entity = (change: Partial<ListedEntity>): ListedEntity => ({
  id: 'x-1',
  schema: 'Person',
  names: [{ text: 'Ada Moon', kind: 'name' }],
  births: [],
  countries: [],
  topics: [],
  programs: [],
  sourceUrl: null,
  datasets: [],
  ...change,
})

describe('cleanText', () => {
  test('trims, collapses, composes', () => {
    assert.equal(cleanText('  Ada \n\t Moon\u00a0\u0000Bay '), 'Ada Moon Bay')
    assert.equal(cleanText('Zoe\u0301'), 'Zo\u00e9')
    assert.equal(cleanText('a\ud800b'), 'a\ufffdb')
  })

  test('cuts at the limit, never within a letter', () => {
    assert.equal(cleanText('a'.repeat(400)).length, MAX_TEXT_CHARS)
    assert.equal(cleanText(`${'a'.repeat(MAX_TEXT_CHARS - 1)}\u{1f600}`), 'a'.repeat(MAX_TEXT_CHARS - 1))
  })
})

describe('toListed', () => {
  test('drops empty and repeated names, the stronger kind wins', () => {
    const listed = toListed(
      entity({
        names: [
          { text: 'Moonie', kind: 'weak' },
          { text: 'Ada  Moon', kind: 'alias' },
          { text: 'Ada Moon', kind: 'name' },
          { text: ' ', kind: 'name' },
          { text: '--', kind: 'alias' },
          { text: 'ada moon', kind: 'alias' },
        ],
      }),
    )
    assert.deepEqual(listed?.names, [
      { text: 'Ada Moon', kind: 'name' },
      { text: 'ada moon', kind: 'alias' },
      { text: 'Moonie', kind: 'weak' },
    ])
  })

  test('keeps so many names, the weakest fall out', () => {
    const weak = Array.from({ length: MAX_NAMES }, (_, index) => ({ text: `Weak ${index}`, kind: 'weak' as const }))
    const listed = toListed(entity({ names: [...weak, { text: 'Ada Moon', kind: 'name' }] }))
    assert.equal(listed?.names.length, MAX_NAMES)
    assert.deepEqual(listed?.names[0], { text: 'Ada Moon', kind: 'name' })
  })

  test('is null without a name', () => {
    assert.equal(toListed(entity({ names: [{ text: '?', kind: 'name' }] })), null)
  })

  test('keeps each birth date and text once', () => {
    const birth = { from: 19620101, to: 19621231, circa: false }
    const listed = toListed(
      entity({ births: [birth, { ...birth }, { ...birth, circa: true }], topics: ['sanction', ' ', 'sanction '] }),
    )
    assert.deepEqual(listed?.births, [birth, { ...birth, circa: true }])
    assert.deepEqual(listed?.topics, ['sanction'])
  })
})

test('firstWebAddress takes only what may be followed', () => {
  assert.equal(
    firstWebAddress(['javascript:alert(1)', 'see page 3', ' https://lists.example/1 ']),
    'https://lists.example/1',
  )
  assert.equal(firstWebAddress([]), null)
  assert.equal(firstWebAddress([`https://lists.example/${'a'.repeat(2_000)}`]), null)
})
