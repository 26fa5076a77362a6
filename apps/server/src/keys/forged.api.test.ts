import assert from 'node:assert/strict'
import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { CLIENT_ASSERTION_TYPE } from '@ostiary/contract'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { createHarness, TEST_MASTER_KEY } from '../testing/harness.ts'
import { KEY_MAX_AGE_MS } from './cache.ts'
import { hashSecret } from './client.ts'
import { assembleJwt, assertionForm, createSigner, goodClaims, sign } from './testing/assertions.ts'
import { basic, createCalledApp, freshAddress } from './testing/called.ts'

const PUBLIC_URL = 'https://id.example'
const TOKEN_URL = `${PUBLIC_URL}/oauth/token`
const FORM = 'application/x-www-form-urlencoded'
const GRANT = 'grant_type=client_credentials'
const signer = createSigner()
const stranger = createSigner()

const harness = await createHarness({ PUBLIC_URL })
const called = createCalledApp(harness)
const mine = await host()
const theirs = await host()
after(() => called.app.close())

interface Host {
  tenantId: string
  key: string
  id: string
  secret: string
  /** A client of the same tenant that signs. */
  signing: string
  /** A client of the same tenant for the other mode. */
  trial: { id: string; secret: string }
}

async function host(): Promise<Host> {
  const { clients } = harness.wire.keys
  const { tenantId, key } = await harness.tenantWithKey({ livemode: true })
  const make = (livemode: boolean, publicKeys: unknown[] = []) =>
    clients.create(tenantId, { livemode, name: 'host', publicKeys })
  const [plain, signing, trial] = [await make(true), await make(true, [signer.publicJwk]), await make(false)]
  return {
    tenantId,
    key,
    id: plain.client_id,
    secret: plain.client_secret ?? '',
    signing: signing.client_id,
    trial: { id: trial.client_id, secret: trial.client_secret ?? '' },
  }
}

const ask = (payload: string, headers: Record<string, string> = {}) =>
  harness.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: { 'content-type': FORM, ...headers },
    payload,
    remoteAddress: freshAddress(),
  })

async function tokenFor({ id, secret }: { id: string; secret: string }): Promise<string> {
  const response = await ask(GRANT, basic(id, secret))
  assert.equal(response.statusCode, 200)
  return response.json().access_token
}

/** Asserts that none of these gives a token, and that each is refused in the format of OAuth without a 5xx. */
async function assertNoneGiven(forged: Record<string, [string, Record<string, string>?]>): Promise<number> {
  for (const [name, [payload, headers]] of Object.entries(forged)) {
    const response = await ask(payload, headers)
    const { error, error_description: description, ...more } = response.json()
    assert.ok([400, 401].includes(response.statusCode), `${name}: ${response.statusCode}`)
    assert.ok(['invalid_client', 'invalid_request', 'unsupported_grant_type'].includes(error), `${name}: ${error}`)
    assert.deepEqual([typeof description, more], ['string', {}], name)
  }
  return Object.keys(forged).length
}

async function assertNoneLetIn(forged: Record<string, Record<string, string>>): Promise<number> {
  for (const [name, headers] of Object.entries(forged)) {
    const response = await called.call(mine.key, headers)
    assert.deepEqual(
      [response.statusCode, response.json().code, response.json().message],
      [401, 'INVALID_CLIENT_CREDENTIALS', 'Invalid client credentials'],
      name,
    )
  }
  return Object.keys(forged).length
}

