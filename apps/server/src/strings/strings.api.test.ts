import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { bucketOf } from '../platform/ids.ts'
import { createHarness, type Harness } from '../testing/harness.ts'

let harness: Harness
let key: string
let tenantId: string
const NOW = '2026-11-15T12:00:00.000Z'
const UNKNOWN_ID = '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa'

before(async () => {
  harness = await createHarness()
  ;({ key, tenantId } = await harness.tenantWithKey())
})
after(() => harness.close())

const withKey = (more: Record<string, string> = {}) => ({ 'x-api-key': key, ...more })

function create(payload: unknown, headers: Record<string, string> = withKey()): Promise<LightMyRequestResponse> {
  return harness.inject({ method: 'POST', url: '/strings', headers, payload: payload as object })
}

function assertError(
  response: LightMyRequestResponse,
  statusCode: number,
  code: string,
  message: string,
  more: object = {},
): void {
  assert.deepEqual(response.json(), { statusCode, message, code, requestId: response.headers['x-request-id'], ...more })
  assert.equal(response.statusCode, statusCode)
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
}

describe('GET /', () => {
  test('200: the descriptor, also at its well-known place', async () => {
    for (const url of ['/', '/.well-known/service.json']) {
      const response = await harness.inject(url)
      assert.equal(response.statusCode, 200)
      assert.deepEqual(response.json(), {
        service: 'ostiary',
        version: '0.1.0',
        endpoints: {
          health: 'GET /health',
          createString: 'POST /strings',
          listStrings: 'GET /strings',
          getString: 'GET /strings/:id',
          deleteString: 'DELETE /strings/:id',
        },
      })
    }
  })
})

describe('GET / and GET /health', () => {
  test('the same under /v1', async () => {
    assert.deepEqual((await harness.inject('/v1')).json(), (await harness.inject('/')).json())
    assert.equal((await harness.inject('/v1/health')).statusCode, 200)
  })

  test('401: a wrong key, though none is needed; a right one is fine', async () => {
    for (const url of ['/', '/health', '/v1/health', '/.well-known/service.json']) {
      assertError(
        await harness.inject({ url, headers: { 'x-api-key': 'wrong' } }),
        401,
        'INVALID_API_KEY',
        'Invalid API key',
      )
      assert.equal((await harness.inject({ url, headers: withKey() })).statusCode, 200)
    }
  })
})

describe('GET /health', () => {
  test('200: everything works', async () => {
    const response = await harness.inject('/health')
    assert.equal(response.statusCode, 200)
    assert.deepEqual(response.json(), {
      status: 'ok',
      service: 'ostiary',
      version: '0.1.0',
      uptimeSeconds: 0,
      checks: { store: 'ok' },
    })
  })

  test('503: the store is away, and the process state says so too', async () => {
    const broken = await createHarness()
    await broken.wire.cells.close()
    const health = await broken.inject('/health')
    assert.equal(health.statusCode, 503)
    assert.deepEqual(health.json(), {
      status: 'degraded',
      service: 'ostiary',
      version: '0.1.0',
      uptimeSeconds: 0,
      checks: { store: 'failed' },
    })
    const ready = await broken.inject('/readyz')
    assert.deepEqual([ready.statusCode, ready.json()], [503, { status: 'degraded' }])
    const keyed = await broken.inject({ url: '/health', headers: { 'x-api-key': key } })
    assert.equal(keyed.json().status, 'degraded', 'a key that cannot be checked now does not hide the state')
    const live = await broken.inject('/livez')
    assert.deepEqual([live.statusCode, live.json()], [200, { status: 'ok' }])
    await broken.app.close()
    await broken.database.drop()
  })
})

