import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { Compile } from 'typebox/schema'
import { assertError } from '../testing/harness.ts'
import { createVerificationHost, leastOf, PATH, type VerificationHost } from './testing/fixture.ts'

const { fixture, host } = await createVerificationHost()

const operations = (sessionId: string) =>
  [
    ['POST', PATH],
    ['GET', `${PATH}/${sessionId}`],
    ['GET', `${PATH}/${sessionId}/webhook`],
    ['POST', `${PATH}/${sessionId}/cancel`],
    ['DELETE', `${PATH}/${sessionId}`],
    ['GET', `${PATH}s`],
  ] as const

const unknown = [404, 'NOT_FOUND', 'There is no session with this id'] as const

describe('the API key', () => {
  test('[D-056] a wrong one gets 401 with the two fields of the specification and no other, everywhere', async () => {
    const { sessionId } = await host.create()
    const wrong = [`${host.key.slice(0, -1)}!`, 'nonsense', 'x'.repeat(600), `${host.key}${host.key}`]
    for (const [method, url] of operations(sessionId))
      for (const key of wrong) {
        const payload = method === 'POST' ? leastOf('ENROLL', fixture.receiver.url) : undefined
        const refused = await host.call(method, url, payload, { 'x-api-key': key })
        assert.equal(refused.statusCode, 401)
        assert.equal(refused.body, '{"statusCode":401,"message":"Invalid API key"}')
        assert.equal(refused.headers['content-type'], 'application/json; charset=utf-8')
      }
  })

  test('a wrong one is refused before anything else is checked', async () => {
    const refused = await host.call('POST', PATH, '{"broken', { 'x-api-key': 'x', 'content-type': 'application/json' })
    assert.equal(refused.body, '{"statusCode":401,"message":"Invalid API key"}')
  })

  test('a missing one, one of another scope and a revoked one are refused with the common body', async () => {
    const { sessionId } = await host.create()
    for (const [method, url] of operations(sessionId)) {
      const missing = await host.call(method, url, undefined, { 'x-api-key': undefined })
      assertError(missing, 401, 'MISSING_API_KEY', 'Missing API key')
    }
    const reader = await fixture.sibling(host, { scopes: ['verify:read', 'age:write'] })
    const denied = await reader.call('POST', PATH, leastOf('ENROLL', fixture.receiver.url))
    assertError(denied, 403, 'SCOPE_DENIED', 'This API key lacks the scope verify:write')
    const writer = await fixture.sibling(host, { scopes: ['verify:write'] })
    const unread = await writer.call('GET', `${PATH}/${sessionId}`)
    assertError(unread, 403, 'SCOPE_DENIED', 'This API key lacks the scope verify:read')
    const revoked = await fixture.sibling(host)
    await fixture.harness.wire.keys.service.revokeKey(revoked.keyId)
    const inactive = await revoked.call('GET', `${PATH}/${sessionId}`)
    assertError(inactive, 403, 'KEY_INACTIVE', 'This API key is not active')
  })

  test('x_api_key is another spelling of the header, and two different keys are refused', async () => {
    const { sessionId } = await host.create()
    const sibling = await fixture.sibling(host)
    const read = (headers: Record<string, string | undefined>) =>
      host.call('GET', `${PATH}/${sessionId}`, undefined, headers)
    assert.equal((await read({ 'x-api-key': undefined, x_api_key: host.key })).statusCode, 200)
    assert.equal((await read({ 'x-api-key': '', x_api_key: host.key })).statusCode, 200)
    assert.equal((await read({ x_api_key: host.key })).statusCode, 200)
    assert.equal((await read({ x_api_key: '' })).statusCode, 200)
    for (const x_api_key of [sibling.key, 'nonsense'])
      assert.equal((await read({ x_api_key })).body, '{"statusCode":401,"message":"Invalid API key"}')
    const elsewhere = { 'x-api-key': undefined, x_api_key: host.key }
    const age = await host.call('POST', '/session', {}, elsewhere)
    assertError(age, 401, 'MISSING_API_KEY', 'Missing API key')
  })

  test('every 401 matches the OpenAPI document', async () => {
    const { sessionId } = await host.create()
    const document = (await fixture.harness.inject('/openapi.json')).json()
    for (const [method, url] of operations(sessionId)) {
      const path = url.replace(sessionId, '{sessionId}')
      const { schema } = document.paths[path][method.toLowerCase()].responses[401].content['application/json']
      const described = Compile({ ...schema, components: document.components })
      for (const key of ['wrong', undefined]) {
        const refused = await host.call(method, url, undefined, { 'x-api-key': key })
        assert.equal(refused.statusCode, 401)
        assert.ok(described.Check(refused.json()), `${method} ${path}: ${refused.body}`)
      }
      assert.equal(described.Check({ statusCode: 401, message: 'Invalid API key', more: 1 }), false)
      assert.equal(described.Check({ message: 'Invalid API key' }), false)
    }
  })

  test('a caller that asks for problem details gets them for every fault', async () => {
    const accept = 'application/problem+json'
    const refused = await host.call('GET', `${PATH}/x`, undefined, { accept, 'x-api-key': 'x' })
    assert.equal(refused.headers['content-type'], 'application/problem+json; charset=utf-8')
    assert.deepEqual([refused.json().status, refused.json().code], [401, 'INVALID_API_KEY'])
  })
})

