import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { PasskeyOptions, TenantSettingsPatch, VerificationType } from '@ostiary/contract'
import {
  createTokenKeeper,
  type KeptToken,
  runFlow,
  type SimulatedPerson,
  seededRandom,
  type TokenKeeper,
} from '@ostiary/device/simulated'
import { startKeyHolder } from '@ostiary/testkit/key-holder'
import { createProbe, createToken, TOKEN_BYTES } from '@ostiary/token'
import { createFaces } from '../biometrics/testing/faces.ts'
import { type Authenticator, createAuthenticator } from '../passkeys/testing/authenticator.ts'
import { createPage } from '../launch/testing/page.ts'
import { verificationOf } from './progress.ts'
import { createVerificationFixture, type VerificationHost } from './testing/fixture.ts'
import { visit } from './testing/people.ts'
import { verificationSessionsIn } from './types.ts'

const keyHolder = await startKeyHolder({ logName: 'tokens-api', clusterUrl: process.env.OSTIARY_TEST_CLUSTER ?? '' })
const fixture = await createVerificationFixture({
  KEY_HOLDER_URL: keyHolder.url,
  KEY_HOLDER_KEY: keyHolder.published.serviceKey,
  KEY_HOLDER_CLIENT_KEY: keyHolder.matcherSeed,
})
after(() => keyHolder.remove())
const faces = createFaces(17)
const newHost = (settings: TenantSettingsPatch = {}) =>
  fixture.newHost({ settings: { templates: 'token', ...settings } })

interface User {
  face: readonly number[]
  keeper: TokenKeeper
}

/** A person with a browser of their own. `kept` is what the browser keeps after the enrolment. */
function newUser() {
  const keeper = createTokenKeeper()
  let last: KeptToken | undefined
  const remember = (token: KeptToken) => {
    last = token
    return keeper.keep(token)
  }
  return {
    face: faces.person(),
    keeper: { find: keeper.find, keep: remember },
    kept: () => last ?? assert.fail('The browser keeps no token'),
  }
}

/** One session from creation to its webhook. */
async function run(
  host: VerificationHost,
  type: VerificationType,
  { face, keeper }: User,
  {
    body = {},
    migrates = false,
    person = {},
  }: { body?: object; migrates?: boolean; person?: Partial<SimulatedPerson> } = {},
) {
  const { sessionId } = await host.create(type, body)
  const fingerprints = [keyHolder.published.fingerprint]
  const tokens = { functions: { createToken, createProbe }, keeper, fingerprints, migrates }
  const state = await visit(fixture, sessionId, face, { tokens, ...person })
  return { state, webhook: await host.webhook(sessionId) }
}

async function enrolled(host: VerificationHost, body: object = {}) {
  const user = newUser()
  const { state, webhook } = await run(host, 'ENROLL', user, { body })
  assert.deepEqual([state.state, webhook.errors], ['SUCCESS', []])
  assert.ok(webhook.puid)
  return { ...user, puid: webhook.puid }
}

const rowsOf = async (text: string, values: unknown[] = []) => (await fixture.harness.database.query(text, values)).rows
const tokensOf = ({ tenantId }: VerificationHost) =>
  rowsOf('select * from face_tokens where tenant_id = $1', [tenantId])

/** Answers the options of a passkey call as a page does. */
const answers = (own: Authenticator) => async (asked: PasskeyOptions) =>
  asked.mode === 'create' ? own.create(asked.options) : own.get(asked.options)

async function sendErasures() {
  const { wire, clock } = fixture.harness
  clock.advance(3_600_000)
  for (const { db } of wire.platform.cells.all()) await wire.matcher.erasures.sendDue(db, clock.now())
}

