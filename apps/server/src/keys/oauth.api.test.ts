import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { OAUTH_LIMITS } from '@ostiary/contract'
import type { LightMyRequestResponse } from 'fastify'
import { decodeJwt } from 'jose'
import { createHarness } from '../testing/harness.ts'
import { KEY_MAX_AGE_MS } from './cache.ts'
import { purgeUsedAssertions } from './clients.ts'
import { assertionForm, createSigner, goodClaims, type Signer, sign } from './testing/assertions.ts'
import { basic, createCalledApp, freshAddress } from './testing/called.ts'

const PUBLIC_URL = 'https://id.example'
const TOKEN_URL = `${PUBLIC_URL}/oauth/token`
const FORM = 'application/x-www-form-urlencoded'
const GRANT = 'grant_type=client_credentials'

const harness = await createHarness({ PUBLIC_URL: `${PUBLIC_URL}/` })
const called = createCalledApp(harness)
after(() => called.app.close())

async function host(publicKeys: unknown[] = []) {
  const { tenantId, key } = await harness.tenantWithKey({ livemode: true })
  const client = await harness.wire.keys.clients.create(tenantId, { livemode: true, name: 'host', publicKeys })
  return { tenantId, key, id: client.client_id, secret: client.client_secret ?? '' }
}

function ask(payload: string, headers: Record<string, string> = {}, from = freshAddress()) {
  return harness.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: { 'content-type': FORM, ...headers },
    payload,
    remoteAddress: from,
  })
}

/** The whole answer of a token that was given, and the token. */
function tokenOf(response: LightMyRequestResponse): string {
  const body = response.json()
  assert.deepEqual(
    [response.statusCode, response.headers['content-type'], response.headers['cache-control']],
    [200, 'application/json; charset=utf-8', 'no-store'],
    response.body,
  )
  assert.deepEqual(body, { access_token: body.access_token, token_type: 'Bearer', expires_in: 600 })
  return body.access_token
}

function assertRefused(response: LightMyRequestResponse, status: number, error: string, description: string): void {
  assert.deepEqual(response.json(), { error, error_description: description })
  assert.equal(response.statusCode, status)
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(response.headers['cache-control'], 'no-store')
  assert.equal(response.headers['www-authenticate'], status === 401 ? 'Basic realm="ostiary"' : undefined)
}

async function signed(signer: Signer, id: string, changes: Record<string, unknown> = {}): Promise<string> {
  return sign(signer, { claims: { ...goodClaims(id, TOKEN_URL, harness.clock.now()), ...changes } })
}

test('[D-055] a token is given for Basic, for the form, and for an assertion of each algorithm, and lets calls in', async () => {
  const { key, id, secret } = await host()
  const answers: [string, string, LightMyRequestResponse][] = [
    [key, id, await ask(GRANT, basic(id, secret))],
    [key, id, await ask(`${GRANT}&client_id=${id}&client_secret=${secret}`)],
  ]
  for (const alg of ['ES256', 'RS256', 'PS256', 'EdDSA'] as const) {
    const signer = createSigner(alg)
    const own = await host([signer.publicJwk])
    answers.push([own.key, own.id, await ask(assertionForm(await signed(signer, own.id)))])
  }
  for (const [apiKey, clientId, answer] of answers) {
    const token = tokenOf(answer)
    const { sub, iss } = decodeJwt(token)
    assert.deepEqual([sub, iss], [clientId, PUBLIC_URL])
    assert.equal((await called.call(apiKey, { authorization: `Bearer ${token}` })).statusCode, 204)
  }
})

test('an assertion may name the issuer, and may be accompanied by the client id', async () => {
  const signer = createSigner()
  const { id } = await host([signer.publicJwk])
  tokenOf(await ask(assertionForm(await signed(signer, id, { aud: PUBLIC_URL }), { client_id: id })))
})

test('a token is good for ten minutes, and for no longer', async () => {
  const { key, id, secret } = await host()
  const headers = { authorization: `Bearer ${tokenOf(await ask(GRANT, basic(id, secret)))}` }
  harness.clock.advance(OAUTH_LIMITS.tokenSeconds * 1000 - 1)
  assert.equal((await called.call(key, headers)).statusCode, 204)
  harness.clock.advance(1)
  assert.equal((await called.call(key, headers)).statusCode, 401)
})

test('the tokens of a client end with it, and with its tenant', async () => {
  for (const stop of ['revoke', 'suspend'] as const) {
    const { tenantId, key, id, secret } = await host()
    const headers = { authorization: `Bearer ${tokenOf(await ask(GRANT, basic(id, secret)))}` }
    assert.equal((await called.call(key, headers)).statusCode, 204)
    if (stop === 'revoke') await harness.wire.keys.clients.revoke(id)
    else await harness.wire.keys.service.setTenantStatus(tenantId, 'suspended')
    harness.clock.advance(KEY_MAX_AGE_MS + 1)
    assert.equal((await called.call(key, headers)).statusCode, stop === 'revoke' ? 401 : 403)
    assertRefused(await ask(GRANT, basic(id, secret)), 401, 'invalid_client', 'Invalid client credentials')
  }
})

