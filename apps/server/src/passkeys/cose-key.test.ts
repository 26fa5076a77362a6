import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { hasSigned, isUsableKey } from './cose-key.ts'
import { coseKeyOf, newPair } from './testing/authenticator.ts'

const keyOf = (kind: 'ES256' | 'EdDSA' | 'RS256' | 'ES384') => coseKeyOf(kind, newPair(kind).publicKey)
const changed = (key: ReturnType<typeof keyOf>, part: number, value: number | Uint8Array) =>
  new Map(key).set(part, value)

test('keys of the three algorithms are usable', () => {
  for (const kind of ['ES256', 'EdDSA', 'RS256'] as const) assert.ok(isUsableKey(keyOf(kind)), kind)
})

test('a point that is not on the curve is not usable', () => {
  const key = keyOf('ES256')
  const y = Buffer.from(key.get(-3) as Uint8Array)
  for (let bit = 0; bit < 256; bit += 17) {
    const flipped = Buffer.from(y)
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    assert.equal(isUsableKey(changed(key, -3, flipped)), false, `bit ${bit}`)
  }
  assert.equal(isUsableKey(changed(changed(key, -2, Buffer.alloc(32)), -3, Buffer.alloc(32))), false)
})

test('other algorithms and mismatched parts are not usable', () => {
  const ec = keyOf('ES256')
  const rsa = keyOf('RS256')
  for (const key of [
    keyOf('ES384'),
    new Map(),
    changed(ec, 1, 1),
    changed(ec, 1, 3),
    changed(ec, 3, -8),
    changed(ec, 3, -257),
    changed(ec, 3, -35),
    changed(ec, -1, 2),
    changed(ec, -2, Buffer.alloc(31)),
    changed(ec, -2, 5),
    changed(keyOf('EdDSA'), -1, 7),
    changed(keyOf('EdDSA'), -2, Buffer.alloc(33)),
    changed(rsa, 3, -65535),
    changed(rsa, -2, Buffer.from([3])),
    changed(rsa, -2, Buffer.from([1])),
    changed(rsa, -1, Buffer.alloc(256)),
  ])
    assert.equal(isUsableKey(key), false)
})

test('RSA keys have at least 2,048 bits', () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  assert.equal(isUsableKey(coseKeyOf('RS256', publicKey)), false)
})

test('a signature is accepted only in its canonical encoding, from its own key, for its own bytes', () => {
  const data = Buffer.from('to be signed')
  for (const kind of ['ES256', 'EdDSA', 'RS256'] as const) {
    const { publicKey, privateKey } = newPair(kind)
    const key = coseKeyOf(kind, publicKey)
    const signature = sign(kind === 'EdDSA' ? null : 'sha256', data, privateKey)
    assert.ok(hasSigned(key, data, signature), kind)
    assert.equal(hasSigned(key, data, Buffer.concat([signature, Buffer.alloc(1)])), false, kind)
    assert.equal(hasSigned(key, Buffer.from('to be Signed'), signature), false, kind)
    assert.equal(hasSigned(keyOf(kind), data, signature), false, kind)
    assert.equal(hasSigned(changed(key, 1, 9), data, signature), false, kind)
  }
})