describe('POST /strings', () => {
  test('201: a JSON body makes a record with its place, and the id carries the tenant’s bucket', async () => {
    const response = await create({ value: 'Grüße, 世界 😀' })
    assert.equal(response.statusCode, 201)
    const { id } = response.json()
    assert.deepEqual(response.json(), {
      id,
      value: 'Grüße, 世界 😀',
      length: 11,
      createdAt: NOW,
      updatedAt: NOW,
      livemode: false,
    })
    assert.equal(response.headers.location, `/strings/${id}`)
    assert.equal(bucketOf(id), bucketOf(tenantId))
  })

  test('201: value, metadata and ttlSeconds come back exactly as given', async () => {
    const metadata = { zeta: 1, alpha: { nested: [true, null, 1.5, 'ü'] }, '': 'empty key', 'line\nbreak': 1 }
    const value = '  leading and trailing \r\n\t\u{1f468}‍\u{1f469} '
    const response = await create({ value, metadata, ttlSeconds: 60 })
    const record = response.json()
    assert.deepEqual(record, {
      id: record.id,
      value,
      length: [...value].length,
      createdAt: NOW,
      updatedAt: NOW,
      expiresAt: '2026-11-15T12:01:00.000Z',
      metadata,
      livemode: false,
    })
    const read = await harness.inject({ url: `/strings/${record.id}`, headers: withKey() })
    assert.deepEqual(read.json(), record)
    assert.equal(read.body.slice(read.body.indexOf('"metadata"')), `"metadata":${JSON.stringify(metadata)}}`)
  })

  test('201: a text/plain body is the value', async () => {
    const response = await create('{"value":"not parsed"}', withKey({ 'content-type': 'text/plain; charset=utf-8' }))
    const { id } = response.json()
    assert.deepEqual(
      [response.statusCode, response.json()],
      [201, { id, value: '{"value":"not parsed"}', length: 22, createdAt: NOW, updatedAt: NOW, livemode: false }],
    )
  })

  test('201: the largest value is taken, one byte more is not', async () => {
    const largest = 'é'.repeat(32 * 1024)
    assert.equal((await create({ value: largest })).json().length, 32 * 1024)
    assertError(
      await create({ value: `${largest}x` }),
      400,
      'VALIDATION_FAILED',
      'The request is not valid: /body/value must have at most 65536 bytes in UTF-8',
      {
        details: [{ pointer: '/body/value', message: 'must have at most 65536 bytes in UTF-8' }],
      },
    )
  })

  test('201: the same under /v1, with its own Location', async () => {
    const response = await harness.inject({
      method: 'POST',
      url: '/v1/strings',
      headers: withKey(),
      payload: { value: 'v1' },
    })
    const record = response.json()
    assert.equal(response.headers.location, `/v1/strings/${record.id}`)
    assert.deepEqual((await harness.inject({ url: `/strings/${record.id}`, headers: withKey() })).json(), record)
  })

  test('400: what is wrong is named, all of it at once, without repeating it', async () => {
    const response = await create({ valeu: 'typo', ttlSeconds: 0, metadata: [] })
    assertError(response, 400, 'VALIDATION_FAILED', 'The request is not valid: /body/value is required', {
      details: [
        { pointer: '/body/value', message: 'is required' },
        { pointer: '/body/valeu', message: 'is not a known field' },
        { pointer: '/body/metadata', message: 'must be object' },
        { pointer: '/body/ttlSeconds', message: 'must be >= 1' },
      ],
    })
  })

  test('400: types are not bent: a number is no string', async () => {
    for (const value of [5, null, true, ['x'], { a: 1 }]) {
      assertError(
        await create({ value }),
        400,
        'VALIDATION_FAILED',
        'The request is not valid: /body/value must be string',
        {
          details: [{ pointer: '/body/value', message: 'must be string' }],
        },
      )
    }
  })

  test('400: an empty value', async () => {
    assertError(
      await create({ value: '' }),
      400,
      'VALIDATION_FAILED',
      'The request is not valid: /body/value must not have fewer than 1 characters',
      { details: [{ pointer: '/body/value', message: 'must not have fewer than 1 characters' }] },
    )
  })

  test('400: no body at all, or an empty one of any type', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }, { 'content-type': 'text/plain' }]) {
      const response = await harness.inject({ method: 'POST', url: '/strings', headers: withKey(headers) })
      assertError(response, 400, 'VALIDATION_FAILED', 'The request is not valid: /body is required', {
        details: [{ pointer: '/body', message: 'is required' }],
      })
    }
  })

  test('400: NUL and half surrogate pairs, in value, metadata and text', async () => {
    const json = withKey({ 'content-type': 'application/json' })
    for (const body of [
      '{"value":"a\\u0000b"}',
      '{"value":"\\ud800"}',
      '{"value":"x","metadata":{"k":"\\u0000"}}',
      '{"value":"x","metadata":{"\\udc00":1}}',
    ]) {
      assertError(
        await create(body, json),
        400,
        'INVALID_JSON',
        'The body holds a NUL character or half of a surrogate pair',
      )
    }
    assertError(
      await create('a\0b', withKey({ 'content-type': 'text/plain' })),
      400,
      'VALIDATION_FAILED',
      'The request is not valid: /body/value must not hold NUL characters',
      {
        details: [{ pointer: '/body/value', message: 'must not hold NUL characters' }],
      },
    )
  })

  test('400: metadata that is too large or too deep', async () => {
    assertError(
      await create({ value: 'x', metadata: { big: 'x'.repeat(8192) } }),
      400,
      'VALIDATION_FAILED',
      'The request is not valid: /body/metadata must have at most 8192 bytes as JSON',
      {
        details: [{ pointer: '/body/metadata', message: 'must have at most 8192 bytes as JSON' }],
      },
    )
    const deep = `{"value":"x","metadata":{"a":${'['.repeat(40)}${']'.repeat(40)}}}`
    assertError(
      await create(deep, withKey({ 'content-type': 'application/json' })),
      400,
      'INVALID_JSON',
      'The body is nested deeper than 32 levels',
    )
  })

  test('400: not JSON, and not UTF-8', async () => {
    const json = withKey({ 'content-type': 'application/json' })
    assertError(await create('{"value":', json), 400, 'INVALID_JSON', 'The body is not valid JSON')
    assertError(
      await create(Buffer.from('7b2276616c7565223a22ff227d', 'hex'), json),
      400,
      'INVALID_JSON',
      'The body is not valid UTF-8',
    )
    assertError(
      await create('{"value":"x","metadata":{"__proto__":{"a":1}}}', json),
      400,
      'INVALID_JSON',
      'The body uses a reserved key',
    )
  })

  test('401: a wrong key, even though none is needed', async () => {
    for (const wrong of ['nonsense', `${key}x`, key.replace('ost_test_', 'ost_live_'), 'x'.repeat(300)]) {
      assertError(await create({ value: 'x' }, { 'x-api-key': wrong }), 401, 'INVALID_API_KEY', 'Invalid API key')
    }
  })

  test('403: a revoked key, and a key without the scope', async () => {
    const revoked = await harness.tenantWithKey()
    await harness.wire.keys.revokeKey(revoked.record.id)
    assertError(
      await create({ value: 'x' }, { 'x-api-key': revoked.key }),
      403,
      'KEY_INACTIVE',
      'This API key is not active',
    )
    const other = await harness.tenantWithKey({ scopes: ['age:read'] })
    assertError(
      await create({ value: 'x' }, { 'x-api-key': other.key }),
      403,
      'SCOPE_DENIED',
      'This API key lacks the scope strings:rw',
    )
  })

  test('413: a body over 256 KB', async () => {
    const response = await create({ value: 'x', metadata: { a: 'x'.repeat(256 * 1024) } })
    assertError(response, 413, 'PAYLOAD_TOO_LARGE', 'The body is too large')
    assert.equal(response.headers.connection, 'close')
  })

  test('415: other types, charsets and compressed bodies', async () => {
    assertError(
      await create('a=b', withKey({ 'content-type': 'application/x-www-form-urlencoded' })),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'This Content-Type is not supported here',
    )
    assertError(
      await create('{}', withKey({ 'content-type': 'application/json; charset=utf-16' })),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'The body must be in UTF-8',
    )
    assertError(
      await create('{}', withKey({ 'content-type': 'application/json', 'content-encoding': 'gzip' })),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      'Compressed bodies are not supported',
    )
  })

  test('503: the store is away', async () => {
    const broken = await createHarness()
    await broken.wire.cells.close()
    const response = await broken.inject({ method: 'POST', url: '/strings', payload: { value: 'x' } })
    assertError(response, 503, 'DEPENDENCY_DOWN', 'The store is out of reach, try again')
    await broken.app.close()
    await broken.database.drop()
  })
})

