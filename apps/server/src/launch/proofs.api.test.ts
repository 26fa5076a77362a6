import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DEVICE_PROOF_HEADER } from '@ostiary/crypto'
import { runFlow, seededRandom } from '@ostiary/device/simulated'
import { isPurged } from '../sessions/index.ts'
import { assertError } from '../testing/harness.ts'
import { makeSubmission, reachChallenge, send } from './testing/capture.ts'
import { createLaunchFixture } from './testing/fixture.ts'
import { createPage, okOf, type Page, stateBody, type Tweak } from './testing/page.ts'

const fixture = await createLaunchFixture()

const BAD_PROOF = [401, 'INVALID_DEVICE_PROOF', 'The device’s signature is not valid'] as const
const CONSENT = { accepted: true, version: '1', locale: 'en' }

/** The stored rows of a session, still sealed: equal bytes mean that the session did not change. */
async function stored(sessionId: string): Promise<unknown> {
  const { rows } = await fixture.harness.database.query('select * from sessions where session_id = $1', [sessionId])
  assert.equal(rows.length, 1)
  return rows[0]
}

async function openedPage() {
  const created = await fixture.create()
  const page = await createPage(fixture, created.sessionId)
  await page.open()
  return { created, page }
}

interface Forgery {
  name: string
  tweak: (honest: { page: Page; other: Page; body: string }) => Tweak | Promise<Tweak>
}

const parts = (proof: string) => proof.split('.')
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The honest proof of the call, and its forgery. */
const changed = (name: string, change: (proof: string) => string): Forgery => ({
  name,
  tweak: async ({ page, body }) => ({
    proof: change(await page.prove('POST', '/launch/api/consent', Buffer.from(body))),
  }),
})
const claimed = (name: string, claims: NonNullable<Tweak['claims']>): Forgery => ({ name, tweak: () => ({ claims }) })

const FORGERIES: Forgery[] = [
  { name: 'no proof', tweak: () => ({ proof: null }) },
  ...['', 'x', '..', 'a.b.c', 'null', '{}', 'Bearer x', 'é', '.'.repeat(100)].map(
    (proof): Forgery => ({
      name: `the proof ${JSON.stringify(proof.slice(0, 12))}`,
      tweak: () => ({ proof }),
    }),
  ),
  { name: 'a proof of 2,049 letters', tweak: () => ({ proof: 'A'.repeat(2_049) }) },
  {
    name: 'the key of another device',
    tweak: async ({ other, body }) => ({
      proof: await other.prove('POST', '/launch/api/consent', Buffer.from(body), { counter: 50 }),
    }),
  },
  claimed('the counter of the call before', { counter: 1 }),
  claimed('a counter of zero', { counter: 0 }),
  claimed('a negative counter', { counter: -1 }),
  claimed('a counter with a fraction', { counter: 2.5 }),
  claimed('a counter beyond the safe integers', { counter: 2 ** 60 }),
  claimed('the hash of another body', { bodyHash: 'x'.repeat(43) }),
  claimed('no hash', { bodyHash: '' }),
  claimed('another path', { path: '/launch/api/cancel' }),
  claimed('the path with a trailing slash', { path: '/launch/api/consent/' }),
  claimed('another method', { method: 'GET' }),
  claimed('the method in lower case', { method: 'post' }),
  claimed('another session', { sessionId: '079b6cd9-f993-81a6-95fd-62194e74386d' }),
  claimed('no session', { sessionId: '' }),
  claimed('a negative time', { issuedAt: -5 }),
  changed('no algorithm', (proof) => [encode({ alg: 'none' }), parts(proof)[1], ''].join('.')),
  changed('no algorithm and the signature', (proof) => [encode({ alg: 'none' }), ...parts(proof).slice(1)].join('.')),
  changed('a shared secret as algorithm', (proof) => [encode({ alg: 'HS256' }), ...parts(proof).slice(1)].join('.')),
  changed('a header with a key of its own', (proof) =>
    [encode({ alg: 'ES256', typ: 'ostiary-device+jwt', jwk: {} }), ...parts(proof).slice(1)].join('.'),
  ),
  changed('the signature left out', (proof) => `${parts(proof).slice(0, 2).join('.')}.`),
  changed('a signature of zeros', (proof) => [...parts(proof).slice(0, 2), 'A'.repeat(86)].join('.')),
  changed('a signature cut by a letter', (proof) => proof.slice(0, -1)),
  changed('the claims exchanged', (proof) => [parts(proof)[0], encode({ ctr: 99 }), parts(proof)[2]].join('.')),
  changed('the claims with one more', (proof) => {
    const [header, claims = '', signature] = parts(proof)
    const read: object = JSON.parse(Buffer.from(claims, 'base64url').toString())
    return [header, encode({ ...read, admin: true }), signature].join('.')
  }),
  changed('a fourth part', (proof) => `${proof}.AAAA`),
  changed('a space behind it', (proof) => `${proof} x`),
]

