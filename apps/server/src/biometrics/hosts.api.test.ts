/** Area E at the host names of two tenants, and what is not served there. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { OPERATIONS } from '@ostiary/contract'
import { formatApiKey } from '@ostiary/crypto'
import type { InjectOptions } from 'fastify'
import { assertError, createHarness } from '../testing/harness.ts'
import { CHECK, type Client, createClient, createFaces, feature, PATHS } from './testing/faces.ts'

const ONE = 'one.node.example'
const TWO = 'two.node.example'
const PROXY = '192.0.2.10'
const REJECTED = [403, { status: -1, message: 'Failed to check api key' }]
const MISSING = [400, { status: -1, message: 'Missing api key' }]
const faces = createFaces(23)
/** Area E of two tenants with a host name each; scopes let them use the other areas too. */
const harness = await createHarness({ TRUST_PROXY: PROXY })
const scopes = ['node:*', 'strings:rw', 'age:write', 'age:read', 'sanctions:run']
const [first, second] = [await harness.tenantWithKey({ scopes }), await harness.tenantWithKey({ scopes })]
const one = createClient(harness, first.key)
const two = createClient(harness, second.key)
const tenantOne = first.tenantId
await harness.wire.keys.hosts.add(first.tenantId, ONE)
await harness.wire.keys.hosts.add(second.tenantId, TWO)
await harness.wire.keys.hostMap.refresh()

/** A body with which each endpoint does its work for this client, without the key. */
async function working(path: string, by: Client): Promise<object> {
  if (path === CHECK) return {}
  if (path.startsWith('plain')) return { features: feature(faces.person()) }
  if (path.endsWith('enroll')) return { features: await by.sealed('enroll', [faces.person('FACE3_1')]) }
  if (path.endsWith('predict')) return { features: await by.sealed('predict', [faces.person('FACE3_1')]) }
  const { body } = await by.post('enroll', { features: await by.sealed('enroll', [faces.person('FACE3_1')]) })
  return { puid: body.puid }
}

/** A prediction: many wrong keys at the key check would be counted as guesses. */
const predictStatus = async (key: string, headers: Record<string, string>, remoteAddress = '127.0.0.1') =>
  (
    await harness.inject({
      method: 'POST',
      url: '/node/plainPredict',
      headers: { 'x-api-key': key, ...headers },
      payload: { features: feature(faces.person()) },
      remoteAddress,
    })
  ).statusCode

describe('area E at a tenant’s own host name', () => {
  test('[E-001] serves this tenant’s keys on all six endpoints, in header or body', async () => {
    for (const [host, client] of [
      [ONE, one],
      [TWO, two],
    ] as const) {
      for (const path of PATHS) {
        const inHeader = await client.post(path, await working(path, client), { 'x-api-key': client.key, host })
        assert.equal(inHeader.http, 200, `${path} ${JSON.stringify(inHeader.body)}`)
        const inBody = await client.post(path, { api_key: client.key, ...(await working(path, client)) }, { host })
        assert.equal(inBody.http, 200, `${path} ${JSON.stringify(inBody.body)}`)
      }
    }
  })

  test('[E-001] refuses every other key alike: of another tenant, unknown, malformed, of no scope', async () => {
    const scopeless = (
      await harness.wire.keys.service.createKey(tenantOne, {
        livemode: false,
        name: 'other',
        scopes: ['strings:rw'],
        allowedIps: [],
      })
    ).api_key
    const unknown = formatApiKey({ livemode: false, bucket: 1 }, randomBytes(32))
    for (const path of PATHS) {
      const body = await working(path, two)
      for (const key of [two.key, unknown, 'no key', scopeless]) {
        const inHeader = await one.post(path, body, { 'x-api-key': key, host: ONE })
        assert.deepEqual([inHeader.http, inHeader.body], REJECTED)
        const inBody = await one.post(path, { api_key: key, ...body }, { host: ONE })
        assert.deepEqual([inBody.http, inBody.body], REJECTED)
        for (const header of ['ratelimit', 'ratelimit-policy']) assert.equal(inHeader.headers[header], undefined)
      }
      const both = await one.post(path, { api_key: one.key, ...body }, { 'x-api-key': two.key, host: ONE })
      assert.deepEqual([both.http, both.body], REJECTED)
      const none = await one.post(path, {}, { host: ONE })
      assert.deepEqual([none.http, none.body], MISSING)
    }
  })

  test('a key of another tenant that was not used before is refused too, when it is looked up', async () => {
    for (const host of [ONE, TWO]) {
      const { key } = await harness.tenantWithKey({ scopes: ['node:*'] })
      assert.equal(await predictStatus(key, { host }), 403)
      assert.equal(await predictStatus(key, { host: 'other.example' }), 200)
    }
  })

  test('a refused enrolment stores nothing', async () => {
    const count = async () => (await harness.database.query('select count(*)::int as n from face_persons')).rows[0].n
    const before = await count()
    await two.post('plainEnroll', { features: feature(faces.person()) }, { 'x-api-key': two.key, host: ONE })
    assert.equal(await count(), before)
  })

  test('unknown paths and other methods under /node keep the answers of area E', async () => {
    const headers = { host: ONE, 'x-api-key': one.key }
    const unknown = await harness.inject({ method: 'POST', url: '/node/nothing', headers })
    const expected = { status: 400, message: 'There is nothing at this path' }
    assert.deepEqual([unknown.statusCode, unknown.json()], [404, expected])
    const get = await harness.inject({ method: 'GET', url: '/node/plainEnroll', headers })
    assert.deepEqual([get.statusCode, get.headers.allow], [405, 'POST'])
  })
})

