import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CreateVerificationBody, TENANT_SETTINGS_DEFAULTS, type TenantSettings } from '@ostiary/contract'
import { AppError } from '../platform/errors.ts'
import { toRequest } from './request.ts'

const now = new Date('2026-03-01T10:00:00Z')
const ENROLL = {
  type: 'ENROLL',
  redirectURL: 'https://shop.example/back',
  callback: { url: 'https://shop.example/hook' },
} as const satisfies CreateVerificationBody
const SIGN_IN = { ...ENROLL, type: 'SIGN-IN' } as const
const PUID = '019a8b1c-2d3e-7f40-8a1b-2c3d4e5f6a7b'
const VERIFY = { ...ENROLL, type: 'VERIFY', puid: PUID } as const

interface ReadOptions {
  livemode?: boolean
  settings?: Partial<TenantSettings>
}
const read = (body: CreateVerificationBody, { livemode = false, settings = {} }: ReadOptions = {}) =>
  toRequest(body, { livemode, settings: { ...TENANT_SETTINGS_DEFAULTS, ...settings }, now })
const requestOf = (body: CreateVerificationBody, options?: ReadOptions) => read(body, options).request

function refusalOf(body: CreateVerificationBody, options?: ReadOptions): string {
  try {
    read(body, options)
  } catch (error) {
    assert.ok(error instanceof AppError)
    assert.equal(error.status, 400)
    const [detail] = error.extra.details ?? []
    return detail ? `${detail.pointer} ${detail.message}` : error.message
  }
  return assert.fail('it was taken')
}

const DOCUMENTS = { types: TENANT_SETTINGS_DEFAULTS.documentTypes, expiryGraceDays: 0, reuseCheck: false }

describe('the smallest body', () => {
  test('is filled up with the defaults', () => {
    assert.deepEqual(read(ENROLL), {
      lifetimeSeconds: 900,
      request: {
        type: 'ENROLL',
        redirectUrl: 'https://shop.example/back',
        callback: { url: 'https://shop.example/hook', headers: {} },
        locale: null,
        enableDesktop: false,
        handoff: 'number',
        sendImages: false,
        estimateAge: false,
        transactionId: null,
        deviceInfo: null,
        debugLevel: 0,
        requirements: ['face'],
        person: null,
        customerId: null,
        nonce: null,
        contactInformation: null,
        sandbox: null,
        pinned: null,
        policy: {
          retentionSeconds: 86_400,
          enforceBlock: false,
          risk: {},
          defaultLocale: 'en',
          signInMatching: 'local_with_passkey',
          failedComparisonsPerHour: 10_000,
          templates: 'vector',
          migrateVectors: false,
          brandName: null,
          documents: DOCUMENTS,
        },
      },
    })
  })

  test('every field of the body is in the request', () => {
    const brand = { name: 'Example Shop', logo: null, primary: null, background: null }
    const full = requestOf(
      {
        ...ENROLL,
        callback: { url: 'https://shop.example/hook', headers: { 'X-Shop': '7' } },
        locale: 'de-AT',
        enableDesktop: true,
        sendImages: true,
        estimateAge: true,
        transactionID: 'order-4711',
        deviceInfo: { os: 'Android 16', model: 'Fixture 3', resolution: '1080x2400' },
        debugMode: true,
        requirements: ['passkey', 'face'],
        customerId: 'customer-1',
        contactInformation: { email: 'someone@shop.example', phone: '+49 30 000000' },
      },
      {
        settings: { enforceBlock: true, retentionSeconds: 3_600, signInMatching: 'server', defaultLocale: 'fr', brand },
      },
    )
    assert.deepEqual(full, {
      ...requestOf(ENROLL),
      callback: { url: 'https://shop.example/hook', headers: { 'X-Shop': '7' } },
      locale: 'de',
      enableDesktop: true,
      sendImages: true,
      estimateAge: true,
      transactionId: 'order-4711',
      deviceInfo: { os: 'Android 16', model: 'Fixture 3', resolution: '1080x2400' },
      debugLevel: 2,
      requirements: ['face', 'passkey'],
      customerId: 'customer-1',
      contactInformation: { email: 'someone@shop.example', phone: '+49 30 000000' },
      policy: {
        retentionSeconds: 3_600,
        enforceBlock: true,
        risk: {},
        defaultLocale: 'fr',
        signInMatching: 'server',
        failedComparisonsPerHour: 10_000,
        templates: 'vector',
        migrateVectors: false,
        brandName: 'Example Shop',
        documents: DOCUMENTS,
      },
    })
  })
})

