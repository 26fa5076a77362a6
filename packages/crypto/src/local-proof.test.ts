import assert from 'node:assert/strict'
import { createPrivateKey, sign } from 'node:crypto'
import { test } from 'node:test'
import { ProofError, type ProofFault, thumbprint } from './device-proof.ts'
import { kidOfLocalProof, type LocalClaim, signLocalProof, verifyLocalProof } from './local-proof.ts'

/** The key of RFC 7515, appendix A.3. */
const KEY = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
} as const
const PRIVATE = { ...KEY, d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI' }
const CLAIM: LocalClaim = { sessionId: '0d4f1c52-7a43-4c1e-9a55-9e0f6a8f8b11', nonce: 'n-1', hit: true }
const kid = await thumbprint(KEY)
const HEADER = { alg: 'ES256', typ: 'ostiary-local+jwt', kid }
const PAYLOAD = { sid: CLAIM.sessionId, nonce: 'n-1', hit: true }

const key = await crypto.subtle.importKey('jwk', PRIVATE, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])
const fails = (fault: ProofFault) => (error: unknown) => error instanceof ProofError && error.fault === fault
const part = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** Signs any header and payload, as a client that we did not write might. */
function signed(header: unknown, payload: unknown): string {
  const text = `${part(header)}.${part(payload)}`
  const own = createPrivateKey({ key: PRIVATE, format: 'jwk' })
  return `${text}.${sign('sha256', Buffer.from(text), { key: own, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

test('a claim is exactly this header and these three members, names its key, and verifies', async () => {
  const proof = await signLocalProof(key, { ...CLAIM, key: KEY })
  const [header, payload] = proof.split('.').map((text) => Buffer.from(text, 'base64url').toString())
  assert.deepEqual([header, payload], [JSON.stringify(HEADER), JSON.stringify(PAYLOAD)])
  assert.equal(kidOfLocalProof(proof), kid)
  await verifyLocalProof(KEY, proof, CLAIM)
  await verifyLocalProof(KEY, signed(HEADER, PAYLOAD), CLAIM)
})

test('a claim of another session, challenge or outcome is refused', async () => {
  const proof = await signLocalProof(key, { ...CLAIM, key: KEY })
  for (const [change, fault] of [
    [{ sessionId: '0d4f1c52-7a43-4c1e-9a55-9e0f6a8f8b12' }, 'session'],
    [{ nonce: 'n-2' }, 'claims'],
    [{ hit: false }, 'claims'],
  ] as const) {
    await assert.rejects(verifyLocalProof(KEY, proof, { ...CLAIM, ...change }), fails(fault))
  }
})

test('another key’s signature is refused, under its own thumbprint and under this one', async () => {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign'])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', pair.publicKey)
  const other = { kty: 'EC', crv: 'P-256', x, y } as const
  const named = await signLocalProof(pair.privateKey, { ...CLAIM, key: other })
  await assert.rejects(verifyLocalProof(KEY, named, CLAIM), fails('key'))
  const posing = await signLocalProof(pair.privateKey, { ...CLAIM, key: KEY })
  await assert.rejects(verifyLocalProof(KEY, posing, CLAIM), fails('signature'))
})

test('other headers, more members and texts that are not a proof are refused, and name no key', async () => {
  for (const header of [
    { ...HEADER, alg: 'none' },
    { ...HEADER, typ: 'ostiary-device+jwt' },
    { alg: 'ES256', typ: HEADER.typ },
    { ...HEADER, kid: 'short' },
    { ...HEADER, jwk: KEY },
    'null',
  ]) {
    const proof = signed(header, PAYLOAD)
    assert.equal(kidOfLocalProof(proof), undefined, JSON.stringify(header))
    await assert.rejects(verifyLocalProof(KEY, proof, CLAIM), fails('header'), JSON.stringify(header))
  }
  for (const payload of [
    { ...PAYLOAD, puid: 'x' },
    { ...PAYLOAD, hit: 1 },
    { sid: PAYLOAD.sid, nonce: 'n-1' },
  ]) {
    await assert.rejects(verifyLocalProof(KEY, signed(HEADER, payload), CLAIM), fails('claims'))
  }
  await assert.rejects(verifyLocalProof(KEY, signed(HEADER, '7'), CLAIM), fails('session'))
  for (const text of ['', 'a.b.c', `${signed(HEADER, PAYLOAD)}A`, signed(HEADER, PAYLOAD).slice(0, -1)]) {
    assert.equal(kidOfLocalProof(text), undefined)
    await assert.rejects(verifyLocalProof(KEY, text, CLAIM), fails('format'), text)
  }
})

test('a key that is not a point on the curve is refused with the fault "key"', async () => {
  const broken = { ...KEY, y: KEY.x }
  const proof = signed({ ...HEADER, kid: await thumbprint(broken) }, PAYLOAD)
  await assert.rejects(verifyLocalProof(broken, proof, CLAIM), fails('key'))
})
