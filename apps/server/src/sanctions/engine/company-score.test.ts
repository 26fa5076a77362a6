import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readCompany } from '../names/company.ts'
import { MAX_WORDS } from '../names/tokens.ts'
import { createNames } from '../testing/random-names.ts'
import { scoreCompanies } from './company-score.ts'

const read = (text: string) =>
  readCompany(text)
    .words.map(({ text, role }) => `${text}:${role[0]}`)
    .join(' ')

describe('reading the name of a company', () => {
  test('all spellings of a legal form become one light word', () => {
    for (const form of ['LLC', 'L.L.C.', 'limited liability company', 'OOO', 'ООО', 'TOV']) {
      assert.equal(read(`Vorlandek ${form}`), 'vorlandek:f formllc:p', form)
    }
    assert.equal(read('Vorlandek G.m.b.H.'), read('Vorlandek Gesellschaft mit beschränkter Haftung'))
    assert.notEqual(read('Vorlandek GmbH'), read('Vorlandek LLC'))
  })

  test('the longest legal form wins', () => {
    assert.equal(read('Vorlandek Limited'), 'vorlandek:f formltd:p')
    assert.equal(read('Vorlandek Limited Partnership'), 'vorlandek:f formlp:p')
  })

  test('filler words are light, and "the" is removed', () => {
    assert.equal(read('The Vorlandek International Trading'), 'vorlandek:f international:l trading:l')
    assert.equal(read('Vorlandek & Talvost'), 'vorlandek:f and:l talvost:f')
  })

  test('a name that consists of fillers and forms keeps them as full words', () => {
    assert.equal(read('General Trading Company'), 'general:f trading:f formco:f')
  })

  test('ordinals become digits, and countries their short name', () => {
    for (const first of ['First', '1st', 'Pervaya']) assert.equal(read(`${first} Vorlandek`), '1:f vorlandek:f', first)
    assert.equal(read('Vorlandek United States of America'), 'vorlandek:f us:f')
    assert.equal(read('Vorlandek U.S.A.'), 'vorlandek:f us:f')
  })

  test('at most ten words are kept', () => {
    const long = Array.from({ length: 14 }, (_, n) => `vorl${String.fromCharCode(97 + n)}`).join(' ')
    assert.equal(readCompany(long).words.length, MAX_WORDS)
  })

  test('an empty name gives no words', () => {
    for (const text of ['', '...', 'the']) assert.deepEqual(readCompany(text).words, [])
  })

  test('a word never contains a space', () => {
    for (const text of ['Hongkong', 'DPRK', 'KSA', 'Republic of Korea']) {
      for (const word of readCompany(`${text} Vorlandek`).words) assert.doesNotMatch(word.text, / /)
    }
    assert.ok(scoreCompanies('Hongkong Vorlandek', 'Hong Kong Vorlandek') >= 0.98)
  })
})

describe('comparing companies', () => {
  test('the same name scores 1, whatever its legal form is called', () => {
    assert.equal(scoreCompanies('Vorlandek', 'VORLANDEK'), 1)
    assert.equal(scoreCompanies('Vorlandek Talvost LLC', 'OOO Vorlandek Talvost'), 1)
    assert.equal(scoreCompanies('Vorlandek LLC', 'Vorlandek L.L.C.'), 1)
  })

  test('another legal form costs a little', () => {
    const score = scoreCompanies('Vorlandek Talvost GmbH', 'Vorlandek Talvost LLC')
    assert.ok(score > 0.85 && score < 1, String(score))
  })

  test('one word may be the whole name, but a different second word is a contradiction', () => {
    const gas = scoreCompanies('Vorlandek Gas', 'Vorlandek Oil')
    const shorter = scoreCompanies('Vorlandek', 'Vorlandek Oil')
    assert.ok(gas < 0.5, String(gas))
    assert.ok(Math.abs(shorter - 1 / 1.5) < 1e-9, String(shorter))
  })

  test('a missing filler costs little, a missing name costs much', () => {
    const filler = scoreCompanies('Vorlandek Talvost', 'Vorlandek Talvost Trading')
    const named = scoreCompanies('Vorlandek Talvost', 'Vorlandek Talvost Quorim')
    assert.ok(filler > 0.94 && filler < 1, String(filler))
    assert.ok(named < 0.85, String(named))
  })

  test('the order of the words hardly matters', () => {
    assert.equal(scoreCompanies('Vorlandek Talvost', 'Talvost Vorlandek'), 0.97)
  })

  test('a typing error costs little', () => {
    const score = scoreCompanies('Vorlandek Talvost', 'Vorlandek Talvosd')
    assert.ok(score > 0.9 && score < 1, String(score))
  })

  test('random names score from 0 to 1, and 1 with themselves', () => {
    const names = createNames(41)
    for (let n = 0; n < 1_000; n++) {
      const a = names.name()
      const score = scoreCompanies(a, names.mutate(a))
      assert.ok(score >= 0 && score <= 1, `${a}: ${score}`)
      if (readCompany(a).words.length > 0) assert.equal(scoreCompanies(a, a), 1, a)
    }
  })
})
