import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TENANT_SETTINGS_DEFAULTS, TenantSettings } from '@ostiary/contract'
import { AppError } from '../platform/errors.ts'
import { createOutbound } from '../platform/outbound/index.ts'
import { applyPatch, checkSettings, DEFAULTS, readSettings } from './settings.ts'

const { check: checkUrl } = createOutbound({ version: '9.9.9', allowNetworks: [] })

const ISSUER = {
  issuer: 'https://id.example/',
  jwksUri: 'https://id.example/keys',
  audience: 'age-check',
}

/** As large as a logo may be. */
const LOGO = dataUrlOf(24 * 1024)

function dataUrlOf(chars: number): string {
  const start = `data:image/png;base64,${Buffer.from('89504e470d0a1a0a00', 'hex').toString('base64')}`
  return start + 'A'.repeat(chars - start.length)
}

function refusalOf(settings: unknown): [string, string][] {
  try {
    checkSettings(settings, checkUrl)
  } catch (error) {
    assert.ok(error instanceof AppError)
    assert.deepEqual([error.fault, error.code], ['invalid_request', 'VALIDATION_FAILED'])
    return (error.extra.details ?? []).map(({ pointer, message }) => [pointer, message])
  }
  return assert.fail('it was not refused')
}

describe('reading', () => {
  test('a tenant that set nothing has the documented defaults', () => {
    assert.deepEqual(readSettings({}), {
      retentionSeconds: 86_400,
      redirectUrls: [],
      redirectListRequired: false,
      resultRequiresKey: false,
      alwaysReturnAge: false,
      faceAgeMarginYears: 0,
      documentInDoubt: false,
      enforceBlock: false,
      risk: {},
      defaultLocale: 'en',
      sessionSecondsMax: 86_400,
      clientCredentials: 'live',
      signInMatching: 'local_with_passkey',
      templates: 'vector',
      migrateVectors: false,
      redirectCode: false,
      signInHandoff: true,
      failedComparisonsPerHour: 10_000,
      nodeScores: 'bands',
      documentTypes: ['passport', 'drivers_license', 'national_id', 'residence_permit', 'other'],
      documentExpiryGraceDays: 0,
      documentReuseCheck: false,
      alternativeUrl: null,
      privacyUrl: null,
      supportUrl: null,
      userMayExtend: false,
      screeningRunDays: 0,
      debugInLive: false,
      embedOrigins: [],
      issuers: [],
      brand: null,
    })
    assert.deepEqual(readSettings({}), DEFAULTS)
  })

  test('the defaults in the schema are the defaults that are given out', () => {
    for (const [name, schema] of Object.entries(TenantSettings.properties)) {
      const inSchema: unknown = 'default' in schema ? schema.default : {}
      assert.deepEqual(inSchema, Object.entries(TENANT_SETTINGS_DEFAULTS).find(([key]) => key === name)?.[1], name)
    }
  })

  test('what was set stands, and an issuer gets the algorithms that were not named', () => {
    assert.deepEqual(readSettings({ faceAgeMarginYears: 2.5, issuers: [ISSUER] }), {
      ...TENANT_SETTINGS_DEFAULTS,
      faceAgeMarginYears: 2.5,
      issuers: [{ ...ISSUER, algorithms: ['ES256', 'RS256', 'PS256', 'EdDSA'], subjectToMetadata: false }],
    })
    const [issuer] = readSettings({
      issuers: [{ ...ISSUER, algorithms: ['RS512'], subjectToMetadata: true }],
    }).issuers
    assert.deepEqual(issuer, { ...ISSUER, algorithms: ['RS512'], subjectToMetadata: true })
  })

  test('a brand gets what was not named as null: the page’s own', () => {
    const { brand } = readSettings({ brand: { name: 'Fjord Rentals', primary: '#0b57d0' } })
    assert.deepEqual(brand, { name: 'Fjord Rentals', logo: null, primary: '#0b57d0', background: null })
  })

  test('nobody can change the settings that all requests share', () => {
    const settings = readSettings({ issuers: [ISSUER], redirectUrls: ['https://shop.example'] })
    assert.throws(() => Object.assign(settings, { enforceBlock: true }), TypeError)
    assert.throws(() => settings.redirectUrls.push('https://other.example'), TypeError)
    assert.throws(() => settings.issuers[0]?.algorithms.push('ES384'), TypeError)
    assert.throws(() => DEFAULTS.issuers.push({ ...ISSUER, algorithms: [], subjectToMetadata: false }), TypeError)
  })

  test('a field that only a newer version knows is left out; a value that is not allowed makes all unreadable', () => {
    assert.deepEqual(readSettings({ enforceBlock: true, madeLater: 1, issuers: [{ ...ISSUER, madeLater: 1 }] }), {
      ...TENANT_SETTINGS_DEFAULTS,
      enforceBlock: true,
      issuers: [{ ...ISSUER, algorithms: ['ES256', 'RS256', 'PS256', 'EdDSA'], subjectToMetadata: false }],
    })
    for (const stored of [
      { enforceBlock: 'yes' },
      { retentionSeconds: 1 },
      { issuers: [{ ...ISSUER, audience: '' }] },
    ]) {
      assert.throws(
        () => readSettings(stored),
        (error) => error instanceof AppError && error.fault === 'internal' && error.code === 'INTERNAL',
        JSON.stringify(stored),
      )
    }
  })
})

