import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { LightMyRequestResponse } from 'fastify'
import { assertError } from '../testing/harness.ts'
import { createAgeHost, endedBody, LEAST, openBody } from './testing/fixture.ts'

const { fixture, host } = await createAgeHost({ PUBLIC_URL: 'https://verify.example' })

const create = (body: object | string, headers = {}) => host.call('POST', '/session', body, headers)

/** A gate for 18 that has no warning. */
const GATE = { stepUpEnabled: true, documentAgeThreshold: 18 }

/** All places and reasons in the reply to a refused body. */
async function assertRefused(body: object, ...details: { pointer: string; message: string }[]): Promise<void> {
  const refused = await create({ ...LEAST, ...body })
  const [first] = details
  const message = `The request is not valid: ${first?.pointer} ${first?.message}`
  assertError(refused, 400, 'VALIDATION_FAILED', message, { details })
}

describe('201', () => {
  test('[C-053] [C-030] [C-031] [C-032] [C-033] the reply has token, launch URL with the session id, and expiry', async () => {
    const created = await create(LEAST)
    assert.equal(created.statusCode, 201)
    const body = created.json()
    assert.match(body.token, /^at_[A-Za-z0-9_-]{64}$/)
    assert.match(body.sessionId, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.deepEqual(body, {
      token: body.token,
      launchUrl: `https://verify.example/launch/?sessionId=${body.sessionId}`,
      expiresAt: '2026-11-15T12:15:00.000Z',
      sessionId: body.sessionId,
      livemode: false,
    })
    assert.equal(new URL(body.launchUrl).searchParams.get('sessionId'), body.sessionId)
    assert.equal(created.headers.location, `/session/${body.token}`)
    assert.equal(created.headers['x-config-warning'], 'no-way-for-younger')
    assert.equal(created.headers['content-language'], undefined)
    assert.deepEqual(await host.result(body.token), openBody(body), 'the token works in the result path')
  })

  test('every field of the creation body is accepted, and its value is in the result', async () => {
    const created = await create({
      redirectUrl: 'https://shop.example/age-checked',
      ageThreshold: 25,
      locale: 'pt_br',
      enableDesktop: true,
      requirements: ['face', 'identity_document'],
      documentAgeReturnFormat: 'both',
      facialAgeEstimationReturnFormat: 'exact',
      faceMatchThreshold: 0.7,
      documentAgeThreshold: 18,
      stepUpEnabled: true,
      callback: { url: 'https://shop.example/hook?a=b', headers: { 'X-Shop': 'seven' } },
      metadata: { order: 'A-7' },
      sessionExpiry: 3600,
    })
    assert.equal(created.statusCode, 201, created.body)
    const body = created.json()
    assert.equal(body.expiresAt, '2026-11-15T13:00:00.000Z')
    assert.equal(created.headers['content-language'], 'pt-BR')
    assert.deepEqual(await host.result(body.token), {
      ...openBody(body),
      thresholds: { ageThreshold: 25, compareThreshold: 0.7, faceMatchThreshold: 0.7, documentAgeThreshold: 18 },
      metadata: { order: 'A-7' },
      document: null,
      createdAt: '2026-11-15T12:00:00.000Z',
    })
  })

  test('[C-014] the session applies the age threshold that was given, decimals included', async () => {
    for (const [ageThreshold, faceAge, expected] of [
      [30, 29.9, 'AGE_BELOW_THRESHOLD'],
      [30, 30.9, 'AGE_AT_THRESHOLD'],
      [30, 31, 'AGE_ABOVE_THRESHOLD'],
      [31.5, 31.4, 'AGE_BELOW_THRESHOLD'],
      [31.5, 31.5, 'AGE_ABOVE_THRESHOLD'],
      [1, 1.5, 'AGE_AT_THRESHOLD'],
      [120, 119, 'AGE_BELOW_THRESHOLD'],
    ] as const) {
      const { token, sessionId } = await host.create({ ageThreshold })
      await host.outcome(sessionId, { faceAge })
      const { sessionStatus, thresholds } = await host.result(token)
      assert.deepEqual([sessionStatus, thresholds.ageThreshold], [expected, ageThreshold])
    }
  })

  test('[C-017] requirements are face, identity_document or both in either order', async () => {
    for (const requirements of [
      ['face'],
      ['identity_document'],
      ['face', 'identity_document'],
      ['identity_document', 'face'],
    ]) {
      assert.equal((await create({ ...LEAST, requirements })).statusCode, 201)
    }
    for (const [requirements, pointer, message] of [
      [[], '/body/requirements', 'must not have fewer than 1 items'],
      [['selfie'], '/body/requirements/0', 'must be one of face, identity_document'],
      [['face', 'passkey'], '/body/requirements/1', 'must be one of face, identity_document'],
      [['face', 'face'], '/body/requirements', 'must not have duplicate items'],
      ['face', '/body/requirements', 'must be array'],
    ] as const) {
      await assertRefused({ requirements }, { pointer, message })
    }
  })

  test('[C-019] documentAgeReturnFormat takes threshold, exact and both, nothing else, and is threshold by default', async () => {
    const documentAge = { thresholdResult: 'AGE_ABOVE_THRESHOLD', exact: 44 } as const
    const { thresholdResult, exact } = documentAge
    for (const [format, expected] of [
      [undefined, { thresholdResult }],
      ['threshold', { thresholdResult }],
      ['exact', { exact }],
      ['both', documentAge],
    ] as const) {
      const asked = { requirements: ['identity_document'], ...(format && { documentAgeReturnFormat: format }) }
      const { token, sessionId } = await host.create(asked)
      await host.outcome(sessionId, { documentAge: 44 })
      assert.deepEqual((await host.result(token)).result.documentAge, expected)
    }
    for (const documentAgeReturnFormat of ['EXACT', 'none', '', null, 1, ['exact']]) {
      const pointer = '/body/documentAgeReturnFormat'
      await assertRefused({ documentAgeReturnFormat }, { pointer, message: 'must be one of threshold, exact, both' })
    }
  })

  test('[C-020] facialAgeEstimationReturnFormat takes threshold, exact and both, nothing else, and is threshold by default', async () => {
    const estimation = { thresholdResult: 'AGE_ABOVE_THRESHOLD', exact: 44.5 } as const
    const { thresholdResult, exact } = estimation
    for (const [format, expected] of [
      [undefined, { thresholdResult }],
      ['threshold', { thresholdResult }],
      ['exact', { exact }],
      ['both', estimation],
    ] as const) {
      const { token, sessionId } = await host.create(format && { facialAgeEstimationReturnFormat: format })
      await host.outcome(sessionId, { faceAge: 44.5 })
      assert.deepEqual((await host.result(token)).result.facialAgeEstimation, expected)
    }
    for (const facialAgeEstimationReturnFormat of ['Both', 'age', null, true]) {
      const pointer = '/body/facialAgeEstimationReturnFormat'
      await assertRefused(
        { facialAgeEstimationReturnFormat },
        { pointer, message: 'must be one of threshold, exact, both' },
      )
    }
  })

  test('[C-023] stepUpEnabled is a boolean and false by default: without it a young face is a verdict', async () => {
    for (const [stepUpEnabled, expected] of [
      [undefined, 'AGE_BELOW_THRESHOLD'],
      [false, 'AGE_BELOW_THRESHOLD'],
      [true, 'AGE_UNKNOWN'],
    ] as const) {
      const { token, sessionId } = await host.create(stepUpEnabled === undefined ? {} : { stepUpEnabled })
      await host.outcome(sessionId, { faceAge: 20 })
      assert.equal((await host.result(token)).sessionStatus, expected)
    }
    await assertRefused({ stepUpEnabled: 'true' }, { pointer: '/body/stepUpEnabled', message: 'must be boolean' })
  })

  test('the same path under /v1 is the same operation', async () => {
    const created = await host.call('POST', '/v1/session', LEAST)
    const body = created.json()
    assert.equal(created.statusCode, 201)
    assert.equal(created.headers.location, `/v1/session/${body.token}`)
    assert.deepEqual((await host.call('GET', `/v1/session/${body.token}/result`)).json(), openBody(body))
  })

  test('[X-001] strings, sanctions and age sessions are served under one base address', async () => {
    const all = await fixture.newHost({ scopes: ['strings:rw', 'sanctions:run', 'age:write', 'age:read'] })
    assert.equal((await all.call('POST', '/strings', { value: 'one' })).statusCode, 201)
    assert.equal((await all.call('GET', '/v2/open-sanctions/datasets')).statusCode, 200)
    assert.equal((await all.call('POST', '/session', LEAST)).statusCode, 201)
  })

  test('compareThreshold is another name of faceMatchThreshold', async () => {
    const { token } = await host.create({ compareThreshold: 0.25 })
    const { compareThreshold, faceMatchThreshold } = (await host.result(token)).thresholds
    assert.deepEqual([compareThreshold, faceMatchThreshold], [0.25, 0.25])
    assert.equal((await create({ ...LEAST, compareThreshold: 1, faceMatchThreshold: 1 })).statusCode, 201)
    const message = 'is another name of faceMatchThreshold and must be equal to it'
    await assertRefused(
      { compareThreshold: 0.5, faceMatchThreshold: 0.6 },
      { pointer: '/body/compareThreshold', message },
    )
  })
})

describe('warnings and language', () => {
  test('[P2] X-Config-Warning names settings that are allowed but have no good result', async () => {
    for (const [body, expected] of [
      [{ ageThreshold: 27.9 }, 'estimate-without-buffer'],
      [{ ageThreshold: 28 }, 'no-way-for-younger'],
      [{ ageThreshold: 30, documentInDoubt: true }, 'no-way-for-younger'],
      [{ ageThreshold: 30, requirements: ['face', 'identity_document'] }, undefined],
      [{ ageThreshold: 18, requirements: ['identity_document'] }, undefined],
      [{ ageThreshold: 30, stepUpEnabled: true }, 'documentAgeThreshold-missing'],
      [{ ageThreshold: 30, stepUpEnabled: true, documentAgeThreshold: 18 }, undefined],
      [{ ageThreshold: 18, stepUpEnabled: true }, undefined],
    ] as const) {
      assert.equal((await create({ ...LEAST, ...body })).headers['x-config-warning'], expected, JSON.stringify(body))
    }
  })

  test('Content-Language names the language that the page shows; a language that it does not have gets no such header', async () => {
    for (const [locale, expected] of [
      ['de', 'de'],
      ['de-CH-1996', 'de'],
      ['EN_us', 'en'],
      ['ar-EG', 'ar'],
      ['zh-HK', 'zh-Hant'],
      ['no', 'nb'],
      ['fr', 'fr'],
      ['tlh', undefined],
    ] as const) {
      const created = await create({ ...LEAST, locale })
      assert.deepEqual([created.statusCode, created.headers['content-language']], [201, expected])
    }
  })

  test('fields of other systems are ignored, each with a warning; any other unknown field is refused', async () => {
    const foreign = { livenessEnabled: true, enableSwitchDevice: true, sendEventWebhooks: true }
    const created = await create({ ...LEAST, ...GATE, ...foreign })
    assert.equal(created.statusCode, 201, created.body)
    assert.equal(
      created.headers['x-config-warning'],
      'ignored-field: livenessEnabled, ignored-field: enableSwitchDevice, ignored-field: sendEventWebhooks',
    )
    const both = await create({ ...LEAST, ageThreshold: 18, enableSwitchDevice: false })
    assert.equal(both.headers['x-config-warning'], 'estimate-without-buffer, ignored-field: enableSwitchDevice')
    assert.equal((await create({ ...LEAST, ...foreign, sendEventWebhook: true })).statusCode, 400)
  })

  test('a locale that is not a language tag is refused', async () => {
    for (const locale of ['english language', 'de--CH', '-', 'd', '../en', 'de-'.padEnd(60, 'a')]) {
      const refused = await create({ ...LEAST, locale })
      assertError(refused, 400, 'INVALID_LOCALE', 'locale is not a language tag such as de or pt-BR')
    }
    await assertRefused({ locale: '' }, { pointer: '/body/locale', message: 'must not have fewer than 1 characters' })
  })
})

describe('metadata', () => {
  test('[C-029] any JSON object comes back unchanged: nested, empty, in any script', async () => {
    for (const metadata of [
      {},
      {
        order: 'A-7',
        lines: [
          { sku: 1, gift: null },
          { sku: 2.5, tags: [[], {}, ''] },
        ],
        deep: { er: { still: true } },
      },
      { 名前: '試験', emoji: '👩‍👩‍👧', 'a b/c~d': 'ق', 'line\nbreak': '\t"\\', ['x'.repeat(300)]: '' },
      { toString: 'own', hasOwnProperty: 1, constructor: 'own', token: 'not ours', __test2: 0, 1: 'one', 0: 'zero' },
      { small: -1e-7, large: 9_007_199_254_740_991, zero: 0, no: false },
    ]) {
      const created = await host.create({ metadata })
      assert.deepEqual((await host.result(created.token)).metadata, metadata)
      await host.outcome(created.sessionId, { outcome: 'AGE_UNKNOWN' })
      const noVerdict = { errors: [-19], errorDetails: [{ code: -19, name: 'ATTEMPTS_EXCEEDED' }] }
      const ended = endedBody(created, { metadata, flowStatus: 'COMPLETED', outcome: 'FAILED', ...noVerdict })
      assert.deepEqual(await host.result(created.token), ended)
    }
  })

  test('8 KB are accepted and one byte more is refused', async () => {
    const largest = { text: 'é'.repeat(4090) }
    const size = Buffer.byteLength(JSON.stringify(largest))
    assert.equal(size, 8191)
    const { token } = await host.create({ metadata: { ...largest, text: `${largest.text}.` } })
    assert.equal((await host.result(token)).metadata.text, `${largest.text}.`)
    const message = 'must have at most 8192 bytes as JSON'
    await assertRefused({ metadata: { text: `${largest.text}..` } }, { pointer: '/body/metadata', message })
    for (const metadata of [null, 'text', ['a'], 1])
      await assertRefused({ metadata }, { pointer: '/body/metadata', message: 'must be object' })
  })
})

describe('400', () => {
  test('a field that is missing, of the wrong type, out of range or unknown is named by its place', async () => {
    const missing = await create({})
    const details = ['/body/redirectUrl', '/body/ageThreshold'].map((pointer) => ({ pointer, message: 'is required' }))
    const message = 'The request is not valid: /body/redirectUrl is required'
    assertError(missing, 400, 'VALIDATION_FAILED', message, { details })
    for (const [field, value, text] of [
      ['ageThreshold', 0.9, 'must be >= 1'],
      ['ageThreshold', 120.1, 'must be <= 120'],
      ['ageThreshold', '18', 'must be number'],
      ['documentAgeThreshold', 0, 'must be >= 1'],
      ['documentAgeThreshold', 121, 'must be <= 120'],
      ['faceMatchThreshold', -0.01, 'must be >= 0'],
      ['faceMatchThreshold', 1.01, 'must be <= 1'],
      ['enableDesktop', 1, 'must be boolean'],
      ['sessionExpiry', 59, 'must be >= 60'],
      ['sessionExpiry', 60.5, 'must be integer'],
      ['sessionExpiry', 86_401, 'must be <= 86400 for this tenant'],
      ['sessionExpiry', 604_801, 'must be <= 604800'],
      ['redirectUrl', 7, 'must be string'],
      ['redirectURL', 'https://shop.example', 'is not a known field'],
      ['callback', 'https://shop.example', 'must be object'],
    ] as const) {
      await assertRefused({ [field]: value }, { pointer: `/body/${field}`, message: text })
    }
    await assertRefused({ callback: {} }, { pointer: '/body/callback/url', message: 'is required' })
  })

  test('a body that is not a JSON object', async () => {
    const json = { 'content-type': 'application/json' }
    assertError(await create('{"ageThreshold": 30', json), 400, 'INVALID_JSON', 'The body is not valid JSON')
    const empty = await host.call('POST', '/session', undefined, json)
    const details = [{ pointer: '/body', message: 'is required' }]
    assertError(empty, 400, 'VALIDATION_FAILED', 'The request is not valid: /body is required', { details })
    const list = [{ pointer: '/body', message: 'must be object' }]
    const message = 'The request is not valid: /body must be object'
    assertError(await create('[]', json), 400, 'VALIDATION_FAILED', message, { details: list })
  })

  test('a redirect must be https, or http to this machine for test keys, and the tenant must allow it', async () => {
    const pointer = '/body/redirectUrl'
    const isRefused = (answer: LightMyRequestResponse, message: string) =>
      assertError(answer, 400, 'INVALID_URL', `The request is not valid: ${pointer} ${message}`, {
        details: [{ pointer, message }],
      })
    const scheme = 'must begin with https://; http is for localhost, 127.0.0.1 and [::1] only'
    for (const redirectUrl of ['http://shop.example/', 'javascript:alert(1)', '/back', 'x'])
      isRefused(await create({ ...LEAST, redirectUrl }), scheme)
    const named = await create({ ...LEAST, redirectUrl: 'https://u:p@shop.example' })
    isRefused(named, 'must not hold a user name or password')
    assert.equal((await create({ ...LEAST, redirectUrl: 'http://localhost:3000/back' })).statusCode, 201)
    const live = await fixture.newHost({ livemode: true })
    const local = { ...LEAST, redirectUrl: 'http://localhost:3000/back' }
    const forLive = 'must begin with https://; http is for test keys, and for what the tenant’s redirectUrls allow'
    isRefused(await live.call('POST', '/session', local), forLive)
    const strict = await fixture.newHost({ settings: { redirectUrls: ['https://shop.example/age/'] } })
    for (const [redirectUrl, status] of [
      ['https://shop.example/age/done?x=1', 201],
      ['https://shop.example/agency', 400],
      ['https://shop.example.evil.example/age/', 400],
      ['https://other.example/age/', 400],
    ] as const) {
      assert.equal((await strict.call('POST', '/session', { ...LEAST, redirectUrl })).statusCode, status, redirectUrl)
    }
  })

  test('a callback that can never be called is refused at the creation', async () => {
    const pointer = '/body/callback/url'
    for (const [url, message] of [
      [
        'http://10.0.0.7/hook',
        'must not name an address that is not public, unless the operator allows it by OUTBOUND_ALLOW_NETWORKS',
      ],
      ['ftp://shop.example', 'must begin with https:// or http://'],
      ['https://u:p@shop.example', 'must not hold a user name or password'],
    ] as const) {
      const refused = await create({ ...LEAST, callback: { url } })
      const text = `The request is not valid: ${pointer} ${message}`
      assertError(refused, 400, 'INVALID_URL', text, { details: [{ pointer, message }] })
    }
    const headers = { Host: 'shop.example' }
    await assertRefused(
      { callback: { url: 'https://shop.example', headers } },
      { pointer: '/body/callback/headers/Host', message: 'is not a header that can be chosen' },
    )
  })
})

test('a tenant may allow up to a week', async () => {
  const longTenant = await fixture.newHost({ settings: { sessionSecondsMax: 604_800 } })
  assert.equal((await longTenant.create({ sessionExpiry: 604_800 })).expiresAt, '2026-11-22T12:00:00.000Z')
})

test('the tenant’s maximum also applies to sessions without a time of their own', async () => {
  const brisk = await fixture.newHost({ settings: { sessionSecondsMax: 300 } })
  assert.equal((await brisk.create({})).expiresAt, '2026-11-15T12:05:00.000Z')
})

test('a live session of a tenant without a redirect list has a warning, also when it is replayed; with a list it has none', async () => {
  const live = await fixture.newHost({ livemode: true })
  const again = { 'idempotency-key': 'unlisted-1' }
  for (const _time of [1, 2]) {
    const created = await live.call('POST', '/session', { ...LEAST, ...GATE }, again)
    assert.deepEqual([created.statusCode, created.headers['x-config-warning']], [201, 'redirect-list-missing'])
  }
  const list = { redirectUrls: [new URL(LEAST.redirectUrl).origin] }
  const listed = await fixture.newHost({ livemode: true, settings: list })
  const created = await listed.call('POST', '/session', { ...LEAST, ...GATE })
  assert.deepEqual([created.statusCode, created.headers['x-config-warning']], [201, undefined])
})

test('400 INVALID_URL while a tenant requires a redirect list and has none', async () => {
  for (const livemode of [true, false]) {
    const strict = await fixture.newHost({ livemode, settings: { redirectListRequired: true } })
    const refused = await strict.call('POST', '/session', LEAST)
    assert.deepEqual([refused.statusCode, refused.json().code], [400, 'INVALID_URL'])
    assert.equal(refused.json().details[0].pointer, '/body/redirectUrl')
  }
})
