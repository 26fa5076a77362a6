import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../platform/errors.ts'
import { pageLocaleOf } from './page-locale.ts'

test('a tag of a language that we have is the page’s, however it is written', () => {
  assert.equal(pageLocaleOf('de-AT'), 'de')
  assert.equal(pageLocaleOf('PT_br'), 'pt-BR')
})

test('without a tag, and with one of another language, the browser decides', () => {
  assert.equal(pageLocaleOf(undefined), null)
  assert.equal(pageLocaleOf('tlh'), null)
})

test('what is no tag at all is refused', () => {
  const isRefused = (error: unknown) => error instanceof AppError && error.code === 'INVALID_LOCALE'
  assert.throws(() => pageLocaleOf('german language!'), isRefused)
})
