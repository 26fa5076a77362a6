import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, describe, test } from 'node:test'
import type { TenantIssuerInput } from '@ostiary/contract'
import { exportSPKI, importJWK, SignJWT } from 'jose'
import { AppError } from '../platform/errors.ts'
import { createLog } from '../platform/log.ts'
import { createOutbound } from '../platform/outbound/index.ts'
import { createManualClock } from '../platform/testing/manual-clock.ts'
import { createTokenVerifier } from './jwt.ts'
import { readSettings } from './settings.ts'
import { createIdentityProvider, createSigningKey } from './testing/identity-provider.ts'

const TENANT = '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa'
const OTHER_TENANT = '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6bb'

const clock = createManualClock()
const now = () => Math.floor(clock.now().getTime() / 1000)
const lines: string[] = []
const log = createLog('debug', { write: (line) => void lines.push(line) })
const outbound = createOutbound({ version: '9.9.9', allowNetworks: ['127.0.0.1/32'], allowHttp: true })

const issuersOf = new Map<string, TenantIssuerInput[]>()
const settings = { get: async (tenantId: string) => readSettings({ issuers: issuersOf.get(tenantId) ?? [] }) }
const { verify } = createTokenVerifier({ outbound, clock, log, settings })

const provider = await createIdentityProvider(now)
const otherProvider = await createIdentityProvider(now)
issuersOf.set(TENANT, [provider.settings])
issuersOf.set(OTHER_TENANT, [otherProvider.settings])
after(() => Promise.all([provider.stop(), otherProvider.stop()]))

async function isRefused(authorization: string, message?: string, tenantId = TENANT): Promise<void> {
  await assert.rejects(
    verify(tenantId, authorization),
    (error) => {
      assert.ok(error instanceof AppError, String(error))
      assert.deepEqual(
        [error.fault, error.code, error.message],
        ['unauthenticated', 'INVALID_TOKEN', 'Invalid bearer token'],
      )
      return true
    },
    message,
  )
}

describe('a token is taken', () => {
  test('[C-055] when a configured identity provider signed it with any of the four usual algorithms', async () => {
    const signers = await Promise.all(
      ['ES256', 'RS256', 'PS256', 'EdDSA'].map((alg) => createSigningKey(`k-${alg}`, alg)),
    )
    const many = await createIdentityProvider(now)
    many.publish(signers.map(({ jwk }) => jwk))
    issuersOf.set(TENANT, [provider.settings, many.settings])
    for (const signer of signers) {
      const token = await many.sign({}, {}, signer)
      assert.deepEqual(await verify(TENANT, `Bearer ${token}`), { issuer: many.settings.issuer }, signer.alg)
    }
    assert.equal(many.requests(), 1)
    issuersOf.set(TENANT, [provider.settings])
    await many.stop()
  })

  test('however the scheme is written, and with one of several audiences', async () => {
    const expected = { issuer: provider.settings.issuer }
    assert.deepEqual(await verify(TENANT, `bearer ${await provider.sign()}`), expected)
    assert.deepEqual(await verify(TENANT, `BEARER   ${await provider.sign()}`), expected)
    assert.deepEqual(await verify(TENANT, `Bearer ${await provider.sign({ aud: ['x', 'age-check'] })}`), expected)
  })

  test('without a key id when only one key fits, and without a subject', async () => {
    const token = await provider.sign({ sub: undefined }, { kid: undefined })
    assert.deepEqual(await verify(TENANT, `Bearer ${token}`), { issuer: provider.settings.issuer })
  })

  test('up to 60 seconds after its end and before its beginning', async () => {
    await verify(TENANT, `Bearer ${await provider.sign({ exp: now() - 59 })}`)
    await isRefused(`Bearer ${await provider.sign({ exp: now() - 60 })}`)
    await verify(TENANT, `Bearer ${await provider.sign({ nbf: now() + 60 })}`)
    await isRefused(`Bearer ${await provider.sign({ nbf: now() + 61 })}`)
  })

  test('at 8 KB, and not one character longer', async () => {
    const base = (await provider.sign({ pad: '' })).length
    // Three bytes make four characters of base64url.
    const room = Math.floor(((8 * 1024 - base) * 3) / 4)
    const fits = await provider.sign({ pad: 'x'.repeat(room) })
    assert.ok(fits.length > 8 * 1024 - 4 && fits.length <= 8 * 1024, String(fits.length))
    await verify(TENANT, `Bearer ${fits}`)
    await isRefused(`Bearer ${await provider.sign({ pad: 'x'.repeat(room + 3) })}`)
  })
})