describe('other areas at a tenant’s own host name', () => {
  const refused = async (options: InjectOptions) => {
    const response = await harness.inject({ ...options, headers: { host: ONE, ...options.headers } })
    if (options.method === 'HEAD') assert.equal(response.statusCode, 404)
    else assertError(response, 404, 'NOT_FOUND', 'There is nothing at this path')
  }

  test('[E-001] none of their operations is there, whatever the key', async () => {
    const others = Object.values(OPERATIONS).filter(({ area }) => area !== 'E')
    assert.ok(others.length > 30, `${others.length} operations`)
    for (const { method, path } of others) {
      const url = path.replace(/:[A-Za-z]+/g, 'x')
      for (const headers of [{}, { 'x-api-key': one.key }, { 'x-api-key': two.key }, { 'x-api-key': 'wrong' }]) {
        await refused({ method, url, headers })
      }
    }
  })

  test('[E-001] nor descriptor, health, probes, documents, launch page, versioned paths or unknown ones, by any method', async () => {
    const urls = [
      ...['/', '/?x=1', '/health', '/livez', '/readyz', '/openapi.json', '/reference', '/metrics'],
      ...['/strings', '/v1/strings', '/session', '/v1/session', '/v2/locales', '/v2/verification-session'],
      ...[
        '/v2/open-sanctions/file/demo',
        '/oauth/token',
        '/test/sessions/x/outcome',
        '/nothing',
        '/nodes',
        '/node.json',
      ],
      ...['/launch', '/launch/', '/launch/index.html', '/launch/digest.txt', '/launch/api/open', '/favicon.ico'],
      ...['/.well-known/ostiary-webhook-keys/x.json', '//strings', '/NODE/plainEnroll', '/%6eode/plainEnroll'],
    ]
    for (const url of urls) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'] as const) await refused({ method, url })
    }
  })

  test('a path that begins with /node leads nowhere else', async () => {
    for (const url of [
      '/node/../strings',
      '/node/..%2fstrings',
      '/node%2f..%2fstrings',
      '/node/./../',
      '/node?/strings',
    ]) {
      const response = await harness.inject({ method: 'GET', url, headers: { host: ONE } })
      assert.ok([404, 405].includes(response.statusCode), `${url}: ${response.statusCode}`)
    }
  })

  test('the full form of a request’s target changes nothing', async () => {
    const address = new URL(await harness.app.listen({ port: 0, host: '127.0.0.1' }))
    const firstLine = async (target: string, host: string) => {
      const socket = connect(Number(address.port), address.hostname)
      socket.end(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      let answer = ''
      for await (const chunk of socket) answer += String(chunk)
      return answer.split('\r\n', 1)[0]
    }
    assert.match((await firstLine('/', ONE)) ?? '', / 404 /)
    assert.match((await firstLine(`http://${ONE}/`, ONE)) ?? '', / 404 /)
    assert.match((await firstLine('http://other.example/strings', ONE)) ?? '', / 404 /)
    assert.match(
      (await firstLine(`http://${ONE}/`, 'other.example')) ?? '',
      / 404 /,
      'the first line names a host, too',
    )
    assert.match((await firstLine(`http://${ONE}:80/health`, 'other.example')) ?? '', / 404 /)
    assert.match((await firstLine('/', 'other.example')) ?? '', / 200 /)
  })
})