describe('GET /strings', () => {
  test('200: pages are complete and without repeats, in both orders, while records come and go', async () => {
    const mine = await harness.tenantWithKey()
    const headers = { 'x-api-key': mine.key }
    const ids: string[] = []
    for (let i = 0; i < 25; i++) ids.push((await create({ value: `v${i}` }, headers)).json().id)
    for (const order of ['asc', 'desc']) {
      const seen: string[] = []
      let cursor: string | null = null
      do {
        const url: string = `/strings?limit=10&order=${order}${cursor ? `&cursor=${cursor}` : ''}`
        const page: { items: { id: string }[]; count: number; nextCursor: string | null } = (
          await harness.inject({ url, headers })
        ).json()
        assert.deepEqual(Object.keys(page), ['items', 'count', 'nextCursor'])
        assert.equal(page.count, page.items.length)
        seen.push(...page.items.map((item) => item.id))
        cursor = page.nextCursor
      } while (cursor)
      assert.deepEqual(seen, order === 'asc' ? ids : ids.toReversed())
    }
    const first = (await harness.inject({ url: '/strings?limit=10', headers })).json()
    await create({ value: 'added meanwhile' }, headers)
    await harness.inject({ method: 'DELETE', url: `/strings/${ids[24]}`, headers })
    const second = (await harness.inject({ url: `/strings?cursor=${first.nextCursor}`, headers })).json()
    assert.deepEqual(
      second.items.map((item: { id: string }) => item.id),
      ids.slice(0, 15).toReversed(),
    )
    assert.equal(second.nextCursor, null)
  })

  test('200: a page ends at 1 MB too, and the pages together are complete', async () => {
    const mine = await harness.tenantWithKey()
    const headers = { 'x-api-key': mine.key }
    for (let i = 0; i < 40; i++) await create({ value: 'x'.repeat(60_000) }, headers)
    const sizes: number[] = []
    let cursor: string | null = null
    do {
      const response = await harness.inject({ url: `/strings?limit=200${cursor ? `&cursor=${cursor}` : ''}`, headers })
      assert.ok(response.body.length < 1_200_000, `${response.body.length} bytes`)
      const page: { count: number; nextCursor: string | null } = response.json()
      sizes.push(page.count)
      cursor = page.nextCursor
    } while (cursor)
    assert.deepEqual(sizes, [18, 18, 4])
  })

  test('200: an empty list', async () => {
    const fresh = await harness.tenantWithKey()
    const response = await harness.inject({ url: '/strings', headers: { 'x-api-key': fresh.key } })
    assert.deepEqual([response.statusCode, response.json()], [200, { items: [], count: 0, nextCursor: null }])
  })

  test('400: limits, orders, cursors and names that do not exist', async () => {
    const cases: [string, string, string][] = [
      ['limit=0', '/query/limit', 'must be >= 1'],
      ['limit=201', '/query/limit', 'must be <= 200'],
      ['limit=ten', '/query/limit', 'must be integer'],
      ['limit=true', '/query/limit', 'must be integer'],
      ['limit=0x5', '/query/limit', 'must be integer'],
      ['limit=', '/query/limit', 'must be integer'],
      ['limit=1&limit=2', '/query/limit', 'must be integer'],
      ['order=up', '/query/order', 'has none of the allowed values'],
      ['cursor=abc', '/query/cursor', 'is not a cursor from an earlier page'],
      [
        `cursor=${Buffer.from(`asc:${UNKNOWN_ID}`).toString('base64url')}&order=desc`,
        '/query/order',
        'is not the order of this cursor',
      ],
      ['page=2', '/query/page', 'is not a known field'],
    ]
    for (const [query, pointer, message] of cases) {
      const response = await harness.inject({ url: `/strings?${query}`, headers: withKey() })
      assertError(response, 400, 'VALIDATION_FAILED', `The request is not valid: ${pointer} ${message}`, {
        details: [{ pointer, message }],
      })
    }
  })

  test('401: a wrong key', async () => {
    assertError(
      await harness.inject({ url: '/strings', headers: { 'x-api-key': 'wrong' } }),
      401,
      'INVALID_API_KEY',
      'Invalid API key',
    )
  })
})