describe('a tenant that stores tokens', () => {
  test('[D-043] [D-048] ENROLL creates a token, by which the person signs in later and is verified', async () => {
    const host = await newHost()
    const user = await enrolled(host, { customerId: 'ana' })
    const [row] = await tokensOf(host)
    assert.equal(row.person_id, user.puid)
    for (const [type, body] of [
      ['SIGN-IN', {}],
      ['SIGN-IN', { customerId: 'ana' }],
      ['SIGN-IN', { puid: user.puid }],
      ['VERIFY', { customerId: 'ana' }],
    ] as const) {
      const { state, webhook } = await run(host, type, { ...user, face: faces.sample(user.face) }, { body })
      assert.deepEqual([state.state, webhook.puid, webhook.matchedBy], ['SUCCESS', user.puid, 'server'])
    }
  })

  test('[U3] an enrolment that finds the queue of its tenant full has stored nothing and lost no try', async () => {
    const host = await newHost()
    const { enrolment } = fixture.harness.wire.matcher
    const places: (() => void)[] = []
    assert.throws(() => {
      while (places.length < 1_000) places.push(enrolment.enterQueue(host.tenantId))
    }, /Too many tokens/)
    const { sessionId } = await host.create('ENROLL')
    const { face, keeper } = newUser()
    const tokens = { functions: { createToken, createProbe }, keeper }
    const { device, clock } = await fixture.newDevice(sessionId)
    const person = { clock, random: seededRandom(5), ageYears: null, vector: face, tokens }
    await assert.rejects(runFlow(device, person), { code: 'DEPENDENCY_DOWN' })
    const found = await verificationSessionsIn(fixture.harness.wire.sessions.service).find(sessionId)
    assert.ok(found && 'progress' in found && found.progress)
    assert.deepEqual([await tokensOf(host), verificationOf(found.progress).tokenEnrolments], [[], 0])
    for (const leave of places) leave()
  })

  test('[D-004] the service stores no vector of the person', async () => {
    const host = await newHost()
    await enrolled(host)
    for (const table of ['face_templates', 'face_vectors', 'face_spaces'])
      assert.deepEqual(await rowsOf(`select 1 from ${table} where tenant_id = $1`, [host.tenantId]), [], table)
  })

  test('a device that lost the last reply learns from the ended session that its token is bound; another device does not', async () => {
    const host = await newHost()
    const { sessionId } = await host.create('ENROLL')
    const { face, keeper } = newUser()
    const tokens = { functions: { createToken, createProbe }, keeper }
    const { device, clock } = await fixture.newDevice(sessionId)
    const person = { clock, random: seededRandom(5), ageYears: null, vector: face, tokens }
    assert.equal((await runFlow(device, person)).tokenBound, true)
    const reopened = await device.open()
    assert.deepEqual([reopened.state, reopened.tokenBound], ['SUCCESS', true])
    const { device: other } = await fixture.newDevice(sessionId)
    assert.equal((await other.open()).tokenBound, undefined)
  })

  test('another person with the device of an enrolled one is not recognised', async () => {
    const host = await newHost()
    const user = await enrolled(host)
    const { state, webhook } = await run(host, 'SIGN-IN', { ...user, face: faces.person() })
    assert.equal(state.state, 'FAILED')
    assert.deepEqual([webhook.status, webhook.puid], ['error', undefined])
  })

  test('a device that holds no key ends with -36 and the reason no_hint, and the create call warned', async () => {
    const host = await newHost()
    const user = await enrolled(host)
    const created = await host.call('POST', '/v2/verification-session', {
      type: 'SIGN-IN',
      redirectURL: 'https://shop.example/back',
      callback: { url: fixture.receiver.url },
    })
    assert.match(String(created.headers['x-config-warning']), /sign-in-needs-hint/)
    const { webhook } = await run(host, 'SIGN-IN', { face: user.face, keeper: createTokenKeeper() })
    assert.deepEqual(webhook.errorCodes, [-36])
    assert.deepEqual(webhook.errorDetails, [{ code: -36, name: 'USER_NOT_ENROLLED', reason: 'no_hint' }])
  })

  test('a name that is somebody’s already is refused with -37: nothing shows whose face it is', async () => {
    const host = await newHost()
    await enrolled(host, { customerId: 'ben' })
    const { webhook } = await run(host, 'ENROLL', newUser(), { body: { customerId: 'ben' } })
    assert.deepEqual([webhook.status, webhook.errors.map(({ code }) => code)], ['FAILED', [-37]])
    assert.equal((await tokensOf(host)).filter(({ person_id }) => person_id !== null).length, 1)
  })

  test('VERIFY with the token of another person than the named one is refused', async () => {
    const host = await newHost()
    await enrolled(host, { customerId: 'cleo' })
    const other = await enrolled(host, { customerId: 'dora' })
    const { webhook } = await run(host, 'VERIFY', other, { body: { customerId: 'cleo' } })
    assert.deepEqual(
      webhook.errors.map(({ code }) => code),
      [-36],
    )
  })
})

