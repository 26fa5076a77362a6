import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as tables from './tables.ts'

const TOKEN = /^[a-z]+$/
const groups = tables.SPELLING_GROUPS.map((line) => line.split(' '))
const nicknames = tables.NICKNAMES.map((line) => line.split(' '))
const forms = tables.COMPANY_FORMS.map((line) => line.split(' '))

function duplicates(words: readonly string[]): string[] {
  const seen = new Set<string>()
  return words.filter((word) => seen.size === seen.add(word).size)
}

function groupOf(word: string): string[] | undefined {
  return groups.find((group) => group.includes(word))
}

describe('spelling groups', () => {
  test('hold single lower-case words, at least two to a group', () => {
    for (const group of groups) {
      assert.ok(group.length >= 2, group.join(' '))
      for (const word of group) assert.match(word, TOKEN)
    }
  })

  test('no spelling stands in two groups', () => {
    assert.deepEqual(duplicates(groups.flat()), [])
  })

  test('hold no title and no particle, whose weight is already small', () => {
    assert.deepEqual(
      groups.flat().filter((word) => tables.TITLES.has(word) || tables.PARTICLES.has(word)),
      [],
    )
  })

  test('cover the large families of names', () => {
    assert.ok(groups.length >= 250)
    for (const pair of [
      ['mohammed', 'mehmet'],
      ['hussein', 'hossein'],
      ['sergei', 'serhii'],
      ['vladimir', 'volodymyr'],
      ['zhang', 'cheung'],
      ['kim', 'gim'],
      ['choi', 'choe'],
      ['ekaterina', 'catherine'],
      ['hovhannisyan', 'oganesyan'],
      ['banerjee', 'bandyopadhyay'],
    ] as const)
      assert.ok(groupOf(pair[0])?.includes(pair[1]), pair.join(' '))
  })

  test('keep names apart that are different names to their bearers', () => {
    for (const [a, b] of [
      ['jan', 'jean'],
      ['ivan', 'john'],
      ['kamal', 'kamel'],
      ['salim', 'salem'],
      ['said', 'sayyid'],
      ['li', 'liu'],
      ['sofia', 'sophie'],
      ['hasan', 'hussein'],
    ] as const) {
      const group = groupOf(a)
      assert.ok(group === undefined || !group.includes(b), `${a} ${b}`)
    }
  })
})

describe('nicknames', () => {
  test('hold a full name and at least one other short form, each once', () => {
    assert.ok(nicknames.length >= 200)
    for (const names of nicknames) {
      assert.ok(names.length >= 2, names.join(' '))
      for (const word of names) assert.match(word, TOKEN)
      assert.deepEqual(duplicates(names), [])
    }
    assert.deepEqual(duplicates(nicknames.map((names) => names[0] ?? '')), [])
  })

  test('a short form is no title', () => {
    assert.deepEqual(
      nicknames.flat().filter((word) => tables.TITLES.has(word)),
      [],
    )
  })
})

describe('words without identifying value', () => {
  test('are lower-case ASCII', () => {
    for (const set of [tables.TITLES, tables.PARTICLES, tables.PATRONYMIC_MARKERS])
      for (const word of set) assert.match(word, TOKEN)
  })

  test('titles leave out words that are usual names', () => {
    for (const name of [
      'emir',
      'sultan',
      'malik',
      'pan',
      'tuan',
      'sri',
      'prince',
      'king',
      'don',
      'md',
      'khan',
      'mirza',
    ])
      assert.ok(!tables.TITLES.has(name), name)
    for (const title of ['mr', 'dr', 'sheikh', 'haji', 'mullah', 'maulavi', 'president', 'jr', 'iii', 'phd'])
      assert.ok(tables.TITLES.has(title), title)
  })

  test('a title is no particle', () => {
    assert.deepEqual(
      [...tables.TITLES].filter((word) => tables.PARTICLES.has(word)),
      [],
    )
  })
})

describe('pieces of Arabic compounds', () => {
  test('are lower-case words, each once and in one list only', () => {
    const all = [...tables.DIN_FORMS, ...tables.ULLAH_FORMS, ...tables.ABDUL_FORMS]
    for (const form of all) assert.match(form, /^[a-z]+(_[a-z]+)*$/)
    assert.deepEqual(duplicates(all), [])
    for (const form of ['din', 'al_din', 'uddin', 'eddine']) assert.ok(tables.DIN_FORMS.includes(form))
    for (const form of ['abd_al', 'abdul', 'abdel', 'abdur']) assert.ok(tables.ABDUL_FORMS.includes(form))
    for (const name of ['alla', 'ulla', 'edin', 'udin', 'aldin', 'abdiel']) assert.ok(!all.includes(name), name)
    for (const form of ['ullah', 'allah', 'ollah']) assert.ok(tables.ULLAH_FORMS.includes(form))
  })
})

describe('companies', () => {
  test('every legal form belongs to one kind', () => {
    assert.ok(forms.length >= 40)
    assert.ok(forms.flat().length >= 250)
    for (const form of forms.flat()) assert.match(form, /^[a-z0-9]+(_[a-z0-9]+)*$/)
    assert.deepEqual(duplicates(forms.flat()), [])
  })

  test('national forms stand with their kind', () => {
    const kind = (form: string): string | undefined => forms.find((group) => group.includes(form))?.[0]
    assert.equal(kind('ooo'), 'llc')
    assert.equal(kind('pao'), 'jsc')
    assert.equal(kind('kommanditgesellschaft'), 'lp')
    assert.equal(kind('sdn_bhd'), 'ltd')
  })

  test('filler, ordinals and countries are lower-case Latin', () => {
    for (const word of tables.COMPANY_FILLER) assert.match(word, /^([a-z]+|&)$/)
    for (const [word, digits] of tables.ORDINALS) {
      assert.match(word, /^[a-z0-9]+$/)
      assert.match(digits, /^\d+$/)
    }
    for (const [name, short] of tables.COUNTRY_SHORT) {
      assert.match(name, /^[a-z.' ]+$/)
      assert.match(short, /^[a-z ]+$/)
      assert.ok(!tables.COUNTRY_SHORT.has(short), 'a short name is not shortened again')
    }
    assert.equal(tables.ORDINALS.get('third'), '3')
    assert.equal(tables.ORDINALS.get('xx'), '20')
    assert.equal(tables.COUNTRY_SHORT.get('united states'), 'us')
  })
})
