// spec-kind: webhook
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { beforeEach, describe, test } from 'node:test'
import { INDICATOR_PATHS, readIndicators, type VerificationWebhook, writeIndicators } from '@ostiary/contract'
import { NOTHING_JUDGED } from '../age/testing/fixture.ts'
import { createVerificationHost, successBody } from './testing/fixture.ts'

const { fixture, host } = await createVerificationHost()
beforeEach(() => {
  fixture.receiver.received.length = 0
})

const PERSON = { puid: '0190f5c2-0000-7000-8000-00000000a001', guid: '0190f5c2-0000-7000-8000-00000000b001' }
const SUCCESS = { state: 'SUCCESS', person: PERSON } as const
const JPEG = Buffer.from('ffd8ffe000104a464946000102000001000100ffd9', 'hex').toString('base64')
const CLEAN = readIndicators(writeIndicators(new Set()))
const endedNow = () => ({ verificationDate: String(fixture.harness.clock.now().getTime()) })
const bodyOf = async (sessionId: string): Promise<VerificationWebhook> =>
  JSON.parse((await fixture.delivered(sessionId)).body.toString())

describe('a success', () => {
  test('[D-008] [D-031] [D-032] [D-034] [D-035] [D-038] [D-040] the webhook of an ENROLL, whole', async () => {
    const created = await host.create('ENROLL')
    assert.equal(await fixture.conclude(created.sessionId, SUCCESS), 'SUCCESS')
    assert.deepEqual(
      await bodyOf(created.sessionId),
      successBody(created, { ...PERSON, identityInformation: endedNow() }),
    )
    assert.equal(fixture.receiver.received.length, 1)
  })

  test('[D-033] [D-039] [D-057] the values of the creation are returned, each in the body that it belongs to', async () => {
    const contactInformation = { email: 'someone@shop.example', phone: '+49 30 000000' }
    const transactionID = 'order 4711 / Größe 🎂'
    const enrolled = await host.create('ENROLL', { transactionID, contactInformation })
    await fixture.conclude(enrolled.sessionId, { ...SUCCESS, notes: ['ALREADY_ENROLLED'] })
    const shared = { ...PERSON, transactionId: transactionID, identityInformation: endedNow() }
    const errors = [{ code: -37, message: 'Already enrolled' }]
    assert.deepEqual(await bodyOf(enrolled.sessionId), successBody(enrolled, { ...shared, contactInformation, errors }))
    const signedIn = await host.create('SIGN-IN', { transactionID })
    await fixture.conclude(signedIn.sessionId, { ...SUCCESS, matchedBy: 'local+passkey' })
    const matched = { ...shared, type: 'SIGN-IN', matchedBy: 'local+passkey' } as const
    assert.deepEqual(await bodyOf(signedIn.sessionId), successBody(signedIn, matched))
    const verified = await host.create('VERIFY', { transactionID, nonce: 'n-1' })
    await fixture.conclude(verified.sessionId, { ...SUCCESS, matchedBy: 'server' })
    const compared = { ...shared, type: 'VERIFY', matchedBy: 'server', nonce: 'n-1' } as const
    assert.deepEqual(await bodyOf(verified.sessionId), successBody(verified, compared))
  })

  test('it has an estimated age if the host asked for one', async () => {
    const asked = await host.create('ENROLL', { estimateAge: true })
    await fixture.conclude(asked.sessionId, { ...SUCCESS, estimatedAge: 41 })
    assert.equal((await bodyOf(asked.sessionId)).estimatedAge, 41)
    const notAsked = await host.create('ENROLL')
    await fixture.conclude(notAsked.sessionId, { ...SUCCESS, estimatedAge: 41 })
    assert.equal((await bodyOf(notAsked.sessionId)).estimatedAge, undefined)
  })

  test('[D-041] the selfie of sendImages is sent, and is not stored afterwards', async () => {
    const { sessionId } = await host.create('ENROLL', { sendImages: true })
    await fixture.conclude(sessionId, { ...SUCCESS, selfie: JPEG })
    const { images, ...rest } = await bodyOf(sessionId)
    assert.deepEqual(images, [{ type: 'portrait', data: JPEG }])
    assert.equal(Buffer.from(images?.[0]?.data ?? '', 'base64').readUInt16BE(0), 0xffd8)
    const again = { ...rest, images: [] }
    assert.deepEqual(await host.webhook(sessionId), again)
    const [{ id }] = (await host.call('GET', `/webhooks/deliveries?sessionId=${sessionId}`)).json().items
    await host.call('POST', `/webhooks/deliveries/${id}/replay`)
    assert.deepEqual(await bodyOf(sessionId), again, 'a replay is the body without it')
  })

  test('[D-020] without sendImages no selfie is sent, even if there is one', async () => {
    const { sessionId } = await host.create('ENROLL')
    await fixture.conclude(sessionId, { ...SUCCESS, selfie: JPEG })
    const webhook = await fixture.delivered(sessionId)
    assert.ok(!webhook.body.toString().includes(JPEG))
    assert.equal(JSON.parse(webhook.body.toString()).images, undefined)
  })
})