test('[D-055] no forged request for a token by secret succeeds', async () => {
  const { id, secret, signing } = mine
  const form = (clientId: string, word: string) =>
    [`${GRANT}&${new URLSearchParams({ client_id: clientId, client_secret: word })}`] as [string]
  const swap = (text: string) => text.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  const count = await assertNoneGiven({
    'nothing shown': [GRANT],
    'Basic with a wrong secret': [GRANT, basic(id, swap(secret))],
    'Basic with a secret cut short': [GRANT, basic(id, secret.slice(0, -1))],
    'Basic with a secret and more': [GRANT, basic(id, `${secret}0`)],
    'Basic with an empty secret': [GRANT, basic(id, '')],
    'Basic with the secret of another tenant': [GRANT, basic(id, theirs.secret)],
    'Basic with the secret of the other mode': [GRANT, basic(id, mine.trial.secret)],
    'Basic with the API key for a secret': [GRANT, basic(id, mine.key)],
    'Basic with the secret for an id': [GRANT, basic(secret, id)],
    'Basic for a client that signs': [GRANT, basic(signing, secret)],
    'Basic for a client that is not': [GRANT, basic(swap(id), secret)],
    'Basic for an id of another form': [GRANT, basic(id.toUpperCase(), secret)],
    'Basic for an SQL text': [GRANT, basic("' or '1'='1", "' or '1'='1")],
    'Basic that is no base64': [GRANT, { authorization: 'Basic !!!' }],
    'Basic in clear': [GRANT, { authorization: `Basic ${id}:${secret}` }],
    'Basic without its scheme': [GRANT, { authorization: basic(id, secret).authorization.slice(6) }],
    'the hash of the secret for the secret': [GRANT, basic(id, hashSecret(secret).toString('hex'))],
    'a token for credentials': [GRANT, { authorization: `Bearer ${await tokenFor(mine)}` }],
    'the headers of the calls': [GRANT, { clientID: id, clientSecret: secret }],
    'Basic beside another id in the form': [`${GRANT}&client_id=${theirs.id}`, basic(id, secret)],
    'a form with a wrong secret': form(id, swap(secret)),
    'a form with a secret of another tenant': form(id, theirs.secret),
    'a form with a blank around the secret': form(id, ` ${secret}`),
    'a form with a NUL behind the secret': form(id, `${secret}\0`),
    'a form with the id alone': [`${GRANT}&client_id=${id}`],
    'a form with the secret alone': [`${GRANT}&client_secret=${secret}`],
    'a form with the id twice': [`${GRANT}&client_id=${theirs.id}&client_id=${id}&client_secret=${secret}`],
    'a form with the secret twice': [`${GRANT}&client_id=${id}&client_secret=x&client_secret=${secret}`],
    'a form with an array': [`${GRANT}&client_id[]=${id}&client_secret[]=${secret}`],
    'another grant': ['grant_type=authorization_code&code=1', basic(id, secret)],
    'a grant of RFC 7523': [
      'grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=a.b.c',
      basic(id, secret),
    ],
  })
  const inQuery = await harness.inject({
    method: 'POST',
    url: `/oauth/token?${GRANT}&client_id=${id}&client_secret=${secret}`,
    headers: { 'content-type': FORM },
    payload: GRANT,
    remoteAddress: freshAddress(),
  })
  assert.equal(inQuery.statusCode, 401, 'a secret in the address')
  assert.ok(count >= 31)
})

