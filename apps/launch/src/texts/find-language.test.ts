import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LOCALES } from '@ostiary/contract'
import { findLanguages, inOrderOfUse } from './find-language.ts'

const tagsFor = (typed: string, shown = 'en') => findLanguages(LOCALES, typed, shown).map(({ tag }) => tag)

test('without a search all 44 languages are listed, in the order of the contract', () => {
  assert.deepEqual(
    tagsFor(' '),
    LOCALES.map(({ tag }) => tag),
  )
})

test('a language is found by its own name, its English name, its tag, and its name in the language that is shown', () => {
  for (const typed of ['Ελλ', 'gree', 'el', 'ΕΛΛΗΝΙΚΆ']) assert.equal(tagsFor(typed)[0], 'el', typed)
  assert.deepEqual(tagsFor('griech', 'de'), ['el'])
  assert.deepEqual(tagsFor('يونان', 'ar'), ['el'])
})

test('accents and case do not matter', () => {
  assert.deepEqual(tagsFor('FRANCAIS'), ['fr'])
  assert.deepEqual(tagsFor('cestina'), ['cs'])
  assert.deepEqual(tagsFor('tieng viet'), ['vi'])
  assert.deepEqual(tagsFor('brasil'), ['pt-BR'])
})

test('what begins with the search comes first, and nothing is found where nothing fits', () => {
  assert.equal(tagsFor('ma')[0], 'hu')
  assert.ok(tagsFor('ma').includes('de'), 'German')
  assert.deepEqual(tagsFor('klingon'), [])
})

test('the shown language comes first, then the user’s own, then the others by their names', () => {
  const tags = inOrderOfUse(LOCALES, ['ca', 'uk-UA', 'pl'], 'de').map(({ tag }) => tag)
  assert.deepEqual(tags.slice(0, 5), ['de', 'uk', 'pl', 'id', 'ms'])
  assert.equal(new Set(tags).size, 44)
  assert.ok(tags.indexOf('cs') < tags.indexOf('da') && tags.indexOf('el') < tags.indexOf('ru'))
})
