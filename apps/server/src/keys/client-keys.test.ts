import assert from 'node:assert/strict'
import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import { test } from 'node:test'
import { calculateJwkThumbprint } from 'jose'
import { openClientKey, readClientKey, thumbprintOf } from './client-keys.ts'

const rsa = (modulusLength: number, publicExponent = 65_537) =>
  generateKeyPairSync('rsa', { modulusLength, publicExponent })
const jwkOf = (pair: ReturnType<typeof rsa>, part: 'publicKey' | 'privateKey' = 'publicKey'): JsonWebKey =>
  pair[part].export({ format: 'jwk' })

const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ed = generateKeyPairSync('ed25519')
const rsa2048 = rsa(2048)

test('keys of the three kinds are read, with what they can sign', () => {
  assert.deepEqual(readClientKey(jwkOf(ec)), { jwk: jwkOf(ec), kid: null, algorithms: ['ES256'] })
  assert.deepEqual(readClientKey(jwkOf(ed)), { jwk: jwkOf(ed), kid: null, algorithms: ['EdDSA'] })
  assert.deepEqual(readClientKey(jwkOf(rsa2048)), { jwk: jwkOf(rsa2048), kid: null, algorithms: ['RS256', 'PS256'] })
})

test('a key may have a kid and restrict its algorithm, and other members are dropped', () => {
  const given = { ...jwkOf(rsa2048), kid: 'main', alg: 'PS256', use: 'sig', x5c: ['AA'], note: 'ours' }
  assert.deepEqual(readClientKey(given), { jwk: jwkOf(rsa2048), kid: 'main', algorithms: ['PS256'] })
})

test('a thumbprint is that of RFC 7638', async () => {
  for (const pair of [ec, ed, rsa2048]) {
    const key = readClientKey(jwkOf(pair))
    assert.equal(thumbprintOf(key), await calculateJwkThumbprint({ ...key.jwk, kty: String(key.jwk.kty) }))
    assert.equal(openClientKey(key).equals(pair.publicKey), true)
  }
})

test('anything but a public signing key is refused with the reason, and without parts of the key', () => {
  const refusals: [unknown, RegExp][] = [
    [null, /must be JWKs/],
    ['{"kty":"EC"}', /must be JWKs/],
    [{}, /must be of P-256, Ed25519 or RSA/],
    [jwkOf(ec, 'privateKey'), /holds its private part/],
    [jwkOf(rsa2048, 'privateKey'), /holds its private part/],
    [{ kty: 'oct', k: 'c2VjcmV0' }, /holds its private part/],
    [jwkOf(generateKeyPairSync('ec', { namedCurve: 'P-384' })), /must be of P-256/],
    [jwkOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' })), /must be of P-256/],
    [jwkOf(generateKeyPairSync('x25519')), /must be of P-256/],
    [jwkOf(rsa(1024)), /of RSA must have 2048 to 4096 bits/],
    [jwkOf(rsa(2048, 3)), /exponent of 65537/],
    [{ ...jwkOf(ec), x: jwkOf(ec).y }, /must be valid/],
    [{ ...jwkOf(ec), y: undefined }, /must be valid/],
    [{ ...jwkOf(ec), alg: 'HS256' }, /must be for one of ES256, RS256, PS256, EdDSA/],
    [{ ...jwkOf(ec), alg: 'RS256' }, /must be for one of/],
    [{ ...jwkOf(rsa2048), alg: 'RS1' }, /must be for one of/],
    [{ ...jwkOf(ec), use: 'enc' }, /must be for signatures/],
    [{ ...jwkOf(ec), kid: '' }, /must have a kid of 1 to 200 characters/],
    [{ ...jwkOf(ec), kid: 7 }, /must have a kid/],
  ]
  for (const [value, reason] of refusals) {
    assert.throws(
      () => readClientKey(value),
      (error: Error) => reason.test(error.message) && !error.message.includes(String(jwkOf(ec).x)),
      String(reason),
    )
  }
})