describe('GET /strings/:id', () => {
  test('200: the record', async () => {
    const record = (await create({ value: 'one' })).json()
    const response = await harness.inject({ url: `/strings/${record.id}`, headers: withKey() })
    assert.deepEqual([response.statusCode, response.json()], [200, record])
  })

  test('401: a wrong key', async () => {
    assertError(
      await harness.inject({ url: `/strings/${UNKNOWN_ID}`, headers: { 'x-api-key': 'wrong' } }),
      401,
      'INVALID_API_KEY',
      'Invalid API key',
    )
  })

  test('404: unknown, malformed and over-long ids answer alike', async () => {
    for (const id of [
      UNKNOWN_ID,
      'x',
      '1',
      "'; drop table strings; --",
      '%00',
      '019F1C2E-7A40-7B3C-8F00-5D2B9C41E6AA',
      'ü',
      'a'.repeat(200),
    ]) {
      assertError(
        await harness.inject({ url: `/strings/${encodeURIComponent(id)}`, headers: withKey() }),
        404,
        'NOT_FOUND',
        'There is no string with this id',
      )
    }
    assertError(
      await harness.inject({ url: `/strings/${'a'.repeat(300)}`, headers: withKey() }),
      404,
      'NOT_FOUND',
      'There is nothing at this path',
    )
  })

  test('404: a record disappears when its ttlSeconds have passed, and can no longer be listed or deleted', async () => {
    const local = await createHarness()
    const headers = { 'x-api-key': (await local.tenantWithKey()).key }
    const { id } = (
      await local.inject({ method: 'POST', url: '/strings', headers, payload: { value: 'short', ttlSeconds: 2 } })
    ).json()
    local.clock.advance(1_999)
    assert.equal((await local.inject({ url: `/strings/${id}`, headers })).statusCode, 200)
    local.clock.advance(1)
    assertError(
      await local.inject({ url: `/strings/${id}`, headers }),
      404,
      'NOT_FOUND',
      'There is no string with this id',
    )
    assert.equal((await local.inject({ method: 'DELETE', url: `/strings/${id}`, headers })).statusCode, 404)
    assert.equal((await local.inject({ url: '/strings', headers })).json().count, 0)
    await local.close()
  })
})