describe('the token on the user’s device', () => {
  test('[D-047] is not on the server, and signs in and verifies', async () => {
    const host = await newHost({ templates: 'token_on_device' })
    const user = await enrolled(host, { customerId: 'eve' })
    const [row] = await tokensOf(host)
    assert.equal(row.sealed_token, null)
    for (const [type, body] of [
      ['SIGN-IN', {}],
      ['VERIFY', { customerId: 'eve' }],
    ] as const) {
      const { state, webhook } = await run(host, type, { ...user, face: faces.sample(user.face) }, { body })
      assert.deepEqual([state.state, webhook.puid], ['SUCCESS', user.puid])
    }
  })

  test('does not pass for another one: changed, of another account, or missing', async () => {
    const host = await newHost({ templates: 'token_on_device' })
    const [user, other] = [await enrolled(host), await enrolled(host)]
    const foreign = other.kept().sealedToken ?? ''
    for (const sealedToken of [foreign, `A${foreign.slice(1)}`, null]) {
      const keeper: TokenKeeper = { find: async () => ({ ...user.kept(), sealedToken }), keep: async () => {} }
      const { state } = await run(host, 'SIGN-IN', { face: user.face, keeper })
      assert.equal(state.state, 'FAILED')
    }
  })
})

test('[D-045] [D-046] two tokens of one face differ and have one size', async () => {
  const face = faces.person()
  const [one, other] = await Promise.all([1, 2].map((n) => createToken(new Uint8Array(16).fill(n), face)))
  assert.ok(one && other)
  assert.deepEqual([one.token.length, other.token.length], [TOKEN_BYTES, TOKEN_BYTES])
  assert.ok(TOKEN_BYTES >= 1024 && TOKEN_BYTES <= 16 * 1024)
  assert.notDeepEqual(one.token.subarray(20), other.token.subarray(20))
})

