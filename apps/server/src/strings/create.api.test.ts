import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { bucketOf } from '../platform/ids.ts'
import { assertError, assertInvalid, createHarness } from '../testing/harness.ts'
import { createStringsFixture, IS_WRONG_KEY } from './testing/fixture.ts'

const { harness, key, tenantId, withKey, create } = await createStringsFixture()
after(() => harness.close())
const NOW = '2026-11-15T12:00:00.000Z'

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
    assertInvalid(await create({ value: `${largest}x` }), '/body/value', 'must have at most 65536 bytes in UTF-8')
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
    const suggestion = 'is not a field: did you mean value?'
    const response = await create({ valeu: 'typo', ttlSeconds: 0, metadata: [] })
    assertError(response, 400, 'VALIDATION_FAILED', `The request is not valid: /body/valeu ${suggestion}`, {
      details: [
        { pointer: '/body/valeu', message: suggestion },
        { pointer: '/body/value', message: 'is required' },
        { pointer: '/body/metadata', message: 'must be object' },
        { pointer: '/body/ttlSeconds', message: 'must be >= 1' },
      ],
    })
  })

  test('400: types are not bent: a number is no string', async () => {
    for (const value of [5, null, true, ['x'], { a: 1 }]) {
      assertInvalid(await create({ value }), '/body/value', 'must be string')
    }
  })

  test('400: an empty value', async () => {
    assertInvalid(await create({ value: '' }), '/body/value', 'must not have fewer than 1 characters')
  })

  test('400: no body at all, or an empty one of any type', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }, { 'content-type': 'text/plain' }]) {
      const response = await harness.inject({ method: 'POST', url: '/strings', headers: withKey(headers) })
      assertInvalid(response, '/body', 'is required')
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
    assertInvalid(
      await create('a\0b', withKey({ 'content-type': 'text/plain' })),
      '/body/value',
      'must not hold NUL characters',
    )
  })

  test('400: metadata that is too large or too deep', async () => {
    assertInvalid(
      await create({ value: 'x', metadata: { big: 'x'.repeat(8192) } }),
      '/body/metadata',
      'must have at most 8192 bytes as JSON',
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
      assertError(await create({ value: 'x' }, { 'x-api-key': wrong }), ...IS_WRONG_KEY)
    }
  })

  test('403: a revoked key, and a key without the scope', async () => {
    const revoked = await harness.tenantWithKey()
    await harness.wire.keys.service.revokeKey(revoked.record.id)
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
    // The rest is read and thrown away, so that a client that is still sending sees the answer.
    assert.equal(response.headers.connection, 'keep-alive')
    const huge = await create({ value: 'x' }, withKey({ 'content-length': String(9 * 1024 * 1024) }))
    assertError(huge, 413, 'PAYLOAD_TOO_LARGE', 'The body is too large')
    assert.equal(huge.headers.connection, 'close')
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

  test('[X6] 503: the store is away, and the answer says when to come back', async () => {
    const broken = await createHarness()
    await broken.wire.close()
    const response = await broken.inject({ method: 'POST', url: '/strings', payload: { value: 'x' } })
    assertError(response, 503, 'DEPENDENCY_DOWN', 'The store is out of reach, try again', { retryAfter: 2 })
    assert.equal(response.headers['retry-after'], '2')
  })
})