describe('changing', () => {
  test('what is not named stays, null goes back to the default, a list is replaced as a whole', () => {
    const stored = { enforceBlock: true, retentionSeconds: 3_600, redirectUrls: ['https://a.example'] }
    const patch = { retentionSeconds: null, enforceBlock: undefined, redirectUrls: ['https://b.example'] }
    assert.deepEqual(applyPatch(stored, patch), { enforceBlock: true, redirectUrls: ['https://b.example'] })
    assert.deepEqual(stored, { enforceBlock: true, retentionSeconds: 3_600, redirectUrls: ['https://a.example'] })
  })

  test('what is no object is no change', () => {
    for (const patch of [null, [], 'x', 1, undefined]) {
      assert.throws(() => applyPatch({}, patch), /The settings are not valid: {2}must be an object/)
    }
  })

  test('everything at its limits is taken', () => {
    const settings = {
      retentionSeconds: 3_600,
      redirectUrls: ['https://shop.example', 'https://shop.example/age/', 'http://localhost:3000/back'],
      resultRequiresKey: true,
      alwaysReturnAge: true,
      faceAgeMarginYears: 20,
      documentInDoubt: true,
      enforceBlock: true,
      risk: { highBlocks: true, flags: { BR_WEBGL: { weight: 10 } } },
      defaultLocale: 'zh-Hans',
      sessionSecondsMax: 604_800,
      embedOrigins: ['https://shop.example', 'http://localhost:3000'],
      documentTypes: ['passport'],
      documentExpiryGraceDays: 3650,
      documentReuseCheck: true,
      alternativeUrl: 'https://shop.example/other-way?from=age',
      privacyUrl: { default: 'https://shop.example/privacy', de: 'https://shop.example/datenschutz' },
      supportUrl: { 'pt-BR': 'https://shop.example/ajuda' },
      brand: { name: 'x'.repeat(60), logo: LOGO, primary: '#0b57d0', background: '#ffffff' },
      issuers: Array.from({ length: 10 }, (_, at) => ({ ...ISSUER, issuer: `urn:issuer:${at}` })),
    }
    assert.deepEqual(checkSettings(settings, checkUrl), settings)
    assert.deepEqual(checkSettings({ retentionSeconds: 2_592_000, sessionSecondsMax: 60 }, checkUrl), {
      retentionSeconds: 2_592_000,
      sessionSecondsMax: 60,
    })
  })

  test('where there are only some values, the refusal names them', () => {
    assert.throws(
      () => checkSettings({ signInMatching: 'device' }, checkUrl),
      /\/signInMatching must be one of server, local_with_passkey, local$/,
    )
  })

  test('each value that is not allowed is refused with its place', () => {
    const issuer = (change: object) => ({ issuers: [{ ...ISSUER, ...change }] })
    const brand = (change: object) => ({ brand: { name: 'Fjord Rentals', ...change } })
    const refused: [object, string][] = [
      [{ retentionSeconds: 3_599 }, '/retentionSeconds'],
      [{ retentionSeconds: 2_592_001 }, '/retentionSeconds'],
      [{ retentionSeconds: 3_600.5 }, '/retentionSeconds'],
      [{ retentionSeconds: '3600' }, '/retentionSeconds'],
      [{ sessionSecondsMax: 604_801 }, '/sessionSecondsMax'],
      [{ sessionSecondsMax: 59 }, '/sessionSecondsMax'],
      [{ faceAgeMarginYears: -1 }, '/faceAgeMarginYears'],
      [{ faceAgeMarginYears: 20.5 }, '/faceAgeMarginYears'],
      [{ resultRequiresKey: 'true' }, '/resultRequiresKey'],
      [{ alwaysReturnAge: 1 }, '/alwaysReturnAge'],
      [{ documentInDoubt: 'yes' }, '/documentInDoubt'],
      [{ enforceBlock: null }, '/enforceBlock'],
      [{ defaultLocale: '' }, '/defaultLocale'],
      [{ defaultLocale: 'xx' }, '/defaultLocale'],
      [{ defaultLocale: 'en\u0000' }, '/defaultLocale'],
      [{ risk: { flags: { NO_SUCH_FLAG: { weight: 1 } } } }, '/risk/flags/NO_SUCH_FLAG'],
      [{ risk: { highBlocks: 1 } }, '/risk/highBlocks'],
      [{ redirectUrls: 'https://shop.example' }, '/redirectUrls'],
      [{ redirectUrls: ['https://a.example', 'https://a.example'] }, '/redirectUrls'],
      [{ redirectUrls: Array.from({ length: 101 }, (_, at) => `https://${at}.example`) }, '/redirectUrls'],
      [{ redirectUrls: ['https://a.example', 'http://b.example'] }, '/redirectUrls/1'],
      [{ issuers: Array.from({ length: 11 }, (_, at) => ({ ...ISSUER, issuer: `urn:${at}` })) }, '/issuers'],
      [{ issuers: [ISSUER, ISSUER] }, '/issuers/1/issuer'],
      [issuer({ issuer: 'two words' }), '/issuers/0/issuer'],
      [issuer({ issuer: 'line\nbreak' }), '/issuers/0/issuer'],
      [issuer({ audience: undefined }), '/issuers/0/audience'],
      [issuer({ algorithms: [] }), '/issuers/0/algorithms'],
      [issuer({ algorithms: ['HS256'] }), '/issuers/0/algorithms/0'],
      [issuer({ algorithms: ['ES256', 'none'] }), '/issuers/0/algorithms/1'],
      [issuer({ secret: 'x' }), '/issuers/0/secret'],
      [issuer({ jwksUri: 'ftp://id.example/keys' }), '/issuers/0/jwksUri'],
      [issuer({ jwksUri: 'http://id.example/keys' }), '/issuers/0/jwksUri'],
      [issuer({ jwksUri: 'https://169.254.169.254/keys' }), '/issuers/0/jwksUri'],
      [issuer({ jwksUri: 'https://user:pass@id.example/keys' }), '/issuers/0/jwksUri'],
      [{ embedOrigins: ['https://a.example', 'https://b.example/path'] }, '/embedOrigins/1'],
      [{ embedOrigins: Array.from({ length: 21 }, (_, at) => `https://${at}.example`) }, '/embedOrigins'],
      [{ documentTypes: [] }, '/documentTypes'],
      [{ documentTypes: ['passport', 'visa'] }, '/documentTypes/1'],
      [{ documentExpiryGraceDays: -1 }, '/documentExpiryGraceDays'],
      [{ documentExpiryGraceDays: 3651 }, '/documentExpiryGraceDays'],
      [{ documentReuseCheck: 'yes' }, '/documentReuseCheck'],
      [{ alternativeUrl: 'http://shop.example/other-way' }, '/alternativeUrl'],
      [{ alternativeUrl: 'https://user:secret@shop.example/' }, '/alternativeUrl'],
      [{ alternativeUrl: 'https://[nowhere]' }, '/alternativeUrl'],
      [{ privacyUrl: { default: 'http://shop.example/' } }, '/privacyUrl/default'],
      [{ privacyUrl: { de: 'https://user:secret@shop.example/' } }, '/privacyUrl/de'],
      [{ supportUrl: { xx: 'https://shop.example/' } }, '/supportUrl/xx'],
      [{ supportUrl: 'javascript:alert(1)' }, '/supportUrl'],
      [{ brand: {} }, '/brand/name'],
      [brand({ name: 'x'.repeat(61) }), '/brand/name'],
      [brand({ name: 'a\u0000b' }), '/brand/name'],
      [brand({ primary: '#FFF' }), '/brand/primary'],
      [brand({ primary: '#0B57D0' }), '/brand/primary'],
      [brand({ background: 7 }), '/brand/background'],
      [brand({ background: '#7a7a7a' }), '/brand/background'],
      [brand({ logo: dataUrlOf(24 * 1024 + 1) }), '/brand/logo'],
      [brand({ logo: 'https://shop.example/logo.png' }), '/brand/logo'],
      [brand({ logo: 'data:image/gif;base64,R0lGODlh' }), '/brand/logo'],
      [brand({ logo: 'data:image/png;base64,R0lGODlh' }), '/brand/logo'],
      [brand({ colour: 'red' }), '/brand/colour'],
      [{ retention: 3_600 }, '/retention'],
      [JSON.parse('{"__proto__": {"enforceBlock": true}}'), '/__proto__'],
    ]
    for (const [settings, place] of refused) {
      assert.deepEqual([...new Set(refusalOf(settings).map(([pointer]) => pointer))], [place], JSON.stringify(settings))
    }
  })

  test('everything that is wrong is named at once, in words, and no value is repeated', () => {
    const details = refusalOf({ retentionSeconds: 7, surprise: 'SECRET', issuers: [{ issuer: 'SECRET SECRET' }] })
    assert.deepEqual(details, [
      ['/surprise', 'is not a known field'],
      ['/retentionSeconds', 'must be >= 3600'],
      ['/issuers/0/jwksUri', 'is required'],
      ['/issuers/0/audience', 'is required'],
      ['/issuers/0/issuer', 'must match pattern "^[!-~]+$"'],
    ])
    assert.deepEqual(refusalOf({ issuers: [{ ...ISSUER, jwksUri: 'https://10.0.0.1/keys' }] }), [
      ['/issuers/0/jwksUri', 'may not be called (address)'],
    ])
    assert.deepEqual(refusalOf({ brand: { name: 'A', primary: 'SECRET', background: 7 } }), [
      ['/brand/primary', 'must match pattern "^#[0-9a-f]{6}$"'],
      ['/brand/background', 'must be string'],
    ])
  })

  test('settings that are too large together are refused', () => {
    const redirectUrls = Array.from({ length: 40 }, (_, at) => `https://shop.example/${'a'.repeat(1_900)}${at}`)
    assert.deepEqual(refusalOf({ redirectUrls }), [['', 'must not hold more than 64 KB']])
    assert.equal(checkSettings({ redirectUrls: redirectUrls.slice(0, 30) }, checkUrl).redirectUrls?.length, 30)
  })
})

test('a stored brand with a name that is no longer accepted is read as it is', () => {
  assert.equal(readSettings({ brand: { name: 'Fj\u00adord\u2800' } }).brand?.name, 'Fj\u00adord\u2800')
})