describe('a successor', () => {
  test('replaces a token whose comparisons are nearly used up: the old one is deleted here and at the key holder', async () => {
    const host = await newHost()
    const user = await enrolled(host)
    const old = user.kept()
    await rowsOf('update face_tokens set evaluations = 4600 where tenant_id = $1', [host.tenantId])
    const { webhook } = await run(host, 'SIGN-IN', { ...user, face: faces.sample(user.face) })
    assert.deepEqual([webhook.status, webhook.puid], ['SUCCESS', user.puid])
    assert.notEqual(user.kept().tokenId, old.tokenId)
    assert.equal(user.kept().account, old.account)
    const rows = await tokensOf(host)
    assert.deepEqual(
      rows.map(({ token_id, person_id }) => [token_id.toString('base64url'), person_id]),
      [[user.kept().tokenId, user.puid]],
    )
    await sendErasures()
    assert.equal((await run(host, 'SIGN-IN', user)).webhook.puid, user.puid)
    const withOld: TokenKeeper = { find: async () => old, keep: async () => {} }
    assert.deepEqual((await run(host, 'SIGN-IN', { face: user.face, keeper: withOld })).webhook.errorCodes, [-36])
  })

  test('replaces a stored vector if the user agrees: both copies are deleted with the end of the session', async () => {
    const host = await fixture.newHost()
    const face = faces.person()
    const { webhook } = await run(
      host,
      'ENROLL',
      { face, keeper: createTokenKeeper() },
      { body: { customerId: 'finn' } },
    )
    const puid = String(webhook.puid)
    const vectors = () =>
      rowsOf(
        'select 1 from face_templates where tenant_id = $1 union all select 1 from face_vectors where tenant_id = $1',
        [host.tenantId],
      )
    assert.equal((await vectors()).length, 2)
    await fixture.harness.wire.settings.service.set(host.tenantId, { templates: 'token', migrateVectors: true })
    const user = { ...newUser(), face }
    const refused = await run(host, 'SIGN-IN', { ...user, face: faces.sample(face) })
    assert.deepEqual(refused.webhook.errorCodes, [-36], 'without the user’s consent nothing is replaced')
    const moved = await run(host, 'SIGN-IN', { ...user, face: faces.sample(face) }, { migrates: true })
    assert.deepEqual([moved.state.tokenBound, moved.webhook.puid], [true, puid])
    assert.deepEqual(await vectors(), [])
    const next = await run(host, 'VERIFY', { ...user, face: faces.sample(face) }, { body: { customerId: 'finn' } })
    assert.equal(next.webhook.puid, puid)
    const other = await run(host, 'SIGN-IN', newUser(), { migrates: true })
    assert.deepEqual(other.webhook.errorCodes, [-36])
  })

  test('does not come with the face alone to a person who has a passkey: it needs the passkey too', async () => {
    const host = await fixture.newHost()
    const face = faces.person()
    const { origin, hostname } = new URL(fixture.harness.wire.config.launch.url)
    const own = createAuthenticator({ origin, rpId: hostname })
    const person = { passkey: answers(own) }
    const body = { requirements: ['face', 'passkey'] }
    const { webhook } = await run(host, 'ENROLL', { face, keeper: createTokenKeeper() }, { body, person })
    assert.ok(webhook.puid)
    await fixture.harness.wire.settings.service.set(host.tenantId, { templates: 'token', migrateVectors: true })
    const user = { ...newUser(), face }
    const byFace = await run(host, 'SIGN-IN', user, { migrates: true })
    assert.deepEqual([byFace.webhook.status, byFace.state.tokenBound], ['SUCCESS', undefined])
    const byBoth = await run(host, 'SIGN-IN', user, { migrates: true, body, person })
    assert.deepEqual([byBoth.webhook.puid, byBoth.state.tokenBound], [webhook.puid, true])
  })
})

/** While the key holder is away a call that reaches it is 503. */
async function assertAskedForHolderOnly(host: VerificationHost) {
  const { sessionId } = await host.create('ENROLL')
  const page = await createPage(fixture, sessionId)
  await page.open()
  await page.consent()
  await page.call('challenge')
  const stranger = await createPage(fixture, sessionId)
  const refused = await stranger.call('token/begin', {}, { claims: { counter: 100 } })
  assert.deepEqual([refused.statusCode, refused.json().code], [401, 'INVALID_DEVICE_PROOF'])
  assert.equal((await page.call('token/begin')).statusCode, 503)
}

describe('while the key holder is away', () => {
  test('[U7] nobody is recognised or enrolled, and it is not asked for a stranger: -100 with a time to wait; an erasure reaches it later', async () => {
    const host = await newHost()
    const user = await enrolled(host)
    await keyHolder.kill()
    await assertAskedForHolderOnly(host)
    for (const type of ['SIGN-IN', 'ENROLL'] as const) {
      const { state, webhook } = await run(host, type, type === 'ENROLL' ? newUser() : user)
      assert.deepEqual(
        [state.state, webhook.errors.map(({ code }) => code), webhook.retryAfter],
        ['FAILED', [-100], 60],
      )
    }
    const { wire, clock } = fixture.harness
    const group = { tenantId: host.tenantId, livemode: false }
    assert.ok(await wire.biometrics.recognition.delete(group, user.puid))
    assert.deepEqual(
      (await tokensOf(host)).filter(({ person_id }) => person_id !== null),
      [],
    )
    const [{ db } = assert.fail()] = wire.platform.cells.all()
    await wire.matcher.erasures.sendDue(db, clock.now())
    assert.equal((await wire.matcher.erasures.waiting(db)).count, 1)
    await keyHolder.start()
    clock.advance(3_600_000)
    await wire.matcher.erasures.sendDue(db, clock.now())
    assert.equal((await wire.matcher.erasures.waiting(db)).count, 0)
  })
})
