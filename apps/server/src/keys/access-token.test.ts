import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { createIds } from '../platform/ids.ts'
import { masterKeyId } from '../platform/key-vault.ts'
import { createManualClock } from '../platform/testing/manual-clock.ts'
import { createAccessTokens } from './access-token.ts'

const ISSUER = 'https://id.example'
const clock = createManualClock()
const ids = createIds(clock)
const holder = { clientId: 'ostc_live_00', tenantId: ids.next(3), livemode: true }
const [older, newer] = [randomBytes(32), randomBytes(32)]
const serviceWith = (masterKeys: Uint8Array[], issuer = ISSUER) =>
  createAccessTokens({ masterKeys, clock, ids, issuer })

test('a token names its client, and is valid for exactly ten minutes', async () => {
  const tokens = serviceWith([newer])
  const { access_token: token, ...rest } = await tokens.issue(holder)
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 600 })
  const issuedAt = clock.now().getTime() / 1000
  const { jti, ...claims } = decodeJwt(token)
  assert.match(String(jti), /^[0-9a-f-]{36}$/)
  assert.deepEqual(claims, {
    iss: ISSUER,
    aud: ISSUER,
    sub: holder.clientId,
    tid: holder.tenantId,
    livemode: true,
    iat: issuedAt,
    exp: issuedAt + 600,
  })
  assert.deepEqual(decodeProtectedHeader(token), { alg: 'HS256', typ: 'at+jwt', kid: masterKeyId(newer) })
  assert.deepEqual(await tokens.verify(token), holder)
  clock.advance(599_999)
  assert.deepEqual(await tokens.verify(token), holder)
  clock.advance(1)
  assert.equal(await tokens.verify(token), undefined)
})

test('a token of an older master key is valid only while that key is configured', async () => {
  const { access_token: token } = await serviceWith([older]).issue(holder)
  assert.deepEqual(await serviceWith([newer, older]).verify(token), holder)
  assert.equal(await serviceWith([newer]).verify(token), undefined)
})

test('a token of another installation is refused, even with the same master key', async () => {
  const { access_token: token } = await serviceWith([newer], 'https://other.example').issue(holder)
  assert.equal(await serviceWith([newer]).verify(token), undefined)
})

test('the master key itself does not sign: the key of the tokens is derived from it', async () => {
  const tokens = serviceWith([newer])
  const [head, body] = (await tokens.issue(holder)).access_token.split('.')
  const signature = createHmac('sha256', newer).update(`${head}.${body}`).digest('base64url')
  assert.equal(await tokens.verify(`${head}.${body}.${signature}`), undefined)
})

test('a token with any changed character is refused', async () => {
  const tokens = serviceWith([newer])
  const { access_token: token } = await tokens.issue(holder)
  for (let i = 0; i < token.length; i++) {
    const other = token.charAt(i) === 'A' ? 'Q' : 'A'
    const changed = token.slice(0, i) + other + token.slice(i + 1)
    assert.equal(await tokens.verify(changed), undefined, `changed at ${i}`)
  }
  for (const text of ['', '..', `${token}A`, token.slice(0, -1), `${token}.`, token.repeat(10)]) {
    assert.equal(await tokens.verify(text), undefined, text.slice(0, 20))
  }
})