test('[D-055] no forged or replayed assertion succeeds', async () => {
  const id = mine.signing
  const now = Math.floor(harness.clock.now().getTime() / 1000)
  const by = async (changes: Record<string, unknown> = {}, who = signer, header: Record<string, unknown> = {}) => {
    const claims = { ...goodClaims(id, TOKEN_URL, harness.clock.now()), ...changes }
    const kept = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined))
    return assertionForm(await sign(who, { claims: kept, header }))
  }
  const used = await by()
  assert.equal((await ask(used)).statusCode, 200)
  const good = new URLSearchParams(await by()).get('client_assertion') ?? ''
  const [head = '', body = '', signature = ''] = good.split('.')
  const claims = goodClaims(id, TOKEN_URL, harness.clock.now())
  const hmac = (secret: string | Buffer, header: object = { alg: 'HS256' }) => {
    const start = assembleJwt(header, claims).slice(0, -1)
    return assertionForm(`${start}.${createHmac('sha256', secret).update(start).digest('base64url')}`)
  }
  const rsa = createSigner('RS256')
  const { publicJwk } = signer
  const count = await assertNoneGiven({
    'one that was used': [used],
    'the jti of one that was used, signed again': [
      await by({ jti: decodeJwt(new URLSearchParams(used).get('client_assertion') ?? '').jti }),
    ],
    'alg none': [assertionForm(assembleJwt({ alg: 'none' }, claims))],
    'alg None with a signature': [assertionForm(assembleJwt({ alg: 'None' }, claims, signature))],
    'alg nonE': [assertionForm(assembleJwt({ alg: 'nonE' }, claims))],
    'no alg': [assertionForm(assembleJwt({ typ: 'JWT' }, claims, signature))],
    'HS256 with the public key': [hmac(JSON.stringify(publicJwk))],
    'HS256 with the x of the public key': [hmac(Buffer.from(String(publicJwk.x), 'base64url'))],
    'HS256 with nothing': [hmac('')],
    'HS256 with the id of the client': [hmac(id)],
    'HS256 with a key in the header': [hmac('k', { alg: 'HS256', jwk: { kty: 'oct', k: 'aw' } })],
    'a key of its own in the header': [await by({}, stranger, { jwk: stranger.publicJwk })],
    'a key set of its own in the header': [await by({}, stranger, { jku: 'https://evil.example/keys' })],
    'the signature of a stranger': [await by({}, stranger)],
    'the signature of another algorithm': [await by({}, rsa)],
    'a kid that is not': [await by({}, signer, { kid: '../../etc/passwd' })],
    'a signature cut short': [assertionForm(good.slice(0, -6))],
    'no signature': [assertionForm(`${head}.${body}.`)],
    'a signature of zeros': [assertionForm(`${head}.${body}.${Buffer.alloc(64).toString('base64url')}`)],
    'two parts': [assertionForm(`${head}.${body}`)],
    'five parts': [assertionForm(`${good}.${body}.${signature}`)],
    'other claims under the signature': [
      assertionForm(`${head}.${assembleJwt({}, claims).split('.')[1]}.${signature}`),
    ],
    expired: [await by({ exp: now - 31 })],
    'for an hour': [await by({ exp: now + 3_600 })],
    'for ever': [await by({ exp: Number.MAX_SAFE_INTEGER })],
    'without an end': [await by({ exp: undefined })],
    'not yet valid': [await by({ nbf: now + 60 })],
    'made in the future': [await by({ iat: now + 60 })],
    'without jti': [await by({ jti: undefined })],
    'for another service': [await by({ aud: 'https://other.example/oauth/token' })],
    'for us and another service': [await by({ aud: [TOKEN_URL, 'https://other.example'] })],
    'for nobody': [await by({ aud: undefined })],
    'of another issuer': [await by({ iss: theirs.signing })],
    'without issuer': [await by({ iss: undefined })],
    'in the name of another client': [await by({ sub: mine.id })],
    'in the name of nobody': [await by({ sub: undefined })],
    'in the name of a client with a secret': [await by({ iss: mine.id, sub: mine.id })],
    'for another client in the form': [`${await by()}&client_id=${mine.id}`],
    'beside a secret': [`${await by()}&client_id=${mine.id}&client_secret=${mine.secret}`],
    'beside Basic': [await by(), basic(mine.id, mine.secret)],
    'of another type': [(await by()).replace(encodeURIComponent(CLIENT_ASSERTION_TYPE), 'saml2')],
    'an access token': [assertionForm(await tokenFor(mine))],
    'no assertion at all': [assertionForm('not-a-token')],
  })
  assert.ok(count >= 43)
})

