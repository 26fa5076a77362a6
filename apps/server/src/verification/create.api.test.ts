import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LOCALES } from '@ostiary/contract'
import { assertError } from '../testing/harness.ts'
import { createVerificationHost, leastOf, PATH } from './testing/fixture.ts'

const { fixture, host } = await createVerificationHost()

const post = (body: object | string, headers: Record<string, string | undefined> = {}) =>
  host.call('POST', PATH, body, headers)
const least = (changes: object = {}) => ({ ...leastOf('ENROLL', fixture.receiver.url), ...changes })
const without = (name: string, body: object = least()) =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key !== name))

async function isRefused(body: object, details: { pointer: string; message: string }[]): Promise<void> {
  const [first] = details
  const text = `The request is not valid: ${first?.pointer} ${first?.message}`
  assertError(await post(body), 400, 'VALIDATION_FAILED', text, { details })
}

describe('201', () => {
  test('[D-009] [D-030] the smallest body', async () => {
    const created = await post(least())
    const { sessionId } = created.json()
    const { clock, wire } = fixture.harness
    const expected = {
      launchUrl: `${wire.config.launch.url}?sessionId=${sessionId}`,
      sessionId,
      expiresAt: new Date(clock.now().getTime() + 900_000).toISOString(),
      livemode: false,
    }
    assert.equal(created.statusCode, 201)
    assert.equal(created.body, JSON.stringify(expected), 'in this order, and nothing else')
    assert.match(sessionId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    assert.equal(created.headers.location, `${PATH}/${sessionId}`)
    assert.equal(created.headers['content-language'], undefined)
  })

  test('[D-010] each type with [D-028] the requirements that it may have', async () => {
    for (const type of ['ENROLL', 'SIGN-IN', 'VERIFY'] as const)
      for (const requirements of [undefined, ['face'], ['face', 'passkey'], ['passkey', 'face']]) {
        const { sessionId } = await host.create(type, { ...(requirements && { requirements }) })
        const summary = await host.get(sessionId)
        const expected = requirements?.length === 2 ? ['face', 'passkey'] : ['face']
        assert.deepEqual([summary.type, summary.requirements], [type, expected])
      }
  })

  test('[D-015] [D-023] [D-024] [D-025] [D-029] every optional field at once, and each one alone', async () => {
    const optional = {
      locale: 'pt-BR',
      enableDesktop: true,
      sendImages: true,
      estimateAge: true,
      transactionID: 'order-4711',
      deviceInfo: { os: 'Android 16', model: 'Fixture 3', resolution: '1080x2400' },
      debugMode: ['1', '3'],
      requirements: ['face'],
      sessionExpiry: 600,
      customerId: 'customer-1',
      contactInformation: { email: 'someone@shop.example', phone: '+49 30 000000' },
    }
    const whole = await post(least(optional))
    assert.equal(whole.statusCode, 201, whole.body)
    assert.equal(whole.headers['content-language'], 'pt-BR')
    for (const [name, value] of Object.entries(optional)) {
      const alone = await post(least({ [name]: value }))
      assert.equal(alone.statusCode, 201, alone.body)
    }
    for (const debugMode of [true, false, [], ['2']]) await host.create('SIGN-IN', { debugMode })
  })

  test('[D-029] the expiry as seconds, as a duration and as a moment', async () => {
    const now = fixture.harness.clock.now().getTime()
    const moment = new Date(now + 1_234_567).toISOString()
    for (const [sessionExpiry, expiresAt] of [
      [60, now + 60_000],
      ['PT15M', now + 900_000],
      ['P1D', now + 86_400_000],
      [moment, now + 1_234_567],
    ] as const) {
      const created = await host.create('ENROLL', { sessionExpiry })
      assert.equal(created.expiresAt, new Date(expiresAt).toISOString())
    }
  })

  test('[D-017] each of the 44 languages is accepted and named; an unsupported one leaves it to the browser', async () => {
    assert.equal(LOCALES.length, 44)
    for (const { tag } of LOCALES) {
      const created = await post(least({ locale: tag }))
      assert.deepEqual([created.statusCode, created.headers['content-language']], [201, tag])
      assert.equal(created.headers['x-config-warning'], undefined)
    }
    const other = await post(least({ locale: 'tlh' }))
    assert.deepEqual([other.statusCode, other.headers['content-language']], [201, undefined])
  })

  test('fields of other systems are ignored, each with a warning; any other unknown field is refused', async () => {
    const foreign = { sendEventWebhooks: ['started'], livenessEnabled: false, enableSwitchDevice: 'yes' }
    const created = await post(least(foreign))
    assert.equal(created.statusCode, 201, created.body)
    assert.equal(
      created.headers['x-config-warning'],
      'ignored-field: livenessEnabled, ignored-field: enableSwitchDevice, ignored-field: sendEventWebhooks',
    )
    const one = await post(least({ livenessEnabled: null }))
    assert.deepEqual([one.statusCode, one.headers['x-config-warning']], [201, 'ignored-field: livenessEnabled'])
    await isRefused(least({ livenessenabled: true }), [
      { pointer: '/body/livenessenabled', message: 'is not a known field' },
    ])
  })

  test('a repeated call with the same Idempotency-Key gets the session that the first one created', async () => {
    const once = { 'idempotency-key': 'order-4711' }
    const first = await post(least(), once)
    const again = await post(least(), once)
    assert.deepEqual([again.statusCode, again.body], [201, first.body])
    assert.equal(again.headers['idempotency-replayed'], 'true')
    const other = await post(least({ transactionID: 't' }), once)
    assertError(other, 409, 'IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used with another request')
    assert.notEqual((await post(least())).json().sessionId, first.json().sessionId)
  })
})

describe('400', () => {
  test('[D-010] [D-011] [D-013] [D-014] a required field that is missing', async () => {
    for (const name of ['type', 'redirectURL', 'callback'])
      await isRefused(without(name), [{ pointer: `/body/${name}`, message: 'is required' }])
    await isRefused(least({ callback: { headers: {} } }), [{ pointer: '/body/callback/url', message: 'is required' }])
    await isRefused({}, [
      { pointer: '/body/type', message: 'is required' },
      { pointer: '/body/redirectURL', message: 'is required' },
      { pointer: '/body/callback', message: 'is required' },
    ])
  })

  test('[D-011] the redirect in the spelling of area C, alone or beside the right one', async () => {
    const redirectUrl = 'https://shop.example/back'
    const [pointer, message] = ['/body/redirectUrl', 'is not a field: did you mean redirectURL?']
    await isRefused(without('redirectURL', least({ redirectUrl })), [
      { pointer, message },
      { pointer: '/body/redirectURL', message: 'is required' },
    ])
    await isRefused(least({ redirectUrl }), [{ pointer, message: 'is not a known field' }])
  })

  test('a puid that no person can have', async () => {
    const body = { ...leastOf('VERIFY', fixture.receiver.url), customerId: undefined, puid: 'customer-1' }
    await isRefused(body, [{ pointer: '/body/puid', message: 'is not the id of a person' }])
  })

  test('[D-010] an unknown type', async () => {
    const message = 'must be one of ENROLL, SIGN-IN, VERIFY'
    for (const type of ['enroll', 'SIGNIN', 'SIGN_IN', '', null, 1])
      await isRefused(least({ type }), [{ pointer: '/body/type', message }])
  })

  test('an unknown field, at every depth', async () => {
    const message = 'is not a known field'
    await isRefused(least({ ageThreshold: 18 }), [{ pointer: '/body/ageThreshold', message }])
    await isRefused(least({ deviceInfo: { imei: '1' } }), [{ pointer: '/body/deviceInfo/imei', message }])
    await isRefused(least({ contactInformation: { name: 'x' } }), [
      { pointer: '/body/contactInformation/name', message },
    ])
  })

  test('a field of the wrong type', async () => {
    for (const [name, value, message] of [
      ['enableDesktop', 'yes', 'must be boolean'],
      ['sendImages', 1, 'must be boolean'],
      ['estimateAge', 'true', 'must be boolean'],
      ['transactionID', 7, 'must be string'],
      ['transactionID', '', 'must not have fewer than 1 characters'],
      ['deviceInfo', 'phone', 'must be object'],
      ['requirements', 'face', 'must be array'],
      ['requirements', [], 'must not have fewer than 1 items'],
      ['requirements', ['face', 'face'], 'must not have duplicate items'],
      ['customerId', '', 'must not have fewer than 1 characters'],
    ] as const)
      await isRefused(least({ [name]: value }), [{ pointer: `/body/${name}`, message }])
    await isRefused(least({ requirements: ['voice'] }), [
      { pointer: '/body/requirements/0', message: 'must be one of face, identity_document, passkey' },
    ])
  })

  test('[D-025] a debugMode of neither shape', async () => {
    for (const debugMode of ['2', 2, ['4'], [1]]) {
      const refused = await post(least({ debugMode }))
      assert.equal(refused.statusCode, 400)
      assert.ok(
        refused.json().details.some(({ pointer }: { pointer: string }) => pointer.startsWith('/body/debugMode')),
        refused.body,
      )
    }
  })

  test('[D-028] requirements that the type may not have, and a document without a face', async () => {
    const pointer = '/body/requirements'
    const signIn = (requirements: string[]) => ({ ...leastOf('SIGN-IN', fixture.receiver.url), requirements })
    await isRefused(signIn(['passkey']), [{ pointer, message: 'must have face' }])
    for (const requirements of [['identity_document'], ['face', 'identity_document']]) {
      await isRefused(signIn(requirements), [{ pointer, message: 'may have face and passkey for SIGN-IN' }])
    }
    await isRefused(least({ requirements: ['identity_document'] }), [{ pointer, message: 'must have face' }])
  })

  test('[D-029] an expiry that is malformed, too near or too far', async () => {
    const pointer = '/body/sessionExpiry'
    const soon = 'must be 60 to 604800 seconds from now'
    for (const [sessionExpiry, message] of [
      ['PT59S', soon],
      ['2020-01-01T00:00:00Z', soon],
      ['P1M', 'must be seconds, a duration such as PT15M or a moment such as 2026-01-31T12:00:00Z'],
      [86_401, 'must be <= 86400 for this tenant'],
    ] as const)
      await isRefused(least({ sessionExpiry }), [{ pointer, message }])
    for (const [sessionExpiry, message] of [
      [59, 'must be >= 60'],
      [604_801, 'must be <= 604800'],
      [900.5, 'must be integer'],
      [true, 'must be integer'],
    ] as const) {
      const others = ['must be string', 'has none of the allowed values']
      await isRefused(
        least({ sessionExpiry }),
        [message, ...others].map((one) => ({ pointer, message: one })),
      )
    }
  })

  test('a redirect, a callback or a language that cannot be used', async () => {
    const redirect = {
      pointer: '/body/redirectURL',
      message: 'must begin with https://; http is for localhost, 127.0.0.1 and [::1] only',
    }
    const said = `The request is not valid: ${redirect.pointer} ${redirect.message}`
    const away = await post(least({ redirectURL: 'ftp://shop.example' }))
    assertError(away, 400, 'INVALID_URL', said, { details: [redirect] })
    const callback = await post(least({ callback: { url: 'ftp://shop.example' } }))
    const at = { pointer: '/body/callback/url', message: 'must begin with https:// or http://' }
    const text = `The request is not valid: ${at.pointer} ${at.message}`
    assertError(callback, 400, 'INVALID_URL', text, { details: [at] })
    const header = least({ callback: { url: fixture.receiver.url, headers: { Host: 'x' } } })
    await isRefused(header, [{ pointer: '/body/callback/headers/Host', message: 'is not a header that can be chosen' }])
    const locale = 'locale is not a language tag such as de or pt-BR'
    assertError(await post(least({ locale: 'no such tag!' })), 400, 'INVALID_LOCALE', locale)
  })

  test('debugging a live session, unless the tenant allows it', async () => {
    const settings = { clientCredentials: 'never' } as const
    const live = await fixture.newHost({ livemode: true, settings })
    const body = least({ debugMode: true, callback: { url: 'https://shop.example/hook' } })
    const refused = await live.call('POST', PATH, body)
    const message = 'is not allowed for live sessions of this tenant'
    const details = [{ pointer: '/body/debugMode', message }]
    assert.deepEqual([refused.statusCode, refused.json().details], [400, details])
    const open = await fixture.newHost({ livemode: true, settings: { ...settings, debugInLive: true } })
    assert.equal((await open.call('POST', PATH, body)).statusCode, 201)
  })

  test('a body that is not JSON, of another media type, or too large', async () => {
    const broken = await post('{"type":', { 'content-type': 'application/json' })
    assertError(broken, 400, 'INVALID_JSON', 'The body is not valid JSON')
    const form = await post('type=ENROLL', { 'content-type': 'application/x-www-form-urlencoded' })
    assertError(form, 415, 'UNSUPPORTED_MEDIA_TYPE', 'This Content-Type is not supported here')
    const large = await post(least({ transactionID: 'x'.repeat(300_000) }))
    assertError(large, 413, 'PAYLOAD_TOO_LARGE', 'The body is too large')
  })
})

test('a live session of a tenant without a redirect list has a warning; a tenant that requires the list refuses it', async () => {
  const settings = { clientCredentials: 'never' } as const
  const callback = { url: 'https://shop.example/hook' }
  const warned = await (await fixture.newHost({ livemode: true, settings })).call('POST', PATH, least({ callback }))
  assert.deepEqual([warned.statusCode, warned.headers['x-config-warning']], [201, 'redirect-list-missing'])
  const strict = await fixture.newHost({ livemode: true, settings: { ...settings, redirectListRequired: true } })
  const refused = await strict.call('POST', PATH, least({ callback }))
  assert.deepEqual([refused.statusCode, refused.json().code], [400, 'INVALID_URL'])
})
