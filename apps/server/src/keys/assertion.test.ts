import assert from 'node:assert/strict'
import { createHmac, hash } from 'node:crypto'
import { test } from 'node:test'
import { checkAssertion, clientIdIn } from './assertion.ts'
import { readClientKey, thumbprintOf } from './client-keys.ts'
import { assembleJwt, createSigner, goodClaims, type Signer, sign } from './testing/assertions.ts'

const CLIENT_ID = 'ostc_live_0000000000000000000000000000'
const AUDIENCES = ['https://id.example', 'https://id.example/oauth/token']
const now = new Date('2026-11-15T12:00:00.000Z')
const nowSeconds = now.getTime() / 1000
/** How far the clocks of client and server may be apart. */
const LEEWAY_SECONDS = 30

const signer = createSigner()
/** Checks an assertion of a client that has registered the public keys of these signers. */
const check = (assertion: string, registered: Signer[] = [signer]) =>
  checkAssertion(assertion, {
    clientId: CLIENT_ID,
    keys: registered.map(({ publicJwk }) => readClientKey(publicJwk)),
    audiences: AUDIENCES,
    now,
  })
const claims = (changes: Record<string, unknown> = {}) => ({
  ...goodClaims(CLIENT_ID, AUDIENCES[1] ?? '', now),
  ...changes,
})

test('a valid assertion of each algorithm gives what prevents its replay: a hash of client and jti, and its expiry', async () => {
  const exp = nowSeconds + 60
  for (const alg of ['ES256', 'RS256', 'PS256', 'EdDSA'] as const) {
    const own = createSigner(alg)
    const replayRecord = await check(await sign(own, { claims: claims({ jti: 'one', exp }) }), [own])
    assert.deepEqual(replayRecord, {
      hash: hash('sha256', `${CLIENT_ID}\none`, 'buffer'),
      expiresAt: new Date((exp + LEEWAY_SECONDS) * 1000),
    })
  }
})

test('the audience may be the issuer or the token endpoint, as a string or as an array of one', async () => {
  for (const aud of [...AUDIENCES, AUDIENCES.slice(0, 1)]) {
    assert.ok(await check(await sign(signer, { claims: claims({ aud }) })), JSON.stringify(aud))
  }
})

test('kid selects a registered key by its kid or its thumbprint; without kid each key is tried', async () => {
  const other = createSigner()
  const named = { ...signer, publicJwk: { ...signer.publicJwk, kid: 'k1' } }
  const thumbprint = thumbprintOf(readClientKey(signer.publicJwk))
  for (const header of [{}, { kid: 'k1' }, { kid: thumbprint }]) {
    assert.ok(await check(await sign(signer, { claims: claims(), header }), [other, named]), JSON.stringify(header))
  }
  assert.equal(await check(await sign(signer, { claims: claims(), header: { kid: 'k2' } }), [other, named]), undefined)
  assert.equal(await check(await sign(signer, { claims: claims() }), []), undefined)
})

test('exp is at most five minutes from now; exp, iat and nbf may each be off by thirty seconds', async () => {
  const isValidWith = async (changes: Record<string, number>) =>
    (await check(await sign(signer, { claims: claims(changes) }))) !== undefined
  const validBySecondsToExp = []
  for (const seconds of [-31, -30, -29, 300, 330, 331])
    validBySecondsToExp.push([seconds, await isValidWith({ exp: nowSeconds + seconds })])
  assert.deepEqual(validBySecondsToExp, [
    [-31, false],
    [-30, false],
    [-29, true],
    [300, true],
    [330, true],
    [331, false],
  ])
  const latest = nowSeconds + LEEWAY_SECONDS
  assert.deepEqual([await isValidWith({ iat: latest }), await isValidWith({ iat: latest + 1 })], [true, false])
  assert.deepEqual([await isValidWith({ nbf: latest }), await isValidWith({ nbf: latest + 1 })], [true, false])
})

test('an assertion with a missing or wrong claim is refused', async () => {
  for (const changes of [
    { iss: undefined },
    { iss: 'ostc_live_1111111111111111111111111111' },
    { sub: undefined },
    { sub: 'ostc_live_1111111111111111111111111111' },
    { aud: undefined },
    { aud: 'https://other.example/oauth/token' },
    { aud: 'https://id.example/' },
    { aud: [] },
    // Each alone is accepted. An assertion for two audiences is not, because one of them could use it at the other.
    { aud: [...AUDIENCES] },
    { aud: [AUDIENCES[0], 'https://other.example'] },
    { exp: undefined },
    { exp: String(nowSeconds + 60) },
    { jti: undefined },
    { jti: '' },
    { jti: 7 },
    { jti: 'j'.repeat(256) },
    { iat: 'now' },
  ]) {
    // An undefined claim is left out.
    const payload = JSON.parse(JSON.stringify(claims(changes), (_name, value) => value ?? undefined))
    assert.equal(await check(await sign(signer, { claims: payload })), undefined, JSON.stringify(changes))
  }
})

test('a forged or damaged assertion is refused, and one with an algorithm that its key is not registered for', async () => {
  const rsa = createSigner('RS256')
  const rsaForPs256 = { ...rsa, publicJwk: { ...rsa.publicJwk, alg: 'PS256' } }
  const good = await sign(signer, { claims: claims() })
  const [head = '', body = '', signature = ''] = good.split('.')
  const forgeries = {
    'a key that is not registered': await sign(createSigner(), { claims: claims() }),
    'a key of another algorithm that is not registered': await sign(rsa, { claims: claims() }),
    'alg none': assembleJwt({ alg: 'none' }, claims()),
    'alg None with a signature': assembleJwt({ alg: 'None' }, claims(), signature),
    'no alg': assembleJwt({}, claims(), signature),
    'algorithm confusion: the public key as the secret of an HMAC': signedWithHmac(JSON.stringify(signer.publicJwk)),
    'an empty signature': `${head}.${body}.`,
    'a signature cut short': `${head}.${body}.${signature.slice(0, -8)}`,
    'the signature of other claims': `${head}.${assembleJwt({}, claims()).split('.')[1]}.${signature}`,
    'two parts': `${head}.${body}`,
    'spaces for dots': good.replaceAll('.', ' '),
    nothing: '',
    'empty parts': '..',
    'parts that are not JSON': 'a.b.c',
  }
  for (const [forgery, assertion] of Object.entries(forgeries)) {
    assert.equal(await check(assertion), undefined, forgery)
  }
  const rs256 = await sign(rsa, { claims: claims() })
  assert.equal(await check(rs256, [rsaForPs256]), undefined, 'RS256 with a key that is registered for PS256')
})

function signedWithHmac(secret: string): string {
  const signed = assembleJwt({ alg: 'HS256' }, claims()).slice(0, -1)
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

test('clientIdIn reads the client from sub without verifying the assertion', () => {
  assert.equal(clientIdIn(assembleJwt({ alg: 'none' }, { sub: 'me' })), 'me')
  for (const text of ['', 'a.b.c', assembleJwt({}, { sub: 7 }), assembleJwt({}, [])])
    assert.equal(clientIdIn(text), undefined)
})
