import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OAUTH_LIMITS } from '@ostiary/contract'
import { BUCKET_COUNT } from '@ostiary/crypto'
import {
  bucketOfClient,
  CLIENT_ID_BYTES,
  CLIENT_SECRET_BYTES,
  checkNewClient,
  formatClientId,
  formatClientSecret,
  hashSecret,
  hasSecret,
  isUsable,
} from './client.ts'

const idBytes = Uint8Array.from({ length: CLIENT_ID_BYTES }, (_, i) => i * 37)
const secretBytes = Uint8Array.from({ length: CLIENT_SECRET_BYTES }, (_, i) => i * 11)

test('a client id contains the bucket of its tenant, for every bucket and both modes', () => {
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket++) {
    for (const livemode of [true, false]) {
      assert.equal(bucketOfClient(formatClientId(livemode, bucket, idBytes)), bucket)
    }
  }
})

test('the formats are stable, so that existing ids and secrets stay valid', () => {
  assert.equal(formatClientId(true, 234, idBytes), 'ostc_live_7a05afmsy38djqw16bgntz49ekrx')
  assert.equal(
    formatClientSecret(false, secretBytes),
    'ostcs_test_0bp1cq2dr3es4ft5gv6hw7jx8ky9mzan0bp1cq2dr3es4ft5gv6h',
  )
})

test('an id or a secret uses all its random bytes: each byte changes it', () => {
  const ids = new Set(
    Array.from({ length: 32 }, (_, i) =>
      formatClientId(
        true,
        7,
        idBytes.map((byte) => byte ^ i),
      ),
    ),
  )
  const secrets = new Set(
    Array.from({ length: CLIENT_SECRET_BYTES }, (_, i) =>
      formatClientSecret(
        true,
        secretBytes.map((byte, at) => (at === i ? byte ^ 1 : byte)),
      ),
    ),
  )
  assert.deepEqual([ids.size, secrets.size], [32, CLIENT_SECRET_BYTES])
})

test('text that cannot be a client id has no bucket', () => {
  const id = formatClientId(true, 5, idBytes)
  for (const text of [
    '',
    id.slice(1),
    id.slice(0, -1),
    `${id}0`,
    ` ${id}`,
    `${id}\n`,
    id.toUpperCase(),
    id.replace('live', 'prod'),
  ]) {
    assert.equal(bucketOfClient(text), undefined, JSON.stringify(text))
  }
})

test('a wrong bucket or another number of random bytes is refused', () => {
  assert.throws(() => formatClientId(true, BUCKET_COUNT, idBytes), RangeError)
  assert.throws(() => formatClientId(true, 0.5, idBytes), RangeError)
  assert.throws(() => formatClientId(true, 0, idBytes.subarray(1)), RangeError)
  assert.throws(() => formatClientSecret(true, secretBytes.subarray(1)), RangeError)
})

test('only the secret itself matches, and a client that signs has none', () => {
  const secret = formatClientSecret(true, secretBytes)
  const secretHash = hashSecret(secret)
  assert.equal(hasSecret({ secretHash }, secret), true)
  for (const wrong of ['', secret.slice(0, -1), `${secret} `, secretHash.toString('base64')]) {
    assert.equal(hasSecret({ secretHash }, wrong), false)
  }
  assert.equal(hasSecret({ secretHash: null }, secret), false)
  assert.equal(hasSecret({ secretHash: null }, ''), false)
})

test('a client is usable while it and its tenant are active', () => {
  assert.equal(isUsable({ status: 'active', tenantStatus: 'active' }), true)
  assert.equal(isUsable({ status: 'revoked', tenantStatus: 'active' }), false)
  assert.equal(isUsable({ status: 'active', tenantStatus: 'suspended' }), false)
})

test('a new client has a name of a reasonable length and not too many keys', () => {
  const { clientNameChars, publicKeys: most } = OAUTH_LIMITS
  const check = (name: string, keys: number) =>
    checkNewClient({ livemode: true, name, publicKeys: Array.from({ length: keys }, () => ({})) })
  check('n', 0)
  check('n'.repeat(clientNameChars), most)
  assert.throws(() => check('', 0), /\/name must have 1 to 100 characters/)
  assert.throws(() => check('n'.repeat(clientNameChars + 1), 0), /\/name/)
  assert.throws(() => check('n', most + 1), /\/public_keys must have at most 5 keys/)
})
