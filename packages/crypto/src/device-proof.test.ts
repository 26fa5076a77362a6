import assert from 'node:assert/strict'
import { createHash, createPrivateKey, sign } from 'node:crypto'
import { test } from 'node:test'
import {
  bodyHash,
  type ExpectedProof,
  ProofError,
  type ProofFault,
  signProof,
  thumbprint,
  verifyProof,
} from './device-proof.ts'

/** The key of RFC 7515, appendix A.3. */
const JWK = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
} as const
const PRIVATE = { ...JWK, d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI' }
const NOW = 1_794_700_800
const NOTHING = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'
const request: ExpectedProof = {
  sessionId: '0d4f1c52-7a43-4c1e-9a55-9e0f6a8f8b11',
  method: 'POST',
  path: '/launch/api/events',
  bodyHash: createHash('sha256').update('{"a":1}').digest('base64url'),
}
const window = { nowSeconds: NOW, seconds: 300 }
const HEADER = { alg: 'ES256', typ: 'ostiary-device+jwt' }
const PAYLOAD = { sid: request.sessionId, htm: 'POST', htu: request.path, bh: request.bodyHash, ctr: 7, iat: NOW }

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

test('a signed call verifies, and the server learns its counter and time', async () => {
  const compact = await signProof(key, { ...request, counter: 7, issuedAt: NOW })
  assert.deepEqual(await verifyProof(JWK, compact, { ...request, window }), { counter: 7, issuedAt: NOW })
})

test('a proof is exactly this header and these six members, and another implementation’s proof verifies', async () => {
  const compact = await signProof(key, { ...request, counter: 7, issuedAt: NOW })
  const [header, payload] = compact.split('.').map((text) => Buffer.from(text, 'base64url').toString())
  assert.deepEqual([header, payload], [JSON.stringify(HEADER), JSON.stringify(PAYLOAD)])
  assert.deepEqual(await verifyProof(JWK, signed(HEADER, PAYLOAD), request), { counter: 7, issuedAt: NOW })
})

test('a proof of another session, method, path, body or time is refused', async () => {
  const compact = await signProof(key, { ...request, counter: 7, issuedAt: NOW })
  const cases: [Partial<ExpectedProof>, ProofFault][] = [
    [{ sessionId: '0d4f1c52-7a43-4c1e-9a55-9e0f6a8f8b12' }, 'session'],
    [{ method: 'GET' }, 'request'],
    [{ path: '/launch/api/submit' }, 'request'],
    [{ bodyHash: NOTHING }, 'body'],
    [{ window: { nowSeconds: NOW + 301, seconds: 300 } }, 'time'],
    [{ window: { nowSeconds: NOW - 301, seconds: 300 } }, 'time'],
  ]
  for (const [change, fault] of cases) {
    await assert.rejects(verifyProof(JWK, compact, { ...request, window, ...change }), fails(fault), fault)
  }
  for (const nowSeconds of [NOW - 300, NOW + 300]) {
    await verifyProof(JWK, compact, { ...request, window: { nowSeconds, seconds: 300 } })
  }
})

test('another key’s signature, a changed signature and changed claims are refused', async () => {
  const compact = signed(HEADER, PAYLOAD)
  const [header = '', payload = '', signature = ''] = compact.split('.')
  const other = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])
  const flipped = Buffer.from(signature, 'base64url')
  flipped[40] = (flipped[40] ?? 0) ^ 1
  const forged = [
    await signProof(other.privateKey, { ...request, counter: 7, issuedAt: NOW }),
    `${header}.${payload}.${flipped.toString('base64url')}`,
    `${header}.${part({ ...PAYLOAD, ctr: 8 })}.${signature}`,
    `${header}.${payload}.${'A'.repeat(86)}`,
  ]
  for (const text of forged) await assert.rejects(verifyProof(JWK, text, request), fails('signature'))
})

test('a well-signed proof with another header is refused: other algorithms, other types, another member', async () => {
  const headers = [
    { ...HEADER, alg: 'none' },
    { ...HEADER, alg: 'HS256' },
    { alg: 'ES256' },
    { ...HEADER, typ: 'JWT' },
    { ...HEADER, jwk: JWK },
    { ...HEADER, crit: ['b64'], b64: false },
    { typ: HEADER.typ, alg: HEADER.alg },
  ]
  for (const header of headers) {
    await assert.rejects(verifyProof(JWK, signed(header, PAYLOAD), request), fails('header'), JSON.stringify(header))
  }
})

test('a well-signed proof whose claims are missing, of another kind or more than six is refused', async () => {
  const { ctr: _, ...short } = PAYLOAD
  const changes = [{ ctr: '7' }, { ctr: 1.5 }, { ctr: -1 }, { ctr: 2 ** 53 }, { iat: null }, { sid: 1 }, { more: 1 }]
  for (const payload of [short, ...changes.map((change) => ({ ...PAYLOAD, ...change }))]) {
    await assert.rejects(verifyProof(JWK, signed(HEADER, payload), request), fails('claims'), JSON.stringify(payload))
  }
})

test('text that is not a compact JWS of an object is refused', async () => {
  const compact = signed(HEADER, PAYLOAD)
  const [header = '', payload = ''] = compact.split('.')
  const none = `${header}.${payload}.`
  const texts = [
    '',
    '..',
    'a.b.c',
    none,
    compact.slice(0, -1),
    `${compact}A`,
    `${compact}.A`,
    ` ${compact}`,
    `${compact}\n`,
  ]
  const contents = ['"text"', 'null', '7', '{', `${JSON.stringify(PAYLOAD)}x`]
  for (const text of [...texts, ...contents.map((content) => signed(HEADER, content))]) {
    await assert.rejects(verifyProof(JWK, text, request), fails('format'), text)
  }
})

test('a key that is not a point on the curve is refused with the fault "key"', async () => {
  const compact = signed(HEADER, PAYLOAD)
  await assert.rejects(verifyProof({ ...JWK, y: JWK.x }, compact, request), fails('key'))
})

test('body hashes and key thumbprints match known answers', async () => {
  assert.equal(await bodyHash(), NOTHING)
  assert.equal(await bodyHash(new TextEncoder().encode('{"a":1}')), request.bodyHash)
  const canonical = `{"crv":"P-256","kty":"EC","x":"${JWK.x}","y":"${JWK.y}"}`
  assert.equal(await thumbprint(JWK), createHash('sha256').update(canonical).digest('base64url'))
  assert.equal(await thumbprint(PRIVATE), await thumbprint(JWK), 'only the public members count')
})