describe('client credentials', () => {
  const live = (settings: { clientCredentials?: 'live' | 'always' | 'never' } = {}) =>
    fixture.newHost({ livemode: true, settings })
  const body = () => leastOf('ENROLL', 'https://shop.example/hook')
  const refusal = [401, 'INVALID_CLIENT_CREDENTIALS', 'Invalid client credentials'] as const
  const isMissing = (response: Awaited<ReturnType<VerificationHost['call']>>) => {
    const { message } = response.json()
    assert.match(message, /^Client credentials are missing: /)
    assertError(response, 401, 'INVALID_CLIENT_CREDENTIALS', message)
  }

  test('[D-054] a live key does not replace them, and they do not replace the key', async () => {
    const shop = await live()
    const client = await fixture.harness.wire.keys.clients.create(shop.tenantId, {
      livemode: true,
      name: 'host',
      publicKeys: [],
    })
    const basic = Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')
    const authorization = `Basic ${basic}`
    for (const [method, url] of operations(randomUUID())) isMissing(await shop.call(method, url))
    assert.equal((await shop.call('POST', PATH, body(), { authorization })).statusCode, 201)
    const keyless = await shop.call('POST', PATH, body(), { authorization, 'x-api-key': undefined })
    assertError(keyless, 401, 'MISSING_API_KEY', 'Missing API key')
    const wrong = `Basic ${Buffer.from(`${client.client_id}:wrong`).toString('base64')}`
    assertError(await shop.call('POST', PATH, body(), { authorization: wrong }), ...refusal)
  })

  test('the tenant decides whether they are required; credentials that are sent are always checked', async () => {
    const open = await live({ clientCredentials: 'never' })
    assert.equal((await open.call('POST', PATH, body())).statusCode, 201)
    const sent = { clientid: 'ostc_live_nobody', clientsecret: 'x' }
    assertError(await open.call('POST', PATH, body(), sent), ...refusal)
    const strict = await fixture.newHost({ settings: { clientCredentials: 'always' } })
    isMissing(await strict.call('POST', PATH, body()))
    assertError(await host.call('POST', PATH, body(), sent), ...refusal)
  })
})

describe('tenants and modes are separate', () => {
  test('a session of another tenant, of the other mode or of area C is unknown to every operation', async () => {
    const { sessionId } = await host.create()
    await host.outcome(sessionId)
    const live = await fixture.sibling(host, { livemode: true })
    await fixture.harness.wire.settings.service.set(host.tenantId, { clientCredentials: 'never' })
    for (const stranger of [await fixture.newHost(), live])
      for (const [method, url] of operations(sessionId).slice(1, -1))
        assertError(await stranger.call(method, url), ...unknown)
    const age = await fixture.age.newHost()
    const both = await fixture.sibling(host, { scopes: ['verify:write', 'verify:read', 'age:write', 'age:read'] })
    const aged = await both.call('POST', '/session', { redirectUrl: 'https://shop.example/back', ageThreshold: 30 })
    for (const id of [aged.json().sessionId, (await age.create()).sessionId, randomUUID(), 'x', aged.json().token])
      for (const [method, url] of operations(id).slice(1, -1)) assertError(await both.call(method, url), ...unknown)
    assert.equal((await host.get(sessionId)).outcome, 'SUCCEEDED', 'it is still there')
  })

  test('an unknown path below it gets the common body', async () => {
    const missing = await host.call('GET', `${PATH}/x/y/z`)
    assertError(missing, 404, 'NOT_FOUND', 'There is nothing at this path')
    const method = await host.call('PUT', PATH, {})
    assertError(method, 405, 'METHOD_NOT_ALLOWED', 'This path does not take this method')
  })
})

test('[X-001] strings, sanctions, age and verification sessions are served under one base address', async () => {
  const scopes = ['strings:rw', 'sanctions:run', 'age:write', 'verify:write'] as const
  const all = await fixture.newHost({ scopes: [...scopes] })
  assert.equal((await all.call('POST', '/strings', { value: 'one' })).statusCode, 201)
  assert.equal((await all.call('GET', '/v2/open-sanctions/datasets')).statusCode, 200)
  const age = { redirectUrl: 'https://shop.example/back', ageThreshold: 30 }
  assert.equal((await all.call('POST', '/session', age)).statusCode, 201)
  assert.equal((await all.call('POST', PATH, leastOf('ENROLL', fixture.receiver.url))).statusCode, 201)
})