describe('the redirect', () => {
  test('must be one that the tenant allows', () => {
    const scheme = 'must begin with https://; http is for localhost, 127.0.0.1 and [::1] only'
    assert.equal(refusalOf({ ...ENROLL, redirectURL: 'javascript:alert(1)' }), `/body/redirectURL ${scheme}`)
    const unlisted =
      '/body/redirectURL is neither at nor below a URL that this tenant allows (its setting redirectUrls)'
    assert.equal(refusalOf(ENROLL, { settings: { redirectUrls: ['https://other.example'] } }), unlisted)
    const live = 'must begin with https://; http is for test keys, and for what the tenant’s redirectUrls allow'
    assert.equal(
      refusalOf({ ...ENROLL, redirectURL: 'http://localhost/x' }, { livemode: true }),
      `/body/redirectURL ${live}`,
    )
    assert.equal(requestOf({ ...ENROLL, redirectURL: 'http://localhost/x' }).redirectUrl, 'http://localhost/x')
  })
})

describe('the requirements', () => {
  test('[D-028] are face, or face and passkey, for every type', () => {
    for (const body of [ENROLL, SIGN_IN, VERIFY]) {
      assert.deepEqual(requestOf({ ...body, requirements: ['face'] }).requirements, ['face'])
      assert.deepEqual(requestOf({ ...body, requirements: ['face', 'passkey'] }).requirements, ['face', 'passkey'])
      assert.equal(refusalOf({ ...body, requirements: ['passkey'] }), '/body/requirements must have face')
    }
  })

  test('[D-027] of an ENROLL may name a document and a passkey beside the face, in any order', () => {
    const requirements = ['passkey', 'identity_document', 'face'] as const
    const inOrder = ['face', 'identity_document', 'passkey']
    assert.deepEqual(requestOf({ ...ENROLL, requirements: [...requirements] }).requirements, inOrder)
    const refusal = refusalOf({ ...ENROLL, requirements: ['identity_document'] })
    assert.equal(refusal, '/body/requirements must have face')
  })

  test('[D-028] may not name a document for SIGN-IN and VERIFY', () => {
    const requirements = ['face', 'identity_document'] as const
    const at = '/body/requirements'
    for (const body of [SIGN_IN, VERIFY]) {
      const message = `${at} may have face and passkey for ${body.type}`
      assert.equal(refusalOf({ ...body, requirements: [...requirements] }), message)
    }
  })
})

describe('the person of a session', () => {
  test('a puid may have capitals, and a puid that no person can have is refused', () => {
    assert.deepEqual(requestOf({ ...VERIFY, puid: PUID.toUpperCase() }).person, { puid: PUID })
    for (const puid of ['p-1', `${PUID}0`, ` ${PUID}`, PUID.replaceAll('-', ''), PUID.replace('-7', '-4')])
      assert.equal(refusalOf({ ...VERIFY, puid }), '/body/puid is not the id of a person', puid)
  })

  test('VERIFY needs a person, by puid or by the host’s own name, and not both', () => {
    const { puid, ...nobody } = VERIFY
    assert.equal(refusalOf(nobody), '/body/puid is required for VERIFY, or customerId instead of it')
    assert.deepEqual(requestOf(VERIFY).person, { puid })
    assert.deepEqual(requestOf({ ...nobody, customerId: 'c-1' }).person, { customerId: 'c-1' })
    assert.equal(refusalOf({ ...VERIFY, customerId: 'c-1' }), '/body/customerId may not stand beside puid')
  })

  test('each field is accepted for its own types, and refused for the others', () => {
    assert.equal(refusalOf({ ...ENROLL, puid: PUID }), '/body/puid is for VERIFY')
    assert.equal(refusalOf({ ...SIGN_IN, puid: PUID }), '/body/puid is for VERIFY')
    assert.equal(refusalOf({ ...SIGN_IN, customerId: 'c-1' }), '/body/customerId is for ENROLL and VERIFY')
    assert.equal(refusalOf({ ...SIGN_IN, nonce: 'n' }), '/body/nonce is for VERIFY')
    const contactInformation = { email: 'someone@shop.example' }
    assert.equal(refusalOf({ ...VERIFY, contactInformation }), '/body/contactInformation is for ENROLL')
    assert.equal(requestOf({ ...VERIFY, nonce: 'n' }).nonce, 'n')
    assert.equal(requestOf({ ...ENROLL, contactInformation: {} }).contactInformation, null)
  })

  test('an age is estimated at ENROLL only; other types accept the field and ignore it', () => {
    assert.equal(requestOf({ ...SIGN_IN, estimateAge: true }).estimateAge, false)
  })
})

describe('debugMode', () => {
  test('[D-025] has two forms; of several levels the highest counts', () => {
    const levelOf = (debugMode: NonNullable<CreateVerificationBody['debugMode']>) =>
      requestOf({ ...ENROLL, debugMode }).debugLevel
    assert.deepEqual([false, true].map(levelOf), [0, 2])
    assert.deepEqual(
      [[], ['1'], ['2'], ['3'], ['1', '2'], ['3', '1']].map((levels) => levelOf(levels as never)),
      [0, 1, 2, 3, 2, 3],
    )
  })

  test('is for test keys, unless the tenant allows it in live mode', () => {
    const message = '/body/debugMode is not allowed for live sessions of this tenant'
    assert.equal(refusalOf({ ...ENROLL, debugMode: ['1'] }, { livemode: true }), message)
    assert.equal(requestOf({ ...ENROLL, debugMode: false }, { livemode: true }).debugLevel, 0)
    const settings = { debugInLive: true }
    assert.equal(requestOf({ ...ENROLL, debugMode: true }, { livemode: true, settings }).debugLevel, 2)
  })
})

