import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { bucketOf } from '../platform/ids.ts'
import { hashToken, hourOf, isSessionId, isTokenOf, newSessionId, newToken, sessionOfToken } from './capability.ts'

const NOW = new Date('2026-11-15T12:34:56.789Z')
const make = (bucket = 7, now = NOW) => newSessionId(bucket, now, randomBytes)

test('a session id carries its bucket and its hour, and is a UUID of version 8', () => {
  for (const bucket of [0, 1, 511, 1023]) {
    const id = make(bucket)
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.equal(bucketOf(id), bucket)
    assert.deepEqual(hourOf(id), { from: new Date('2026-11-15T12:00:00Z'), to: new Date('2026-11-15T13:00:00Z') })
  }
})

test('88 bits of an id are random: each of them occurs as 0 and as 1', () => {
  const ids = Array.from({ length: 200 }, () => BigInt(`0x${make(0b1010101010).replaceAll('-', '')}`))
  const always = ids.reduce((all, id) => all & id)
  const ever = ids.reduce((any, id) => any | id)
  let varying = 0
  for (let bit = 0n; bit < 128n; bit++) if (((always >> bit) & 1n) === 0n && ((ever >> bit) & 1n) === 1n) varying++
  assert.equal(varying, 88)
})

test('[C-035] ten thousand ids are different', () => {
  assert.equal(new Set(Array.from({ length: 10_000 }, () => make())).size, 10_000)
})

test('a token names its session, and neither is accepted as the other', () => {
  const id = make()
  const token = newToken(id, randomBytes)
  assert.match(token, /^at_[A-Za-z0-9_-]{64}$/)
  assert.equal(sessionOfToken(token), id)
  assert.equal(sessionOfToken(id), undefined)
  assert.equal(isSessionId(token), false)
})

test('a token of the same session with another secret is not its token', () => {
  const id = make()
  const token = newToken(id, randomBytes)
  const hash = hashToken(token)
  assert.equal(isTokenOf(token, hash), true)
  assert.equal(isTokenOf(newToken(id, randomBytes), hash), false)
  for (let at = 3; at < token.length; at++) {
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
    assert.equal(isTokenOf(changed, hash), false)
  }
})

test('a text that is not a token names no session', () => {
  for (const text of [
    '',
    'at_',
    'at_x',
    `at_${'A'.repeat(63)}`,
    `at_${'A'.repeat(65)}`,
    `AT_${'A'.repeat(64)}`,
    `at_${'A'.repeat(64)}`,
  ])
    assert.equal(sessionOfToken(text), undefined, text)
})