test(`${FORGERIES.length} proofs that the device did not make for this call are refused, and nothing changes`, async () => {
  const { created, page } = await openedPage()
  const other = await createPage(fixture, created.sessionId)
  const before = await stored(created.sessionId)
  const body = JSON.stringify({ sessionId: created.sessionId, ...CONSENT })
  for (const { name, tweak } of FORGERIES) {
    fixture.harness.clock.advance(1_000)
    const reply = await page.send('consent', body, await tweak({ page, other, body }))
    assert.equal(reply.statusCode, 401, `${name}: ${reply.body}`)
    assertError(reply, ...BAD_PROOF)
  }
  assert.deepEqual(await stored(created.sessionId), before)
  assert.deepEqual(
    okOf(await page.send('consent', body)),
    stateBody(created, { state: 'READY' }),
    'the honest one is taken',
  )
})

describe('a proof is valid once', () => {
  test('on a call that was accepted', async () => {
    const { created, page } = await openedPage()
    await page.consent()
    const { events } = await makeSubmission(page, await page.challenge())
    const text = JSON.stringify({ sessionId: created.sessionId, events })
    const proof = await page.prove('POST', '/launch/api/events', Buffer.from(text))
    okOf(await page.send('events', text, { proof }))
    const before = await stored(created.sessionId)
    assertError(await page.send('events', text, { proof }), ...BAD_PROOF)
    assert.deepEqual(await stored(created.sessionId), before)
  })

  test('on a call that was refused: it cannot be sent again when the call would be accepted', async () => {
    const { created, page } = await openedPage()
    const text = JSON.stringify({ sessionId: created.sessionId })
    const proof = await page.prove('POST', '/launch/api/challenge', Buffer.from(text))
    const early = await page.send('challenge', text, { proof })
    assertError(early, 409, 'SESSION_NOT_OPEN', 'The session is not at this step')
    await page.consent()
    assertError(await page.send('challenge', text, { proof }), ...BAD_PROOF)
    assert.equal((await page.challenge()).attempt, 1, 'no try was lost by it')
  })

  test('on open: sent again it neither restarts the flow nor sets the counter back', async () => {
    const created = await fixture.create()
    const page = await createPage(fixture, created.sessionId)
    const text = JSON.stringify({ sessionId: created.sessionId, ...page.openBody() })
    const opening = await page.prove('POST', '/launch/api/open', Buffer.from(text))
    okOf(await page.send('open', text, { proof: opening }))
    const consent = JSON.stringify({ sessionId: created.sessionId, ...CONSENT })
    const consenting = await page.prove('POST', '/launch/api/consent', Buffer.from(consent))
    okOf(await page.send('consent', consent, { proof: consenting }))
    await page.challenge()
    const before = await stored(created.sessionId)
    assertError(await page.send('open', text, { proof: opening }), ...BAD_PROOF)
    assertError(await page.send('consent', consent, { proof: consenting }), ...BAD_PROOF)
    assert.deepEqual(await stored(created.sessionId), before)
  })

  test('on two sessions of one key: the proof of one is invalid in the other', async () => {
    const { created, page } = await openedPage()
    const second = await fixture.create()
    const other = await createPage(fixture, second.sessionId)
    await other.open()
    const text = JSON.stringify({ sessionId: second.sessionId, ...CONSENT })
    const proof = await page.prove('POST', '/launch/api/consent', Buffer.from(text))
    assertError(await other.send('consent', text, { proof }), ...BAD_PROOF)
    assert.deepEqual(await page.consent(), stateBody(created, { state: 'READY' }))
  })
})

test('a body that is not byte for byte the signed one is refused, even with the same meaning', async () => {
  const { created, page } = await openedPage()
  const text = JSON.stringify({ sessionId: created.sessionId, ...CONSENT })
  const proof = await page.prove('POST', '/launch/api/consent', Buffer.from(text))
  for (const same of [` ${text}`, `${text}\n`, text.replace('"accepted":true', '"accepted": true')]) {
    assertError(await page.send('consent', same, { proof }), ...BAD_PROOF)
  }
})

test('status needs a proof of its own', async () => {
  const { created, page } = await openedPage()
  const url = `/launch/api/status?sessionId=${created.sessionId}`
  const get = (proof?: string) =>
    fixture.harness.inject({ url, headers: proof === undefined ? {} : { [DEVICE_PROOF_HEADER]: proof } })
  assertError(await get(), ...BAD_PROOF)
  assertError(await get(await page.prove('POST', '/launch/api/status', Buffer.of())), ...BAD_PROOF)
  assertError(await get(await page.prove('GET', '/launch/api/status', Buffer.from('x'))), ...BAD_PROOF)
  assertError(await get(await page.prove('GET', url, Buffer.of())), ...BAD_PROOF)
})

