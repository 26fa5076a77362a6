import assert from 'node:assert/strict'
import { createHmac, hash } from 'node:crypto'
import { test } from 'node:test'
import { checkAssertion, clientIdIn } from './assertion.ts'
import { readClientKey, thumbprintOf } from './client-keys.ts'
import { createSigner, goodClaims, type Signer, sign, unsigned } from './testing/assertions.ts'

const CLIENT_ID = 'ostc_live_0000000000000000000000000000'
const AUDIENCES = ['https://id.example', 'https://id.example/oauth/token']
const now = new Date('2026-11-15T12:00:00.000Z')
const nowSeconds = now.getTime() / 1000

const signer = createSigner()
const check = (assertion: string, by: Signer[] = [signer]) =>
  checkAssertion(assertion, {
    clientId: CLIENT_ID,
    keys: by.map(({ publicJwk }) => readClientKey(publicJwk)),
    audiences: AUDIENCES,
    now,
  })
const claims = (changes: Record<string, unknown> = {}) => ({
  ...goodClaims(CLIENT_ID, AUDIENCES[1] ?? '', now),
  ...changes,
})

test('an assertion of each algorithm is valid, and is remembered by client and jti until it expires', async () => {
  for (const alg of ['ES256', 'RS256', 'PS256', 'EdDSA'] as const) {
    const own = createSigner(alg)
    const use = await check(await sign(own, { claims: claims({ jti: 'one' }) }), [own])
    assert.deepEqual(use, {
      hash: hash('sha256', `${CLIENT_ID}\none`, 'buffer'),
      expiresAt: new Date((nowSeconds + 60 + 30) * 1000),
    })
  }
})

test('it may be addressed to the issuer or to the token endpoint, as a text or as a list of one', async () => {
  for (const aud of [...AUDIENCES, AUDIENCES.slice(0, 1)]) {
    assert.ok(await check(await sign(signer, { claims: claims({ aud }) })), String(aud))
  }
})

test('the key is found by its name, by its thumbprint, or by trying', async () => {
  const other = createSigner()
  const named = { ...signer, publicJwk: { ...signer.publicJwk, kid: 'k1' } }
  const thumbprint = thumbprintOf(readClientKey(signer.publicJwk))
  for (const header of [{}, { kid: 'k1' }, { kid: thumbprint }]) {
    assert.ok(await check(await sign(signer, { claims: claims(), header }), [other, named]), JSON.stringify(header))
  }
  assert.equal(await check(await sign(signer, { claims: claims(), header: { kid: 'k2' } }), [other, named]), undefined)
  assert.equal(await check(await sign(signer, { claims: claims() }), []), undefined)
})

test('clocks may differ by thirty seconds, and an assertion may be valid for at most five minutes', async () => {
  const at = async (changes: Record<string, number>) =>
    (await check(await sign(signer, { claims: claims(changes) }))) !== undefined
  const results = []
  for (const seconds of [-31, -30, -29, 300, 330, 331]) results.push([seconds, await at({ exp: nowSeconds + seconds })])
  assert.deepEqual(results, [
    [-31, false],
    [-30, false],
    [-29, true],
    [300, true],
    [330, true],
    [331, false],
  ])
  assert.deepEqual([await at({ iat: nowSeconds + 30 }), await at({ iat: nowSeconds + 31 })], [true, false])
  assert.deepEqual([await at({ nbf: nowSeconds + 30 }), await at({ nbf: nowSeconds + 31 })], [true, false])
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
    const payload = JSON.parse(JSON.stringify(claims(changes), (_name, value) => value ?? undefined))
    assert.equal(await check(await sign(signer, { claims: payload })), undefined, JSON.stringify(changes))
  }
})

test('a signature by another key, or with an algorithm that the key does not have, is refused', async () => {
  const rsa = createSigner('RS256')
  const narrowed = { ...rsa, publicJwk: { ...rsa.publicJwk, alg: 'PS256' } }
  const good = await sign(signer, { claims: claims() })
  const [head = '', body = '', signature = ''] = good.split('.')
  const pem = JSON.stringify(signer.publicJwk)
  const confused = unsigned({ alg: 'HS256' }, claims()).slice(0, -1)
  for (const forged of [
    await sign(createSigner(), { claims: claims() }),
    await sign(rsa, { claims: claims() }),
    unsigned({ alg: 'none' }, claims()),
    unsigned({ alg: 'None' }, claims(), signature),
    unsigned({}, claims(), signature),
    `${confused}.${createHmac('sha256', pem).update(confused).digest('base64url')}`,
    `${head}.${body}.`,
    `${head}.${body}.${signature.slice(0, -8)}`,
    `${head}.${Buffer.from(JSON.stringify(claims())).toString('base64url')}.${signature}`,
    `${head}.${body}`,
    good.replaceAll('.', ' '),
    '',
    '..',
    'a.b.c',
  ]) {
    assert.equal(await check(forged), undefined, forged.slice(0, 60))
  }
  assert.equal(await check(await sign(rsa, { claims: claims() }), [narrowed]), undefined, 'RS256 with a key for PS256')
})

test('the claimed client of an assertion is read without trusting it', () => {
  assert.equal(clientIdIn(unsigned({ alg: 'none' }, { sub: 'me' })), 'me')
  for (const text of ['', 'a.b.c', unsigned({}, { sub: 7 }), unsigned({}, [])])
    assert.equal(clientIdIn(text), undefined)
})