describe('a failure', () => {
  test('[D-057] [D-058] [D-059] [D-060] [D-061] has the body of its type, without a person', async () => {
    const shared = { riskEvaluation: NOTHING_JUDGED, outcome: 'FAILED', codeHash: null, consent: null, livemode: false }
    const spoof = { message: 'Image spoof', errors: [{ code: 1, message: 'Image spoof' }] }
    for (const type of ['ENROLL', 'VERIFY'] as const) {
      const { sessionId } = await host.create(type, { transactionID: 't-1' })
      await fixture.conclude(sessionId, { state: 'FAILED', failures: ['SPOOF'] })
      const expected = { sessionId, status: 'FAILED', transactionId: 't-1', ...spoof, ...shared, type }
      assert.deepEqual(await bodyOf(sessionId), expected)
    }
    const { sessionId } = await host.create('SIGN-IN')
    const locked = { state: 'FAILED', failures: ['TEMPORARILY_LOCKED'], retryAfterSeconds: 60 } as const
    await fixture.conclude(sessionId, locked)
    const message = 'Temporarily locked'
    assert.deepEqual(await bodyOf(sessionId), {
      ...{ sessionId, status: 'error', message, errors: [{ code: -35, message }], errorCodes: [-35], retryAfter: 60 },
      ...{ ...shared, type: 'SIGN-IN' },
    })
  })

  test('a success whose risk the tenant does not accept becomes a failure without a person', async () => {
    const strict = await fixture.newHost({ settings: { enforceBlock: true } })
    const { sessionId } = await strict.create('SIGN-IN')
    const progress = { flags: [{ code: 'BR_WEBDRIVER' as const }], indicators: CLEAN }
    assert.equal(await fixture.conclude(sessionId, SUCCESS, progress), 'FAILED')
    const { status, errorCodes, puid, riskEvaluation } = await bodyOf(sessionId)
    assert.deepEqual([status, errorCodes, puid, riskEvaluation.recommendation], ['error', [-34], undefined, 'BLOCK'])
    const { state, outcome } = await strict.get(sessionId)
    assert.deepEqual([state, outcome], ['FAILED', 'FAILED'])
  })
})