describe('sessionExpiry', () => {
  const secondsOf = (sessionExpiry: number | string) => read({ ...ENROLL, sessionExpiry }).lifetimeSeconds

  test('[D-029] is seconds, a duration or a moment', () => {
    assert.deepEqual([60, 900, 86_400].map(secondsOf), [60, 900, 86_400])
    assert.deepEqual(['PT15M', 'PT1H30M', 'P1D'].map(secondsOf), [900, 5_400, 86_400])
    assert.equal(secondsOf('2026-03-01T10:15:00Z'), 900)
    assert.equal(secondsOf('2026-03-01T10:15:00.500Z'), 900.5)
  })

  test('is a quarter of an hour, or what the tenant allows at most', () => {
    assert.equal(read(ENROLL).lifetimeSeconds, 900)
    assert.equal(read(ENROLL, { settings: { sessionSecondsMax: 300 } }).lifetimeSeconds, 300)
  })

  test('must be in the future, and within the tenant’s maximum', () => {
    const at = '/body/sessionExpiry'
    const settings = { sessionSecondsMax: 604_800 }
    for (const sessionExpiry of ['PT59S', '2026-03-01T10:00:59Z', '2025-01-01T00:00:00Z', 'P8D', 59, 604_801])
      assert.equal(
        refusalOf({ ...ENROLL, sessionExpiry }, { settings }),
        `${at} must be 60 to 604800 seconds from now`,
        String(sessionExpiry),
      )
    assert.equal(read({ ...ENROLL, sessionExpiry: 'P7D' }, { settings }).lifetimeSeconds, 604_800)
    for (const sessionExpiry of [86_401, 'P2D', '2026-03-02T10:00:01Z'])
      assert.equal(refusalOf({ ...ENROLL, sessionExpiry }), `${at} must be <= 86400 for this tenant`)
  })

  test('is refused in any other form', () => {
    const message =
      '/body/sessionExpiry must be seconds, a duration such as PT15M or a moment such as 2026-01-31T12:00:00Z'
    for (const sessionExpiry of ['900', '15 minutes', 'P1M', '2026-03-01T12:00:00+02:00'])
      assert.equal(refusalOf({ ...ENROLL, sessionExpiry }), message)
  })
})

describe('the transaction id of a test session', () => {
  const testOf = (transactionID: string, options?: ReadOptions) => {
    const { sandbox, pinned, transactionId } = requestOf({ ...ENROLL, transactionID }, options)
    assert.equal(transactionId, transactionID, 'it is returned unchanged')
    return { sandbox, pinned }
  }

  test('names the simulated outcome', () => {
    for (const sandbox of ['success', 'spoof', 'expired', 'not_enrolled', 'locked'] as const) {
      assert.deepEqual(testOf(`test:${sandbox}`), { sandbox, pinned: null })
      assert.deepEqual(testOf(`test:${sandbox} order 7`), { sandbox, pinned: null })
    }
  })

  test('or names the movements of the challenge', () => {
    const pinned = { movements: ['turn_left', 'blink', 'closer'], fixedTimes: true }
    assert.deepEqual(testOf('test:challenge=turn_left,blink,closer'), { sandbox: null, pinned })
    assert.deepEqual(testOf('test:challenge=turn_left,blink,closer order 7'), { sandbox: null, pinned })
    const message = '/body/transactionID must name 3 movements, none twice in a row'
    for (const movements of ['blink', 'blink,blink,closer', 'jump,blink,closer', 'blink,closer,blink,closer', ''])
      assert.equal(refusalOf({ ...ENROLL, transactionID: `test:challenge=${movements}` }), message)
  })

  test('is refused when it names neither, so that the session does not wait for a person', () => {
    const message =
      '/body/transactionID begins with test: and must continue with one of success, spoof, expired, not_enrolled, locked, challenge='
    for (const transactionID of ['test:', 'test:sucess', 'test:challenge', 'test:challenge=blink;closer'])
      assert.equal(refusalOf({ ...ENROLL, transactionID }), message)
  })

  test('has no meaning in live mode, or with another prefix', () => {
    assert.deepEqual(testOf('test:success', { livemode: true }), { sandbox: null, pinned: null })
    assert.deepEqual(testOf('test:whatever', { livemode: true }), { sandbox: null, pinned: null })
    assert.deepEqual(testOf('Test:success'), { sandbox: null, pinned: null })
    assert.deepEqual(testOf('order-4711'), { sandbox: null, pinned: null })
  })
})