test('nothing that a device sends or is given is in the log but the session’s id: no token, key, proof, code or payload', async () => {
  const { token, sessionId } = await fixture.create({ metadata: { marker: 'metadata-of-the-host' } })
  const page = await createPage(fixture, sessionId)
  const challenge = await reachChallenge(page)
  const submission = await makeSubmission(page, challenge)
  const forged = await page.prove('POST', '/launch/api/cancel', Buffer.from('{}'))
  await page.call('cancel', {}, { proof: forged })
  await page.call('submit', { sealed: 'sealed-text-that-cannot-be-opened' })
  await page.call('failure', { code: -7, reason: 'marked_reason' })
  await page.open({ locale: 'xx-marked' })
  const second = await page.challenge()
  await send(page, await makeSubmission(page, second))
  const { sessionId: another } = await fixture.create()
  const { device, clock } = await fixture.device(another)
  await runFlow(device, { clock, random: seededRandom(2), ageYears: 50 })
  const { x, y } = page.deviceKey
  const { nonce, frames, log } = submission.payload
  const secrets = [token, x, y, page.sealKey().x, forged, forged.split('.')[2] ?? '', nonce]
  const values = [submission.sealed, frames[0]?.digest ?? '', log.hash, second.nonce, device.publicKey.x]
  const texts = ['sealed-text-that-cannot', 'marked_reason', 'xx-marked', 'metadata-of-the-host', 'turn_left', 'yaw']
  const logged = fixture.harness.logged()
  assert.ok(
    ['launchSubmit', 'INVALID_DEVICE_PROOF', sessionId].every((text) => logged.includes(text)),
    'the calls themselves are there',
  )
  for (const secret of [...secrets, ...values, ...texts]) assert.ok(!logged.includes(secret), secret)
})

describe('the time of a call', () => {
  const CHANGED = [409, 'DEVICE_CLOCK_CHANGED', 'The device’s clock has changed since it opened the session'] as const
  const nowSeconds = () => Math.floor(fixture.harness.clock.now().getTime() / 1000)
  const shown = (aheadSeconds: number): Tweak => ({ claims: { issuedAt: nowSeconds() + aheadSeconds } })

  /** Opens a session on a device whose clock is off. */
  async function openedAhead(aheadSeconds: number) {
    const created = await fixture.create()
    const page = await createPage(fixture, created.sessionId)
    const opened = await page.call('open', page.openBody(), shown(aheadSeconds))
    assert.equal(opened.statusCode, 200, opened.body)
    return page
  }

  test('may be wrong by any amount while the clock is steady, and off by 60 s', async () => {
    for (const ahead of [0, 3_600, -86_400]) {
      const page = await openedAhead(ahead)
      fixture.harness.clock.advance(120_000)
      assert.equal((await page.call('consent', CONSENT, shown(ahead + 60))).statusCode, 200)
      assert.equal((await page.call('challenge', {}, shown(ahead))).statusCode, 200)
      assertError(await page.call('cancel', {}, shown(ahead - 1)), ...CHANGED)
      assertError(await page.call('cancel', {}, shown(ahead + 61)), ...CHANGED)
      assert.equal((await page.call('cancel', {}, shown(ahead))).statusCode, 200)
    }
  })

  test('refuses a call that somebody kept, and uses it up: it is not taken when its time has come either', async () => {
    const page = await openedAhead(0)
    const body = JSON.stringify({ sessionId: page.sessionId, ...CONSENT })
    const early = { issuedAt: nowSeconds() + 600 }
    const proof = await page.prove('POST', '/launch/api/consent', Buffer.from(body), early)
    assertError(await page.send('consent', body, { proof }), ...CHANGED)
    fixture.harness.clock.advance(600_000)
    assertError(await page.send('consent', body, { proof }), ...BAD_PROOF)
    assert.equal((await page.call('consent', CONSENT)).statusCode, 200)
  })

  test('a clock that was set right is learnt by opening again, also for the watcher', async () => {
    const page = await openedAhead(7_200)
    assertError(await page.call('consent', CONSENT), ...CHANGED)
    assert.equal((await page.tryOpen()).statusCode, 200)
    assert.equal((await page.call('consent', CONSENT)).statusCode, 200)
  })

  test('a stranger’s call is a bad signature, whatever its time', async () => {
    const page = await openedAhead(0)
    const stranger = await createPage(fixture, page.sessionId)
    assertError(await stranger.call('consent', CONSENT, shown(9_999)), ...BAD_PROOF)
  })

  test('a device that the last release has bound is learnt at its next call', async () => {
    const page = await openedAhead(0)
    const { sessions } = fixture.harness.wire
    await sessions.service.whileLocked(page.sessionId, async (tx, session) => {
      assert.ok(!isPurged(session) && session.progress?.holder)
      const { time: _none, ...holder } = session.progress.holder
      await sessions.service.save(tx, session, { state: session.state, progress: { ...session.progress, holder } })
    })
    assert.equal((await page.call('consent', CONSENT, shown(5_000))).statusCode, 200)
    assertError(await page.call('challenge', {}, shown(0)), ...CHANGED)
    assert.equal((await page.call('challenge', {}, shown(5_010))).statusCode, 200)
  })
})