describe('the subject', () => {
  test('is given as a hash of tenant, issuer and subject where the tenant asks for it, and else not at all', async () => {
    issuersOf.set(TENANT, [{ ...provider.settings, subjectToMetadata: true }])
    issuersOf.set(OTHER_TENANT, [{ ...provider.settings, subjectToMetadata: true }])
    const { issuer } = provider.settings
    const hashFor = (tenantId: string) =>
      createHash('sha256').update(`${tenantId}\n${issuer}\nuser-1`).digest('base64url')
    const token = `Bearer ${await provider.sign()}`
    assert.deepEqual(await verify(TENANT, token), { issuer, subjectHash: hashFor(TENANT) })
    assert.deepEqual(await verify(OTHER_TENANT, token), { issuer, subjectHash: hashFor(OTHER_TENANT) })
    assert.deepEqual(await verify(TENANT, `Bearer ${await provider.sign({ sub: undefined })}`), { issuer })
    issuersOf.set(TENANT, [provider.settings])
    issuersOf.set(OTHER_TENANT, [otherProvider.settings])
    assert.deepEqual(await verify(TENANT, token), { issuer })
  })

  test('must be a text', async () => {
    for (const sub of [7, null, ['user-1']]) await isRefused(`Bearer ${await provider.sign({ sub })}`)
  })
})