describe('risk and indicators', () => {
  test('[D-042] [X-003] [X-004] [X-009] [X-010] the evaluation has the shape of area C, and no behaviour', async () => {
    const { sessionId } = await host.create('SIGN-IN')
    const flags = [{ code: 'BR_WEBGL' as const }, { code: 'BH_TOO_FAST' as const }]
    await fixture.conclude(sessionId, SUCCESS, { flags, indicators: CLEAN, behaviour: true })
    const webhook = await bodyOf(sessionId)
    const age = await fixture.age.newHost()
    const { riskEvaluation } = await age.result((await age.create()).token)
    assert.deepEqual(Object.keys(webhook.riskEvaluation), Object.keys(riskEvaluation))
    assert.deepEqual(webhook.riskEvaluation, {
      ...{ score: 25, level: 'LOW', recommendation: 'ALLOW', flags: ['BR_WEBGL'] },
      signals: { behavioral: null, browser: { score: 25, flags: ['BR_WEBGL'] } },
      policyVersion: '4',
    })
  })

  test('[X-013] [X-015] [X-016] [X-017] [X-018] the indicators are three groups of booleans, true where suspicious', async () => {
    const seen = readIndicators(writeIndicators(new Set(['headless.webGL', 'virtualCamera.suspiciousLabels'])))
    const { sessionId } = await host.create('ENROLL')
    await fixture.conclude(sessionId, SUCCESS, { indicators: seen })
    const { indicators } = await bodyOf(sessionId)
    const paths = Object.entries<Record<string, unknown>>(indicators ?? {}).flatMap(([group, flags]) =>
      Object.entries(flags).map(([name, value]) => ({ path: `${group}.${name}`, value })),
    )
    assert.deepEqual(paths.map(({ path }) => path).sort(), [...INDICATOR_PATHS].sort())
    assert.equal(paths.length, 14 + 4 + 3)
    assert.deepEqual(
      paths.filter(({ value }) => value === true).map(({ path }) => path),
      ['headless.webGL', 'virtualCamera.suspiciousLabels'],
    )
    assert.equal(paths.filter(({ value }) => value === false).length, 19)
  })

  test('[X-014] without browser data there are none, and its signal is null', async () => {
    const { sessionId } = await host.create('ENROLL')
    await fixture.conclude(sessionId, SUCCESS)
    const webhook = await bodyOf(sessionId)
    assert.ok(!('indicators' in webhook))
    assert.deepEqual(webhook.riskEvaluation.signals, { behavioral: null, browser: null })
  })
})

describe('the delivery', () => {
  const headers = { Authorization: 'Bearer host-secret', 'X-Shop': 'seven of nine' }

  test('[D-014] [X-019] [X-020] a POST of JSON to exactly the URL, with every header, signed with the creating key', async () => {
    const callback = { url: `${fixture.receiver.origin}/hooks/verify?tenant=7&x=%20`, headers }
    const { sessionId } = await host.create('SIGN-IN', { callback })
    await fixture.conclude(sessionId, SUCCESS)
    const webhook = await fixture.delivered(sessionId)
    assert.deepEqual([webhook.method, webhook.url], ['POST', '/hooks/verify?tenant=7&x=%20'])
    assert.equal(webhook.headers['content-type'], 'application/json')
    for (const [name, value] of Object.entries(headers)) assert.equal(webhook.headers[name.toLowerCase()], value)
    assert.equal(webhook.headers['x-service-event'], 'verification.succeeded')
    const [timestamp, signature] = ['timestamp', 'signature'].map((name) =>
      String(webhook.headers[`x-service-${name}`]),
    )
    const recomputed = createHmac('sha256', host.key).update(`${timestamp}.`).update(webhook.body).digest('hex')
    assert.equal(signature, `sha256=${recomputed}`)
    const read = await host.call('GET', `/v2/verification-session/${sessionId}/webhook`)
    assert.ok(read.rawPayload.equals(webhook.body), 'what is read back has the same bytes')
  })

  test('every end except a success has the event of a failure', async () => {
    for (const end of [
      { state: 'FAILED', failures: ['NO_FACE'] },
      { state: 'CANCELLED', code: 'USER_CANCELLED' },
      { state: 'EXPIRED' },
    ] as const) {
      const { sessionId } = await host.create('ENROLL')
      await fixture.conclude(sessionId, end)
      assert.equal((await fixture.delivered(sessionId)).headers['x-service-event'], 'verification.failed')
    }
  })

  test('session and webhook are one transaction: when the webhook cannot be written, the session does not end', async () => {
    const { sessionId } = await host.create('ENROLL')
    await fixture.harness.database.query('alter table webhook_queue rename to webhook_queue_away')
    await assert.rejects(fixture.conclude(sessionId, SUCCESS))
    await fixture.harness.database.query('alter table webhook_queue_away rename to webhook_queue')
    assert.equal((await host.get(sessionId)).outcome, null)
    await fixture.conclude(sessionId, SUCCESS)
    assert.equal((await bodyOf(sessionId)).status, 'SUCCESS')
  })
})
