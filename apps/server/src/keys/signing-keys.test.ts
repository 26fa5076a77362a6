import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SigningKeyFacts } from './key.ts'
import { chooseSigningKeys } from './signing-keys.ts'

const NOW = new Date('2026-11-15T12:00:00Z')
const LATER = new Date(NOW.getTime() + 1)

const key = (keyId: string, facts: Partial<SigningKeyFacts> = {}): SigningKeyFacts => ({
  keyId,
  livemode: true,
  scopes: ['age:write', 'verify:write'],
  status: 'active',
  endsAt: null,
  rotatedTo: null,
  ...facts,
})
const revoked = { status: 'revoked' }

/** Keys are newest first, as the store gives them. */
const choose = (keys: readonly SigningKeyFacts[], keyId = 'own', area: 'age' | 'verification' = 'age') =>
  chooseSigningKeys(keys, { keyId, livemode: true, area }, NOW)

test('an active key signs for the sessions that it created, however many newer ones there are', () => {
  assert.deepEqual(choose([key('newest'), key('own'), key('oldest')]), ['own'])
})

test('a revoked key never signs: the newest active key does', () => {
  assert.deepEqual(choose([key('newest'), key('newer'), key('own', revoked)]), ['newest'])
  assert.deepEqual(choose([key('newest', revoked), key('newer'), key('own', revoked)]), ['newer'])
})

test('during the overlap of a rotation both keys sign, the old one first; after it only the new one', () => {
  const rotated = (endsAt: Date) => [key('new'), key('own', { endsAt, rotatedTo: 'new' })]
  assert.deepEqual(choose(rotated(LATER)), ['own', 'new'])
  assert.deepEqual(choose(rotated(NOW)), ['new'])
  const [, own] = rotated(LATER)
  assert.ok(own)
  assert.deepEqual(choose([key('new', revoked), own]), ['own'], 'a revoked successor does not sign either')
})

test('a key of the other mode, or one that could not create the session, does not sign in another one’s place', () => {
  const own = key('own', revoked)
  assert.deepEqual(choose([key('test', { livemode: false }), own]), [])
  assert.deepEqual(choose([key('strings', { scopes: ['strings:rw', 'age:read'] }), own]), [])
  const age = key('age', { scopes: ['age:write'] })
  assert.deepEqual(choose([age, own], 'own', 'age'), ['age'])
  assert.deepEqual(choose([age, own], 'own', 'verification'), [])
})

test('nobody signs for a key that is not stored', () => {
  assert.equal(choose([key('newest')]), undefined)
  assert.equal(choose([]), undefined)
})