describe('DELETE /strings/:id', () => {
  test('204: gone afterwards; a second delete is 404', async () => {
    const { id } = (await create({ value: 'bye' })).json()
    const response = await harness.inject({ method: 'DELETE', url: `/strings/${id}`, headers: withKey() })
    assert.deepEqual([response.statusCode, response.body], [204, ''])
    assertError(
      await harness.inject({ method: 'DELETE', url: `/strings/${id}`, headers: withKey() }),
      404,
      'NOT_FOUND',
      'There is no string with this id',
    )
    assertError(
      await harness.inject({ url: `/strings/${id}`, headers: withKey() }),
      404,
      'NOT_FOUND',
      'There is no string with this id',
    )
  })

  test('204: a client may name a type for a body that it does not send', async () => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
      const { id } = (await create({ value: 'bye' })).json()
      const response = await harness.inject({
        method: 'DELETE',
        url: `/strings/${id}`,
        headers: withKey({ 'content-type': type }),
      })
      assert.equal(response.statusCode, 204, type)
    }
  })

  test('401: a wrong key', async () => {
    assertError(
      await harness.inject({ method: 'DELETE', url: `/strings/${UNKNOWN_ID}`, headers: { 'x-api-key': 'wrong' } }),
      401,
      'INVALID_API_KEY',
      'Invalid API key',
    )
  })

  test('404: malformed ids', async () => {
    assertError(
      await harness.inject({ method: 'DELETE', url: '/strings/none', headers: withKey() }),
      404,
      'NOT_FOUND',
      'There is no string with this id',
    )
  })
})

