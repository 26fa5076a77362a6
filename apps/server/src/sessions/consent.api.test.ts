// spec-kind: webhook
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CONSENT_VERSION, CONSENT_VERSIONS, type ConsentRecord } from '@ostiary/contract'
import { type Host, readyDevice } from '../age/testing/fixture.ts'
import { assertError } from '../testing/harness.ts'
import { createVerificationFixture, PATH } from '../verification/testing/fixture.ts'
import { isPurged } from './index.ts'
import { sealPart } from './sealing.ts'

const fixture = await createVerificationFixture()
const ages = await fixture.age.newHost()
const checks = await fixture.newHost()

const nowText = () => fixture.harness.clock.now().toISOString()
const pass = (seconds: number) => fixture.harness.clock.advance(seconds * 1_000)

/** The two areas, as far as a consent goes: create a session, and read its result twice: by the API and as the webhook that arrived. */
const AREAS = {
  age: {
    async create() {
      const { sessionId, token } = await ages.create({ callback: { url: fixture.receiver.url } })
      return { sessionId, path: `/session/${token}/result`, cancelPath: `/session/${token}/cancel` }
    },
    call: (...given: Parameters<Host['call']>) => ages.call(...given),
  },
  verification: {
    async create() {
      const { sessionId } = await checks.create('SIGN-IN')
      return { sessionId, path: `${PATH}/${sessionId}/webhook`, cancelPath: `${PATH}/${sessionId}/cancel` }
    },
    call: (...given: Parameters<Host['call']>) => checks.call(...given),
  },
} as const
type Made = Awaited<ReturnType<(typeof AREAS)['age']['create']>>

async function consentIn(area: keyof typeof AREAS, { sessionId, path }: Made): Promise<ConsentRecord | null> {
  const answer = await AREAS[area].call('GET', path)
  assert.equal(answer.statusCode, 200, answer.body)
  const { body } = await fixture.delivered(sessionId)
  assert.equal(body.toString(), answer.body, 'result and webhook are the same bytes')
  const { consent } = answer.json()
  assert.notEqual(consent, undefined)
  return consent
}

for (const area of ['age', 'verification'] as const) {
  const { create, call } = AREAS[area]
  const version = CONSENT_VERSION[area]
  const newDevice = async (sessionId: string) => (await fixture.newDevice(sessionId)).device

  describe(`the consent in the result and webhook of area ${area}`, () => {
    test('[C-069] is what the page showed, at the time of the service', async () => {
      const made = await create()
      const { device, clock } = await fixture.newDevice(made.sessionId)
      await device.open()
      pass(3)
      await clock.pass(1)
      const at = nowText()
      await device.consent(true, 'de')
      pass(60)
      await device.cancel()
      assert.deepEqual(await consentIn(area, made), { accepted: true, version, language: 'de', at })
    })

    test('of a user who refused has accepted: false', async () => {
      const made = await create()
      const device = await newDevice(made.sessionId)
      await device.open()
      assert.equal((await device.consent(false, 'ar')).flowStatus, 'CANCELLED')
      assert.deepEqual(await consentIn(area, made), { accepted: false, version, language: 'ar', at: nowText() })
    })

    test('is null where the session ended before the question was answered, or by a chosen outcome', async () => {
      const cancelled = await create()
      await call('POST', cancelled.cancelPath)
      assert.equal(await consentIn(area, cancelled), null)
      const left = await create()
      const device = await newDevice(left.sessionId)
      await device.open()
      await device.cancel()
      assert.equal(await consentIn(area, left), null)
      const chosen = await create()
      assert.equal((await call('POST', `/test/sessions/${chosen.sessionId}/outcome`, {})).statusCode, 204)
      assert.equal(await consentIn(area, chosen), null)
      const expired = await create()
      pass(901)
      assert.equal(await consentIn(area, expired), null)
    })

    test('stands in a chosen outcome if it was given before', async () => {
      const made = await create()
      await readyDevice(await fixture.newDevice(made.sessionId))
      await call('POST', `/test/sessions/${made.sessionId}/outcome`, {})
      assert.equal((await consentIn(area, made))?.accepted, true)
    })

    test('after a handoff is the one of the device that finished, and null until that one has answered', async () => {
      for (const answers of [true, false]) {
        const made = await create()
        const first = await newDevice(made.sessionId)
        await first.open()
        await first.consent(true, 'en')
        const { code, number = assert.fail('no number') } = await first.handoff()
        pass(5)
        const second = await newDevice(made.sessionId)
        await second.open(code)
        await second.number(number)
        const expected = { accepted: true, version, language: 'de', at: nowText() }
        if (answers) await second.consent(true, 'de')
        await second.cancel()
        assert.deepEqual(await consentIn(area, made), answers ? expected : null)
      }
    })

    test('of a page that is still open and shows an older text has the version of that text', async () => {
      for (const older of CONSENT_VERSIONS[area]) {
        const made = await create()
        const device = await newDevice(made.sessionId)
        await device.open()
        await device.consent(true, 'en', older)
        await device.cancel()
        assert.equal((await consentIn(area, made))?.version, older)
      }
    })

    test('a version or a language that the service does not know is refused, also with a refusal; the question stays open', async () => {
      const made = await create()
      const device = await newDevice(made.sessionId)
      const opened = await device.open()
      assert.equal(opened.consentVersion, '1', 'what pages of the last release send back')
      for (const accepted of [true, false]) {
        await assert.rejects(device.consent(accepted, 'xx'), { status: 400, code: 'VALIDATION_FAILED' })
        // A language, but none of the 44.
        await assert.rejects(device.consent(accepted, 'sw'), { status: 400, code: 'VALIDATION_FAILED' })
        await assert.rejects(device.consent(accepted, 'en', '99'), { status: 400, code: 'VALIDATION_FAILED' })
      }
      assert.equal((await device.consent(true, 'de-AT')).flowStatus, null)
      await device.cancel()
      assert.equal((await consentIn(area, made))?.language, 'de', 'as the list of languages spells it')
    })
  })
}