test('an assertion is good once: many at the same moment give one token, and its row goes when it has run out', async () => {
  const signer = createSigner()
  const { tenantId, id } = await host([signer.publicJwk])
  const form = assertionForm(await signed(signer, id))
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(form)))
  const statuses = answers.map(({ statusCode }) => statusCode).sort()
  assert.deepEqual(statuses, [200, 401, 401, 401, 401, 401, 401, 401])
  const rows = async () =>
    (await harness.database.query('select expires_at from used_assertions where tenant_id = $1', [tenantId])).rows
  const [row] = await rows()
  assert.deepEqual(row.expires_at.getTime(), Math.floor(harness.clock.now().getTime() / 1000) * 1000 + 90_000)
  const [cell] = harness.wire.platform.cells.all()
  const purge = (atMs: number) => (cell ? purgeUsedAssertions(cell.db, new Date(atMs)) : -1)
  await purge(row.expires_at.getTime() - 1)
  assert.equal((await rows()).length, 1)
  assert.equal(await purge(row.expires_at.getTime()), 1)
  assert.equal((await rows()).length, 0)
})

test('a wrong assertion uses up no jti', async () => {
  const [signer, stranger] = [createSigner(), createSigner()]
  const { id } = await host([signer.publicJwk])
  const jti = 'the-same'
  assert.equal((await ask(assertionForm(await signed(stranger, id, { jti })))).statusCode, 401)
  tokenOf(await ask(assertionForm(await signed(signer, id, { jti }))))
})

test('400: what is no request for a token is refused as RFC 6749 says', async () => {
  const { id, secret } = await host()
  const creds = basic(id, secret)
  assertRefused(await ask('', creds), 400, 'invalid_request', 'grant_type is missing')
  assertRefused(await ask('grant_type=', creds), 400, 'invalid_request', 'grant_type is missing')
  const unsupported = 'grant_type must be client_credentials'
  assertRefused(await ask('grant_type=password', creds), 400, 'unsupported_grant_type', unsupported)
  assertRefused(await ask(`${GRANT}&${GRANT}`, creds), 400, 'invalid_request', 'grant_type is there twice')
  const scope = 'scope must be left out: tokens are good for all that the API key may do'
  assertRefused(await ask(`${GRANT}&scope=all`, creds), 400, 'invalid_scope', scope)
  const both = await ask(`${GRANT}&client_id=${id}&client_secret=${secret}`, creds)
  assertRefused(both, 400, 'invalid_request', 'only one way of client authentication may be used')
  const broken = await harness.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: { 'content-type': FORM, ...creds },
    payload: Buffer.from([0x67, 0xff]),
  })
  assertRefused(broken, 400, 'invalid_request', 'The body is not valid UTF-8')
})

test('415: only forms are read, in plain UTF-8', async () => {
  const { id, secret } = await host()
  const creds = basic(id, secret)
  for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x']) {
    const answer = await ask('{"grant_type":"client_credentials"}', { ...creds, 'content-type': type })
    assertRefused(answer, 415, 'invalid_request', `The body must be ${FORM}`)
  }
  const latin = await ask(GRANT, { ...creds, 'content-type': `${FORM}; charset=iso-8859-1` })
  assertRefused(latin, 415, 'invalid_request', 'The body must be in UTF-8')
  tokenOf(await ask(GRANT, { ...creds, 'content-type': `${FORM}; charset=utf-8` }))
})

test('405, 413: other methods and large bodies have the same shape', async () => {
  const read = await harness.inject({ url: '/oauth/token' })
  assertRefused(read, 405, 'invalid_request', 'This path does not take this method')
  assert.equal(read.headers.allow, 'POST')
  assertRefused(await ask('x'.repeat(16 * 1024 + 1)), 413, 'invalid_request', 'The body is too large')
})

test('429: an address may ask five times a second, and guess twice', async () => {
  const { id, secret } = await host()
  const from = freshAddress()
  const guesses = []
  for (let i = 0; i < 21; i++) guesses.push((await ask(GRANT, basic(id, `wrong ${i}`), from)).statusCode)
  assert.deepEqual(guesses, [...Array(20).fill(401), 429])
  const sent = await ask(GRANT, basic(id, 'wrong'), from)
  assertRefused(sent, 429, 'temporarily_unavailable', 'Too many wrong client credentials')
  assert.equal(sent.headers['retry-after'], '1')
  const answers = []
  for (let i = 0; i < 29; i++) answers.push(await ask(GRANT, basic(id, secret), from))
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [...Array(28).fill(200), 429],
  )
  const [last] = answers.slice(-1)
  assert.deepEqual(last?.json(), { error: 'temporarily_unavailable', error_description: 'Too many requests' })
})

test('503: when the database is away no token is given, and the answer says to try again', async () => {
  const local = await createHarness({ PUBLIC_URL })
  const { tenantId } = await local.tenantWithKey()
  const client = await local.wire.keys.clients.create(tenantId, { livemode: true, name: 'n', publicKeys: [] })
  await local.wire.close()
  const response = await local.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: { 'content-type': FORM, ...basic(client.client_id, client.client_secret) },
    payload: GRANT,
  })
  assert.deepEqual([response.statusCode, response.json().error], [503, 'temporarily_unavailable'])
})

test('nothing secret is logged: neither secrets nor assertions nor tokens', async () => {
  const signer = createSigner()
  const [one, other] = [await host(), await host([signer.publicJwk])]
  const assertion = await signed(signer, other.id)
  const token = tokenOf(await ask(GRANT, basic(one.id, one.secret)))
  tokenOf(await ask(assertionForm(assertion)))
  await ask(assertionForm(assertion))
  await ask(`${GRANT}&client_id=${one.id}&client_secret=${one.secret}wrong`)
  await called.call(one.key, { authorization: `Bearer ${token}` })
  await called.call(one.key, { clientID: one.id, clientSecret: one.secret })
  const logged = harness.logged()
  assert.match(logged, /requestToken/)
  const secrets = [one.secret, basic(one.id, one.secret).authorization.slice(6), assertion, token]
  for (const secret of secrets) assert.ok(!logged.includes(secret.slice(-30)))
})