describe('who sees what', () => {
  test('no tenant reads, lists or deletes another’s record, in any mode', async () => {
    const owner = await harness.tenantWithKey()
    const record = (await create({ value: 'mine' }, { 'x-api-key': owner.key })).json()
    const stranger = await harness.tenantWithKey()
    const live = await harness.wire.keys.createKey(owner.tenantId, {
      livemode: true,
      name: 'live',
      scopes: ['strings:rw'],
      allowedIps: [],
    })
    const others: Record<string, string>[] = [{ 'x-api-key': stranger.key }, { 'x-api-key': live.api_key }, {}]
    for (const headers of others) {
      for (const prefix of ['', '/v1']) {
        assertError(
          await harness.inject({ url: `${prefix}/strings/${record.id}`, headers }),
          404,
          'NOT_FOUND',
          'There is no string with this id',
        )
        assertError(
          await harness.inject({ method: 'DELETE', url: `${prefix}/strings/${record.id}`, headers }),
          404,
          'NOT_FOUND',
          'There is no string with this id',
        )
        const { items } = (await harness.inject({ url: `${prefix}/strings`, headers })).json()
        assert.ok(!items.some((item: { id: string }) => item.id === record.id))
      }
    }
    assert.equal(
      (await harness.inject({ url: `/strings/${record.id}`, headers: { 'x-api-key': owner.key } })).statusCode,
      200,
    )
  })

  test('a live key makes live records', async () => {
    const { key: liveKey } = await harness.tenantWithKey({ livemode: true })
    assert.equal((await create({ value: 'real' }, { 'x-api-key': liveKey })).json().livemode, true)
  })

  test('with AUTH_REQUIRED_AREAS=A every string route needs a key; descriptor and health do not', async () => {
    const closed = await createHarness({ AUTH_REQUIRED_AREAS: 'A' })
    for (const [method, url] of [
      ['POST', '/strings'],
      ['GET', '/strings'],
      ['GET', `/strings/${UNKNOWN_ID}`],
      ['DELETE', `/strings/${UNKNOWN_ID}`],
      ['GET', '/v1/strings'],
    ] as const) {
      assertError(await closed.inject({ method, url }), 401, 'MISSING_API_KEY', 'Missing API key')
    }
    const { key: goodKey } = await closed.tenantWithKey()
    assert.equal((await closed.inject({ url: '/strings', headers: { 'x-api-key': goodKey } })).statusCode, 200)
    assert.equal((await closed.inject('/')).statusCode, 200)
    assert.equal((await closed.inject('/health')).statusCode, 200)
    await closed.close()
  })
})

describe('rate limits', () => {
  test('429: anonymous callers get 20 at once and 2 per second, told in standard headers', async () => {
    const local = await createHarness()
    for (let i = 0; i < 20; i++) {
      const response = await local.inject('/strings')
      assert.equal(response.statusCode, 200)
      assert.equal(response.headers['ratelimit-policy'], '"strings";q=20;w=10')
      assert.equal(response.headers.ratelimit, `"strings";r=${19 - i};t=${Math.ceil((i + 1) / 2)}`)
    }
    const refused = await local.inject('/strings')
    assertError(refused, 429, 'RATE_LIMITED', 'Too many requests', { retryAfter: 1 })
    assert.equal(refused.headers['retry-after'], '1')
    local.clock.advance(500)
    assert.equal((await local.inject('/strings')).statusCode, 200)
    assert.equal((await local.inject('/strings')).statusCode, 429)
    await local.close()
  })

  test('429: test keys get 10, live keys 20, and plans more; one key never uses up another’s', async () => {
    const local = await createHarness()
    for (const [wanted, burst] of [
      [{ livemode: false, usagePlanId: undefined }, 100],
      [{ livemode: true, usagePlanId: 'standard' }, 200],
      [{ livemode: false, usagePlanId: 'plus' }, 1000],
    ] as const) {
      const { key: limited } = await local.tenantWithKey(wanted)
      const statuses = new Map<number, number>()
      for (let i = 0; i < burst + 5; i++) {
        const { statusCode } = await local.inject({ url: `/strings/${UNKNOWN_ID}`, headers: { 'x-api-key': limited } })
        statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1)
      }
      assert.deepEqual(
        statuses,
        new Map([
          [404, burst],
          [429, 5],
        ]),
      )
    }
    await local.close()
  })
})
