import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { reuseMark } from './reuse.ts'

const KEY = Uint8Array.from({ length: 32 }, (_, index) => index)
const DOCUMENT = { issuer: 'UTO', number: 'X1234567' }

test('the mark is the first 64 bits of HMAC-SHA-256 over issuer and number', async () => {
  const expected = createHmac('sha256', KEY).update('UTO\nX1234567').digest().subarray(0, 8).toString('base64url')
  assert.equal(await reuseMark(DOCUMENT, KEY), expected)
  assert.match(expected, /^[A-Za-z0-9_-]{11}$/)
})

test('another key, issuer or number gives another mark, and separators in a number do not', async () => {
  const mark = await reuseMark(DOCUMENT, KEY)
  assert.notEqual(await reuseMark(DOCUMENT, KEY.toReversed()), mark)
  assert.notEqual(await reuseMark({ ...DOCUMENT, issuer: 'FRA' }, KEY), mark)
  assert.notEqual(await reuseMark({ ...DOCUMENT, number: 'X1234568' }, KEY), mark)
  assert.notEqual(await reuseMark({ issuer: 'UTOX', number: '1234567' }, KEY), mark)
  assert.equal(await reuseMark({ ...DOCUMENT, number: 'X 123-4567' }, KEY), mark)
})

test('a document without a number has no mark', async () => {
  assert.equal(await reuseMark({ ...DOCUMENT, number: undefined }, KEY), undefined)
})