describe('a result that the last release has stored', () => {
  /** Puts back what the last release would have sealed: the same bytes without a consent. */
  async function storeResult(sessionId: string, content: Buffer): Promise<void> {
    const session = await fixture.harness.wire.sessions.service.find(sessionId)
    assert.ok(session && !isPurged(session))
    const sealed = sealPart(session.dataKey, sessionId, 'result', content)
    await fixture.harness.database.query('update session_secrets set result = $2 where session_id = $1', [
      sessionId,
      sealed,
    ])
  }

  test('is read as it was, byte for byte, and its webhook is sent as it was', async () => {
    const { token, sessionId } = await ages.create({ metadata: { order: 'A-7' } })
    await ages.outcome(sessionId)
    const { consent, ...result } = await ages.result(token)
    assert.equal(consent, null)
    // It had null where nothing was compared, and 2 alone for a stream that was made up.
    const old = { ...result, result: { confidenceScore: null, faceMatch: null, ...result.result }, errors: [2] }
    const before = Buffer.from(JSON.stringify(old))
    await storeResult(sessionId, before)
    assert.equal((await ages.call('GET', `/session/${token}/result`)).body, before.toString())
    assertError(await ages.call('POST', `/session/${token}/cancel`), 409, 'SESSION_NOT_OPEN', 'The session has ended')
    const db = fixture.harness.wire.platform.cells.forId(ages.tenantId)
    const now = fixture.harness.clock.now()
    const { tenantId, keyId } = ages
    await db.transaction((tx) =>
      fixture.harness.wire.webhooks.service.enqueue(tx, [
        {
          ...{ tenantId, keyId, livemode: false, area: 'age', event: 'age.session.completed', subjectId: sessionId },
          ...{ sequence: 1, url: fixture.receiver.url, headers: {}, body: before, now },
          purgeAt: new Date(now.getTime() + 3_600_000),
        },
      ]),
    )
    assert.deepEqual((await fixture.delivered(sessionId)).body, before)
  })

  test('of area D too', async () => {
    const { sessionId } = await checks.create('SIGN-IN')
    await checks.outcome(sessionId)
    const { consent, ...webhook } = await checks.webhook(sessionId)
    assert.equal(consent, null)
    await storeResult(sessionId, Buffer.from(JSON.stringify({ webhook, debugLog: [] })))
    assert.equal((await checks.call('GET', `${PATH}/${sessionId}/webhook`)).body, JSON.stringify(webhook))
  })
})