describe('a token is refused', () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

  test('when nothing signed it', async () => {
    const payload = encode({ iss: provider.settings.issuer, aud: 'age-check', exp: now() + 300 })
    for (const alg of ['none', 'None', 'NONE', '', null]) {
      await isRefused(`Bearer ${encode({ alg })}.${payload}.`)
      await isRefused(`Bearer ${encode({ alg })}.${payload}.AAAA`)
      await isRefused(`Bearer ${encode({ alg, kid: provider.key().kid })}.${payload}.AAAA`)
    }
  })

  test('when the public key was used as a shared secret', async () => {
    const { jwk, kid } = provider.key()
    const publicKey = await importJWK(jwk, 'ES256', { extractable: true })
    assert.ok(!(publicKey instanceof Uint8Array))
    for (const secret of [await exportSPKI(publicKey), JSON.stringify(jwk)]) {
      const token = await new SignJWT({ iss: provider.settings.issuer, aud: 'age-check', exp: now() + 300 })
        .setProtectedHeader({ alg: 'HS256', kid })
        .sign(Buffer.from(secret))
      await isRefused(`Bearer ${token}`)
    }
  })

  test('when a key that it brings along, or points to, signed it', async () => {
    const own = await createSigningKey(provider.key().kid, 'ES256')
    await isRefused(`Bearer ${await provider.sign({}, { jwk: own.jwk }, own)}`)
    const before = otherProvider.requests()
    await isRefused(`Bearer ${await provider.sign({}, { jku: otherProvider.settings.jwksUri }, own)}`)
    assert.equal(otherProvider.requests(), before, 'an address in a token is never called')
  })

  test('when its issuer, audience or time is not right', async () => {
    const wrong: [string, Record<string, unknown>][] = [
      ['no issuer', { iss: undefined }],
      ['an unknown issuer', { iss: 'https://id.example' }],
      ['almost the issuer', { iss: `${provider.settings.issuer}/` }],
      ['a list of issuers', { iss: [provider.settings.issuer] }],
      ['no audience', { aud: undefined }],
      ['another audience', { aud: 'other' }],
      ['almost the audience', { aud: 'AGE-CHECK' }],
      ['no end', { exp: undefined }],
      ['an end that is no number', { exp: '9999999999' }],
      ['expired', { exp: now() - 61 }],
      ['not yet valid', { nbf: now() + 61 }],
    ]
    for (const [what, change] of wrong) {
      await isRefused(`Bearer ${await provider.sign(change)}`, what)
    }
  })

  test('when the algorithm is not one the tenant takes, though the key would fit', async () => {
    const rsa = await createIdentityProvider(now)
    const signer = await rsa.rotate('RS256')
    const { alg: _named, ...unnamed } = signer.jwk
    rsa.publish([unnamed])
    issuersOf.set(TENANT, [{ ...rsa.settings, algorithms: ['PS256'] }])
    await isRefused(`Bearer ${await rsa.sign()}`)
    assert.equal(rsa.requests(), 0, 'a token that can never pass causes no call')
    issuersOf.set(TENANT, [{ ...rsa.settings, algorithms: ['RS256'] }])
    await verify(TENANT, `Bearer ${await rsa.sign()}`)
    issuersOf.set(TENANT, [provider.settings])
    await rsa.stop()
  })

  test('when it is of another tenant’s issuer, or the tenant has none', async () => {
    const token = `Bearer ${await otherProvider.sign()}`
    assert.deepEqual(await verify(OTHER_TENANT, token), { issuer: otherProvider.settings.issuer })
    await isRefused(token)
    await isRefused(token, undefined, '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6cc')
  })

  test('when one issuer of the tenant signs in the name of another', async () => {
    issuersOf.set(TENANT, [provider.settings, otherProvider.settings])
    await isRefused(`Bearer ${await provider.sign({}, {}, otherProvider.key())}`)
    await isRefused(`Bearer ${await otherProvider.sign({}, { kid: otherProvider.key().kid }, provider.key())}`)
    issuersOf.set(TENANT, [provider.settings])
  })

  test('when any character of it is changed', async () => {
    const token = await provider.sign()
    for (let at = 0; at < token.length; at += 3) {
      // The last character of a part holds bits that are thrown away.
      if (token[at] === '.' || token[at + 1] === '.' || at === token.length - 1) continue
      const changed = token[at] === 'A' ? 'B' : 'A'
      await isRefused(`Bearer ${token.slice(0, at)}${changed}${token.slice(at + 1)}`, `character ${at}`)
    }
  })

  test('when it is no bearer token at all', async () => {
    const token = await provider.sign()
    for (const header of [
      '',
      'Bearer',
      'Bearer ',
      token,
      `Basic ${token}`,
      `Bearer ${token} `,
      `Bearer ${token}, Bearer ${token}`,
      `Bearer "${token}"`,
      `Bearer ${token}=`,
      `Bearer ${token}.${token}`,
      `Bearer ${token.split('.').slice(0, 2).join('.')}`,
      'Bearer a.b.c',
      'Bearer ..',
      `Bearer ${'a'.repeat(100_000)}`,
      `Bearer${' '.repeat(9_000)}${token}`,
    ]) {
      await isRefused(header, header.slice(0, 40))
    }
  })

  test('and the log never holds a token, a subject or a key', async () => {
    const marked = await provider.sign({ sub: 'MARKED-SUBJECT', aud: 'MARKED-AUDIENCE' })
    const error = await verify(TENANT, `Bearer ${marked}`).catch((reason: unknown) => reason)
    log.warn({ err: error }, 'as a request would log it')
    const line = lines.at(-1) ?? ''
    assert.match(line, /"errorCode":"INVALID_TOKEN < ERR_JWT_CLAIM_VALIDATION_FAILED"/)
    for (const secret of ['MARKED', marked.slice(10, 40), marked.slice(-20)]) {
      assert.ok(!lines.join('').includes(secret), secret)
    }
  })
})
