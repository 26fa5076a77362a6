import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cosine } from '@ostiary/faces'
import { faceOf, varied } from './testing/faces.ts'
import { createLocalKeys, isSamePerson, makeToken, openToken, TOKEN_BYTES } from './token.ts'

const keys = await createLocalKeys()
const token = (realm: string, vector: Float32Array) => makeToken({ realm, vector, keys, atMs: 5 })

test('a token returns its vector, with a precision of one byte per number', async () => {
  const vector = await openToken(await token('shop', faceOf(1)), 'shop')
  assert.ok(vector && cosine(vector, faceOf(1)) > 0.999)
})

test('every token has the same size, and two tokens of one face share no bytes', async () => {
  const [one, other] = await Promise.all([token('shop', faceOf(1)), token('shop', faceOf(1))])
  assert.equal(one.sealed.length, TOKEN_BYTES)
  assert.equal(other.sealed.length, TOKEN_BYTES)
  const alike = one.sealed.filter((byte, n) => byte === other.sealed[n]).length
  assert.ok(alike < TOKEN_BYTES / 64, `${alike} bytes are alike`)
})

test('[D-006] neither key of a token can be read, and the token does not contain the plain vector', async () => {
  const made = await token('shop', faceOf(2))
  await assert.rejects(crypto.subtle.exportKey('raw', made.sealKey))
  await assert.rejects(crypto.subtle.exportKey('jwk', made.keys.privateKey))
  const kept = Object.values(made).filter((value) => ArrayBuffer.isView(value) || typeof value === 'string')
  assert.deepEqual(kept, [made.sealed])
})

test('a token of another realm does not open, nor does a corrupted one', async () => {
  const made = await token('shop', faceOf(3))
  assert.equal(await openToken(made, 'other'), undefined)
  const broken = { ...made, sealed: made.sealed.map((byte, n) => (n === 2000 ? byte ^ 1 : byte)) }
  assert.equal(await openToken(broken, 'shop'), undefined)
})

test('two faces match up to the threshold of the service', () => {
  assert.equal(isSamePerson(faceOf(1), varied(faceOf(1), 0.3)), true)
  assert.equal(isSamePerson(faceOf(1), varied(faceOf(1), 0.7)), false)
  assert.equal(isSamePerson(faceOf(1), faceOf(2)), false)
})
