import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { describe, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import {
  bodyHash,
  openPayload,
  ProofError,
  type PublicJwk,
  SealError,
  sealPayload,
  signLocalProof,
  signProof,
  thumbprint,
  verifyLocalProof,
  verifyProof,
} from '@ostiary/crypto'
import { CompactEncrypt, importJWK } from 'jose'
import { checkSignature, createSealKey, nodeMeans, thumbprintOf } from './node-crypto.ts'

const SESSION = '07000000-0000-8000-8000-000000000001'
const limits = { sessionId: SESSION, maxBytes: 100_000, maxInflatedBytes: 50_000 }
const key = createSealKey()
const { d: _secret, ...publicKey } = key

/** What both ways make of the same text: the content, or why it was refused. */
async function openBoth(sealed: string, privateKey = key): Promise<unknown[]> {
  const ways = [openPayload(privateKey, sealed, limits, nodeMeans), openPayload(privateKey, sealed, limits)]
  return Promise.all(
    ways.map((opening) =>
      opening.catch((error: unknown) => {
        assert.ok(error instanceof SealError)
        return error.fault
      }),
    ),
  )
}

/** Bytes of our choice under our header. */
async function sealBytes(bytes: Uint8Array): Promise<string> {
  const header = { alg: 'ECDH-ES', enc: 'A256GCM', typ: 'ostiary-capture', sid: SESSION }
  return new CompactEncrypt(bytes).setProtectedHeader(header).encrypt(await importJWK({ ...publicKey }, 'ECDH-ES'))
}

/** The same text with one part changed. */
function withPart(compact: string, at: number, change: (part: string) => string): string {
  return compact
    .split('.')
    .map((part, index) => (index === at ? change(part) : part))
    .join('.')
}
const flipped = (part: string) => (part.startsWith('A') ? 'B' : 'A') + part.slice(1)

describe('a sealed payload', () => {
  test('is opened like with Web Crypto', async () => {
    const payload = { says: 'Grüße', numbers: Array.from({ length: 500 }, (_, index) => index) }
    assert.deepEqual(await openBoth(await sealPayload(publicKey, SESSION, payload)), [payload, payload])
  })

  test('is refused for the same reasons', async () => {
    const good = await sealPayload(publicKey, SESSION, { says: 'hello' })
    assert.deepEqual(await openBoth(good, createSealKey()), ['key', 'key'], 'another key')
    for (const at of [2, 3, 4])
      assert.deepEqual(await openBoth(withPart(good, at, flipped)), ['key', 'key'], `part ${at}`)
    const offCurve = withPart(good, 0, (part) => {
      const header = JSON.parse(Buffer.from(part, 'base64url').toString()) as { epk: PublicJwk }
      header.epk.y = header.epk.x
      return Buffer.from(JSON.stringify(header)).toString('base64url')
    })
    assert.deepEqual(await openBoth(offCurve), ['key', 'key'], 'a point beside the curve')
    const spaced = withPart(good, 0, (part) =>
      Buffer.from(`${Buffer.from(part, 'base64url').toString()} `).toString('base64url'),
    )
    assert.deepEqual(await openBoth(spaced), ['key', 'key'], 'a header that was not authenticated')
  })

  test('is inflated to its very end and no further than the limit', async () => {
    const deflated = deflateRawSync('{"says":"hello"}')
    assert.deepEqual(await openBoth(await sealBytes(deflated)), [{ says: 'hello' }, { says: 'hello' }])
    const more = Buffer.concat([deflated, Buffer.from('more')])
    const [cut, bomb] = [deflated.subarray(0, -3), deflateRawSync(Buffer.alloc(limits.maxInflatedBytes + 1, 0x20))]
    for (const bytes of [more, cut, bomb, Buffer.alloc(0), Buffer.from('no deflate at all')])
      assert.deepEqual(await openBoth(await sealBytes(bytes)), ['inflated', 'inflated'])
    const exactly = deflateRawSync(`"${'x'.repeat(limits.maxInflatedBytes - 2)}"`)
    const [ours] = await openBoth(await sealBytes(exactly))
    assert.equal(String(ours).length, limits.maxInflatedBytes - 2)
    assert.deepEqual(await openBoth(await sealBytes(deflateRawSync('{'))), ['json', 'json'])
  })
})

describe('a signature of a device', () => {
  const request = { sessionId: SESSION, method: 'POST', path: '/launch/api/consent', bodyHash: '' }

  async function newSigner() {
    const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
    const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', pair.publicKey)
    return { privateKey: pair.privateKey, jwk: { kty: 'EC', crv: 'P-256', x, y } satisfies PublicJwk }
  }
  const faultOf = (checking: Promise<unknown>) =>
    checking.then(
      () => 'accepted',
      (error: unknown) => {
        assert.ok(error instanceof ProofError)
        return error.fault
      },
    )

  test('is accepted, and a changed one is refused, like with Web Crypto', async () => {
    const { privateKey, jwk } = await newSigner()
    const other = await newSigner()
    const call = { ...request, bodyHash: await bodyHash(Buffer.from('body')) }
    const proof = await signProof(privateKey, { ...call, counter: 3, issuedAt: 1 })
    const both = (by: PublicJwk, compact: string) =>
      Promise.all([faultOf(verifyProof(by, compact, call, checkSignature)), faultOf(verifyProof(by, compact, call))])
    for (const turn of ['first', 'kept']) assert.deepEqual(await both(jwk, proof), ['accepted', 'accepted'], turn)
    assert.deepEqual(await both(other.jwk, proof), ['signature', 'signature'])
    assert.deepEqual(await both(jwk, withPart(proof, 2, flipped)), ['signature', 'signature'])
    assert.deepEqual(
      await both(
        jwk,
        withPart(proof, 2, (part) => 'A'.repeat(part.length)),
      ),
      ['signature', 'signature'],
    )
    assert.deepEqual(await both({ ...jwk, y: jwk.x }, proof), ['key', 'key'], 'a point beside the curve')
    const claims = withPart(proof, 1, (part) =>
      Buffer.from(Buffer.from(part, 'base64url').toString().replace('"ctr":3', '"ctr":4')).toString('base64url'),
    )
    assert.deepEqual(await both(jwk, claims), ['signature', 'signature'], 'another counter')
  })

  test('is accepted when one of its numbers is short or begins with a bit that is set', () => {
    const { publicKey: device, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x = '', y = '' } = device.export({ format: 'jwk' })
    const jwk: PublicJwk = { kty: 'EC', crv: 'P-256', x, y }
    // Each of these is one signature in 256 or more.
    const wanted = new Set(['short r', 'short s', 'long r', 'long s'])
    for (let made = 0; wanted.size > 0; made++) {
      const signed = `${made}.text`
      const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' })
      for (const [name, first] of [
        ['r', signature[0] ?? 0],
        ['s', signature[32] ?? 0],
      ] as const) {
        if (first === 0) wanted.delete(`short ${name}`)
        if (first >= 0x80) wanted.delete(`long ${name}`)
      }
      checkSignature(jwk, `${signed}.${signature.toString('base64url')}`)
      assert.throws(() => checkSignature(jwk, `${signed}!.${signature.toString('base64url')}`), ProofError)
    }
    for (const length of [0, 63, 65])
      assert.throws(() => checkSignature(jwk, `a.b.${Buffer.alloc(length, 1).toString('base64url')}`), {
        fault: 'signature',
      })
  })

  test('of a comparison on the device is checked in the same way', async () => {
    const { privateKey, jwk } = await newSigner()
    const claim = { sessionId: SESSION, nonce: 'n', hit: true }
    const proof = await signLocalProof(privateKey, { ...claim, key: jwk })
    assert.equal(await faultOf(verifyLocalProof(jwk, proof, claim, checkSignature)), 'accepted')
    assert.equal(await faultOf(verifyLocalProof(jwk, withPart(proof, 2, flipped), claim, checkSignature)), 'signature')
  })
})

test('a key for sealing has all its parts in full length', () => {
  for (let made = 0; made < 600; made++) {
    const { x, y, d } = createSealKey()
    assert.deepEqual([x.length, y.length, d.length], [43, 43, 43])
  }
})

test('a key has the same thumbprint as everywhere', async () => {
  assert.equal(thumbprintOf(publicKey), await thumbprint(publicKey))
})