describe('which name counts', () => {
  const statusOf = async (headers: Record<string, string>, remoteAddress = '127.0.0.1') =>
    (await harness.inject({ url: '/', headers, remoteAddress })).statusCode

  test('capitals, a port and the dot of the root make no difference', async () => {
    for (const host of [ONE.toUpperCase(), `${ONE}:8443`, `${ONE}.`, `One.Node.EXAMPLE.:443`]) {
      assert.equal(await statusOf({ host }), 404, host)
      assert.deepEqual(
        [await predictStatus(one.key, { host }), await predictStatus(two.key, { host })],
        [200, 403],
        host,
      )
    }
    for (const host of [`x.${ONE}`, 'node.example', `${ONE}.evil.example`, '127.0.0.1:8080', '[::1]:8080', '']) {
      assert.equal(await statusOf({ host }), 200, host)
      assert.deepEqual(
        [await predictStatus(one.key, { host }), await predictStatus(two.key, { host })],
        [200, 200],
        host,
      )
    }
  })

  test('X-Forwarded-Host counts from a peer that TRUST_PROXY names', async () => {
    const headers = { host: 'inner.example', 'x-forwarded-host': ONE }
    assert.equal(await statusOf(headers, PROXY), 404)
    assert.equal(await predictStatus(one.key, headers, PROXY), 200)
    assert.equal(await predictStatus(two.key, headers, PROXY), 403)
    assert.equal(await statusOf({ host: 'inner.example', 'x-forwarded-host': `${ONE.toUpperCase()}:443` }, PROXY), 404)
    assert.equal(await statusOf({ host: 'inner.example', 'x-forwarded-host': `evil.example, ${ONE}` }, PROXY), 404)
    assert.equal(await statusOf({ host: ONE, 'x-forwarded-host': 'other.example' }, PROXY), 200, 'the proxy decides')
    assert.equal(await statusOf({ host: ONE }, PROXY), 404, 'without it the Host header counts')
  })

  test('X-Forwarded-Host of any other peer is ignored', async () => {
    for (const peer of ['127.0.0.1', '192.0.2.11', '203.0.113.5']) {
      assert.equal(await statusOf({ host: 'other.example', 'x-forwarded-host': ONE }, peer), 200)
      assert.equal(await predictStatus(two.key, { host: 'other.example', 'x-forwarded-host': ONE }, peer), 200)
      assert.equal(await statusOf({ host: ONE, 'x-forwarded-host': 'other.example' }, peer), 404)
      assert.equal(await predictStatus(two.key, { host: ONE, 'x-forwarded-host': TWO }, peer), 403)
    }
  })

  test('other names serve everything to everybody', async () => {
    const { statusCode } = await harness.inject({
      method: 'POST',
      url: '/strings',
      headers: { host: 'other.example', 'x-api-key': two.key },
      payload: { value: 'x' },
    })
    assert.equal(statusCode, 201)
  })
})

test('an installation without bound names serves everything at every name, as before', async () => {
  const plain = await createHarness()
  const { key } = await plain.tenantWithKey({ scopes: ['node:*', 'strings:rw'] })
  const client = createClient(plain, key)
  for (const host of [ONE, `${TWO}:8443`, '127.0.0.1', '']) {
    for (const url of ['/', '/livez', '/readyz', '/health', '/openapi.json']) {
      assert.equal((await plain.inject({ url, headers: { host } })).statusCode, 200, `${host} ${url}`)
    }
    assert.equal((await client.post(CHECK, {}, { 'x-api-key': key, host })).http, 200)
    const wrong = await client.post(CHECK, {}, { 'x-api-key': 'wrong', host })
    assert.deepEqual([wrong.http, wrong.body], REJECTED)
  }
})
