import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { TenantIssuerInput } from '@ostiary/contract'
import type { FastifyInstance } from 'fastify'
import { buildApp } from '../app.ts'
import { createMetrics } from '../platform/metrics.ts'
import { createOutbound } from '../platform/outbound/index.ts'
import { createTokenVerifier } from '../settings/jwt.ts'
import { createSettings, type Settings } from '../settings/service.ts'
import { createIdentityProvider, type IdentityProvider } from '../settings/testing/identity-provider.ts'
import { assertError } from '../testing/harness.ts'
import { createAgeRoom } from './index.ts'
import { createAgeHost, type Host, LEAST, openBody } from './testing/fixture.ts'

const { fixture, host } = await createAgeHost()

describe('keys', () => {
  test('[C-054] a creation without a key is refused, and a valid key alone is enough', async () => {
    const missing = await host.call('POST', '/session', LEAST, { 'x-api-key': undefined })
    assertError(missing, 401, 'MISSING_API_KEY', 'Missing API key')
    const wrong = await host.call('POST', '/session', LEAST, {
      'x-api-key': `${host.key.slice(0, -1)}${host.key.endsWith('x') ? 'y' : 'x'}`,
    })
    assertError(wrong, 401, 'INVALID_API_KEY', 'Invalid API key')
    assert.equal((await host.call('POST', '/session', LEAST)).statusCode, 201)
  })

  test('a key that was revoked, lacks the scope or comes from another network is refused with 403', async () => {
    const revoked = await fixture.sibling(host)
    await fixture.harness.wire.keys.service.revokeKey(revoked.keyId)
    const inactive = await revoked.call('POST', '/session', LEAST)
    assert.deepEqual([inactive.statusCode, inactive.json().code], [403, 'KEY_INACTIVE'])
    const reader = await fixture.sibling(host, { scopes: ['age:read'] })
    const writer = await fixture.sibling(host, { scopes: ['age:write'] })
    const { token } = await host.create()
    for (const [who, method, url] of [
      [reader, 'POST', '/session'],
      [reader, 'POST', `/session/${token}/cancel`],
      [reader, 'DELETE', `/session/${token}`],
      [writer, 'GET', `/session/${token}`],
      [writer, 'GET', `/session/${token}/result`],
      [writer, 'GET', '/sessions'],
    ] as const) {
      const refused = await who.call(method, url, method === 'POST' ? LEAST : undefined)
      assert.deepEqual([refused.statusCode, refused.json().code], [403, 'SCOPE_DENIED'], `${method} ${url}`)
    }
    const elsewhere = await fixture.sibling(host, { allowedIps: ['192.0.2.0/24'] })
    const denied = await elsewhere.call('POST', '/session', LEAST)
    assert.deepEqual([denied.statusCode, denied.json().code], [403, 'ADDRESS_DENIED'])
    assert.equal((await host.call('GET', `/session/${token}`)).json().state, 'CREATED', 'nothing was done')
  })

  test('the management operations need a key; a token is not enough for them', async () => {
    const { token } = await host.create()
    for (const [method, url] of [
      ['GET', `/session/${token}`],
      ['POST', `/session/${token}/cancel`],
      ['DELETE', `/session/${token}`],
      ['GET', '/sessions'],
    ] as const) {
      const missing = await host.call(method, url, undefined, { 'x-api-key': undefined })
      assertError(missing, 401, 'MISSING_API_KEY', 'Missing API key')
    }
  })

  test('a plan has its rate: the creation that exceeds it gets the time of the next one in Retry-After', async () => {
    const metered = await fixture.newHost({ usagePlanId: 'standard' })
    for (let sent = 0; sent < 100; sent++) assert.equal((await metered.call('POST', '/session', LEAST)).statusCode, 201)
    const refused = await metered.call('POST', '/session', LEAST)
    assertError(refused, 429, 'RATE_LIMITED', 'Too many requests', { retryAfter: 1 })
    assert.equal(refused.headers['retry-after'], '1')
    assert.equal(refused.headers['ratelimit-policy'], '"age-create";q=100;w=10')
    fixture.harness.clock.advance(1_000)
    assert.equal((await metered.call('POST', '/session', LEAST)).statusCode, 201)
  })
})