test('[D-055] no forged, foreign or stale token lets a call in', async () => {
  const good = await tokenFor(mine)
  assert.equal((await called.call(mine.key, { authorization: `Bearer ${good}` })).statusCode, 204)
  const [head = '', body = '', signature = ''] = good.split('.')
  const claims = decodeJwt(good)
  const header = decodeProtectedHeader(good)
  const masterKey = Buffer.from(TEST_MASTER_KEY, 'base64')
  const derived = Buffer.from(hkdfSync('sha256', masterKey, '', 'ostiary/access-token/v1', 32))
  const resign = (key: Uint8Array, changes: object = {}, headers: object = {}) =>
    new SignJWT({ ...claims, ...changes }).setProtectedHeader({ ...header, alg: 'HS256', ...headers }).sign(key)
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  assert.equal(
    (await called.call(mine.key, bearer(await resign(derived)))).statusCode,
    204,
    'the forger knows the form',
  )
  const es256 = await new SignJWT(claims).setProtectedHeader({ ...header, alg: 'ES256' }).sign(stranger.privateKey)
  const hs512 = await new SignJWT(claims)
    .setProtectedHeader({ ...header, alg: 'HS512' })
    .sign(Buffer.concat([derived, derived]))
  const count = await assertNoneLetIn({
    'alg none': bearer(assembleJwt({ ...header, alg: 'none' }, claims)),
    'alg none with the signature': bearer(assembleJwt({ ...header, alg: 'none' }, claims, signature)),
    'signed with another key': bearer(await resign(randomBytes(32))),
    'signed with the master key itself': bearer(await resign(masterKey)),
    'signed with the public key of a client': bearer(await resign(Buffer.from(JSON.stringify(signer.publicJwk)))),
    'signed by a client': bearer(es256),
    'a longer HMAC': bearer(hs512),
    'a kid that is not': bearer(await resign(derived, {}, { kid: '000000000000' })),
    'a typ of another token': bearer(await resign(derived, {}, { typ: 'JWT' })),
    'no typ': bearer(await resign(derived, {}, { typ: undefined })),
    'an assertion of a client': bearer(
      await sign(signer, { claims: goodClaims(mine.signing, TOKEN_URL, harness.clock.now()) }),
    ),
    'of another issuer': bearer(await resign(derived, { iss: 'https://other.example' })),
    'for another audience': bearer(await resign(derived, { aud: 'https://other.example' })),
    expired: bearer(await resign(derived, { exp: Number(claims.iat) })),
    'without an end': bearer(await resign(derived, { exp: undefined })),
    'in the name of another tenant': bearer(await resign(derived, { tid: theirs.tenantId })),
    'in the name of a client of another tenant': bearer(await resign(derived, { sub: theirs.id })),
    'in the other mode': bearer(await resign(derived, { livemode: false })),
    'with a mode that is a text': bearer(await resign(derived, { livemode: 'true' })),
    'for a client that is not': bearer(await resign(derived, { sub: mine.id.replace(/.$/, '!') })),
    'of another tenant': bearer(await tokenFor(theirs)),
    'of the same tenant in the other mode': bearer(await tokenFor(mine.trial)),
    'a signature cut short': bearer(good.slice(0, -4)),
    'no signature': bearer(`${head}.${body}.`),
    'claims of one under the signature of another': bearer(
      `${head}.${(await tokenFor(theirs)).split('.')[1]}.${signature}`,
    ),
    'two parts': bearer(`${head}.${body}`),
    nothing: bearer(''),
    'two tokens': bearer(`${good},${good}`),
    'another scheme': { authorization: `Token ${good}` },
    'Basic with the token': basic(mine.id, good),
    'the token in the headers of the secret': { clientID: mine.id, clientSecret: good },
    'the token beside a secret': { ...bearer(good), clientID: mine.id, clientSecret: mine.secret },
    'the API key for a token': bearer(mine.key),
  })
  assert.ok(count >= 33)
})

test('[D-055] secret, assertion and token are refused once their client is revoked', async () => {
  const gone = await host()
  const token = await tokenFor(gone)
  const headers = [
    { authorization: `Bearer ${token}` },
    basic(gone.id, gone.secret),
    { clientID: gone.id, clientSecret: gone.secret },
  ]
  for (const shown of headers) assert.equal((await called.call(gone.key, shown)).statusCode, 204)
  for (const id of [gone.id, gone.signing]) await harness.wire.keys.clients.revoke(id)
  harness.clock.advance(KEY_MAX_AGE_MS + 1)
  for (const shown of headers) assert.equal((await called.call(gone.key, shown)).statusCode, 401)
  const assertion = await sign(signer, { claims: goodClaims(gone.signing, TOKEN_URL, harness.clock.now()) })
  await assertNoneGiven({
    'a revoked client by Basic': [GRANT, basic(gone.id, gone.secret)],
    'a revoked client by the form': [`${GRANT}&client_id=${gone.id}&client_secret=${gone.secret}`],
    'a revoked client by assertion': [assertionForm(assertion)],
  })
})