describe('bodies', () => {
  test('a body of another type, of another charset or compressed is refused with 415, too large a body with 413', async () => {
    const json = { 'content-type': 'application/json' }
    for (const [payload, headers, message] of [
      [
        'ageThreshold=30',
        { 'content-type': 'application/x-www-form-urlencoded' },
        'This Content-Type is not supported here',
      ],
      [JSON.stringify(LEAST), { 'content-type': 'application/json; charset=utf-16' }, 'The body must be in UTF-8'],
      [JSON.stringify(LEAST), { ...json, 'content-encoding': 'gzip' }, 'Compressed bodies are not supported'],
    ] as const) {
      assertError(await host.call('POST', '/session', payload, headers), 415, 'UNSUPPORTED_MEDIA_TYPE', message)
    }
    const large = { ...LEAST, metadata: { text: 'x'.repeat(256 * 1024) } }
    assertError(await host.call('POST', '/session', large), 413, 'PAYLOAD_TOO_LARGE', 'The body is too large')
  })

  test('another method on a path of ours is refused with 405', async () => {
    const { token } = await host.create()
    const refused = await host.call('PUT', `/session/${token}/result`)
    assertError(refused, 405, 'METHOD_NOT_ALLOWED', 'This path does not take this method')
    assert.equal(refused.headers.allow, 'GET, HEAD')
  })
})

describe('Idempotency-Key', () => {
  const create = (who: Host, key: string, body: object = LEAST) =>
    who.call('POST', '/session', body, { 'idempotency-key': key })

  test('a repeated creation returns the session that the first one created, even if it has progressed since', async () => {
    const body = { ...LEAST, metadata: { order: 'repeat' } }
    const first = await create(host, 'order-1', body)
    assert.equal(first.headers['idempotency-replayed'], undefined)
    fixture.harness.clock.advance(5_000)
    const second = await create(host, 'order-1', body)
    assert.deepEqual([second.statusCode, second.headers['idempotency-replayed']], [201, 'true'])
    assert.deepEqual(second.json(), first.json())
    assert.equal(second.headers.location, first.headers.location)
    await host.outcome(first.json().sessionId)
    assert.deepEqual((await create(host, 'order-1', body)).json(), first.json())
    const listed = await host.call('GET', `/sessions?metadata=${encodeURIComponent('{"order":"repeat"}')}`)
    assert.equal(listed.json().count, 1)
  })

  test('the same key with another body is a conflict; with another tenant or mode it creates another session', async () => {
    const { sessionId } = (await create(host, 'order-2')).json()
    const mismatch = await create(host, 'order-2', { ...LEAST, ageThreshold: 31 })
    assertError(mismatch, 409, 'IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used with another request')
    const live = await fixture.sibling(host, { livemode: true })
    for (const other of [await fixture.newHost(), live]) {
      const created = await create(other, 'order-2')
      assert.deepEqual([created.statusCode, created.headers['idempotency-replayed']], [201, undefined])
      assert.notEqual(created.json().sessionId, sessionId)
    }
  })

  test('calls at the same moment create one session', async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => create(host, 'order-3')))
    assert.deepEqual(new Set(replies.map(({ statusCode }) => statusCode)), new Set([201]))
    assert.equal(new Set(replies.map((reply) => reply.json().token)).size, 1)
    assert.equal(replies.filter(({ headers }) => headers['idempotency-replayed'] === 'true').length, 7)
  })

  test('a refused creation does not use up the key; a session that was erased is gone', async () => {
    assert.equal((await create(host, 'order-4', { ...LEAST, ageThreshold: 0 })).statusCode, 400)
    const { token, sessionId } = (await create(host, 'order-4')).json()
    await host.outcome(sessionId)
    assert.equal((await host.call('DELETE', `/session/${token}`)).statusCode, 204)
    assertError(await create(host, 'order-4'), 410, 'GONE', 'The session is over and deleted')
    const bad = await create(host, 'x'.repeat(256))
    const details = [{ pointer: '/headers/idempotency-key', message: 'must be 1 to 255 printable characters' }]
    const message = `The request is not valid: ${details[0]?.pointer} ${details[0]?.message}`
    assertError(bad, 400, 'VALIDATION_FAILED', message, { details })
  })
})

describe('Authorization: Bearer', () => {
  /** The same API, except that it accepts a provider with http on this machine. */
  let app: FastifyInstance
  let settings: Settings
  let provider: IdentityProvider
  before(async () => {
    const { wire } = fixture.harness
    const { cells, clock, log } = wire.platform
    const outbound = createOutbound({ version: '9.9.9', allowNetworks: ['127.0.0.1/32'], allowHttp: true })
    settings = createSettings({ cells, clock, log, checkUrl: outbound.check })
    const tokens = createTokenVerifier({ outbound, clock, log, settings })
    const deps = { ...wire, settings: { ...wire.settings, tokens }, launchUrl: wire.config.launch.url }
    // A second room in one process needs metrics of its own: a registry takes each name once.
    const metrics = createMetrics('9.9.9', { processMetrics: false })
    app = buildApp({ ...wire, age: createAgeRoom({ ...wire.platform, metrics }, deps) })
    await app.ready()
    provider = await createIdentityProvider(() => Math.floor(clock.now().getTime() / 1000))
  })
  after(async () => {
    await app.close()
    await provider.stop()
  })

  async function hostWith(issuers: TenantIssuerInput[]): Promise<Host> {
    const made = await fixture.newHost()
    await settings.set(made.tenantId, { issuers })
    return made
  }
  const create = ({ key }: Host, authorization?: string, payload: object = LEAST) =>
    app.inject({
      method: 'POST',
      url: '/session',
      payload,
      headers: { 'x-api-key': key, ...(authorization !== undefined && { authorization }) },
    })

  test('[C-055] creation works without a JWT, and with one only from a provider that the tenant has configured', async () => {
    const bearer = `Bearer ${await provider.sign()}`
    assert.equal((await create(host)).statusCode, 201)
    assertError(await create(host, bearer), 401, 'INVALID_TOKEN', 'Invalid bearer token')
    const configured = await hostWith([provider.settings])
    const created = await create(configured, bearer)
    assert.equal(created.statusCode, 201, created.body)
    assert.deepEqual(await configured.result(created.json().token), openBody(created.json()))
    assert.equal((await create(configured)).statusCode, 201, 'it stays optional')
    for (const wrong of [
      `Bearer ${await provider.sign({ exp: 1 })}`,
      `Bearer ${await provider.sign({ aud: 'another' })}`,
      `Bearer ${await provider.sign({ iss: 'https://stranger.example' })}`,
      `${bearer}x`,
      'Bearer nonsense',
      'Basic dXNlcjpwYXNz',
    ]) {
      assertError(await create(configured, wrong), 401, 'INVALID_TOKEN', 'Invalid bearer token')
    }
    const keyless = await app.inject({
      method: 'POST',
      url: '/session',
      payload: LEAST,
      headers: { authorization: bearer },
    })
    assertError(keyless, 401, 'MISSING_API_KEY', 'Missing API key')
  })

  test('the metadata has a hash of the subject when the tenant asked for it, and the subject itself is nowhere', async () => {
    const configured = await hostWith([{ ...provider.settings, subjectToMetadata: true }])
    const metadataFor = async (sub: string) => {
      const created = await create(configured, `Bearer ${await provider.sign({ sub })}`, {
        ...LEAST,
        metadata: { order: 'B-1' },
      })
      return (await configured.result(created.json().token)).metadata
    }
    const [one, again] = [await metadataFor('user-1'), await metadataFor('user-1')]
    assert.deepEqual(one, { order: 'B-1', subjectHash: one.subjectHash })
    assert.match(String(one.subjectHash), /^[A-Za-z0-9_-]{43}$/)
    assert.deepEqual(again, one)
    assert.notEqual((await metadataFor('user-2')).subjectHash, one.subjectHash)
    const filter = encodeURIComponent(JSON.stringify({ subjectHash: one.subjectHash }))
    assert.equal((await configured.call('GET', `/sessions?metadata=${filter}`)).json().count, 2)
  })
})
