import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { NOTHING_JUDGED } from '../age/testing/fixture.ts'
import { purgeSessions } from '../sessions/jobs.ts'
import { assertError } from '../testing/harness.ts'
import { purgeWebhooks } from '../webhooks/jobs.ts'
import { createVerificationFixture, leastOf, PATH, type VerificationHost } from './testing/fixture.ts'

let host: VerificationHost
const fixture = await createVerificationFixture()
beforeEach(async () => {
  host = await fixture.newHost()
})

const SUCCESS = { state: 'SUCCESS', person: { puid: 'p-1', guid: 'g-1' } } as const
const db = () => fixture.harness.wire.platform.cells.forId(host.tenantId)
const sweep = () => fixture.harness.wire.verification.ending.expireDue(db())
const passSeconds = (seconds: number) => fixture.harness.clock.advance(seconds * 1000)
const gone = [410, 'GONE', 'The session is over and deleted'] as const

async function deliveriesPerSession(): Promise<Map<string, number>> {
  const { rows } = await fixture.harness.database.query(
    'select subject_id, count(*)::int as count from webhook_deliveries where tenant_id = $1 group by 1',
    [host.tenantId],
  )
  return new Map(rows.map(({ subject_id, count }) => [subject_id, count]))
}

describe('expiry', () => {
  test('the sweeper ends what is due and nothing else, and sends the webhooks', async () => {
    const short = await host.create('SIGN-IN', { sessionExpiry: 60, transactionID: 't-1' })
    const long = await host.create('ENROLL')
    const done = await host.create('ENROLL', { sessionExpiry: 60 })
    await fixture.conclude(done.sessionId, SUCCESS)
    assert.equal(await sweep(), 0)
    passSeconds(60)
    assert.equal(await sweep(), 1)
    assert.equal(await sweep(), 0)
    const { sessionId } = short
    const expired = { code: -8, message: 'Session expired' }
    assert.deepEqual(JSON.parse((await fixture.delivered(sessionId)).body.toString()), {
      ...{ sessionId, status: 'error', transactionId: 't-1', message: 'Session expired', errors: [expired] },
      ...{
        errorCodes: [-8],
        riskEvaluation: NOTHING_JUDGED,
        type: 'SIGN-IN',
        outcome: 'EXPIRED',
        codeHash: null,
        consent: null,
        livemode: false,
      },
    })
    assert.deepEqual(
      await Promise.all([short, long, done].map(async (one) => (await host.get(one.sessionId)).outcome)),
      ['EXPIRED', null, 'SUCCEEDED'],
    )
  })

  test('the sweepers of areas C and D do not end each other’s sessions', async () => {
    const both = await fixture.age.newHost({ scopes: ['age:write', 'age:read', 'verify:write'] })
    const age = await both.create({ sessionExpiry: 60 })
    const body = { ...leastOf('ENROLL', fixture.receiver.url), sessionExpiry: 60 }
    await both.call('POST', PATH, body)
    passSeconds(61)
    const cell = fixture.harness.wire.platform.cells.forId(both.tenantId)
    assert.equal(await fixture.harness.wire.verification.ending.expireDue(cell), 1)
    assert.equal(await fixture.harness.wire.age.ending.expireDue(cell), 1)
    assert.equal((await both.result(age.token)).flowStatus, 'EXPIRED')
  })

  test('several workers, readers and hosts at once: one end, one webhook', async () => {
    const made = await Promise.all(Array.from({ length: 30 }, () => host.create('ENROLL', { sessionExpiry: 60 })))
    passSeconds(61)
    const replies = await Promise.all([
      sweep(),
      sweep(),
      ...made.slice(0, 10).map(({ sessionId }) => host.call('GET', `${PATH}/${sessionId}/webhook`)),
      ...made.slice(5, 15).map(({ sessionId }) => host.call('POST', `${PATH}/${sessionId}/cancel`)),
      ...made.slice(10, 20).map(({ sessionId }) => host.call('POST', `/test/sessions/${sessionId}/outcome`, {})),
      sweep(),
    ])
    const statuses = replies.flatMap((reply) => (typeof reply === 'number' ? [] : reply.statusCode))
    assert.deepEqual(new Set(statuses), new Set([200, 409]))
    assert.deepEqual(await deliveriesPerSession(), new Map(made.map(({ sessionId }) => [sessionId, 1])))
    for (const { sessionId } of made) assert.equal((await host.webhook(sessionId)).outcome, 'EXPIRED')
  })

  test('a session that cannot be opened does not block the others, and is ended once it can be opened', async () => {
    const [broken, sound] = [
      await host.create('ENROLL', { sessionExpiry: 60 }),
      await host.create('ENROLL', { sessionExpiry: 60 }),
    ]
    const rename = (from: string, to: string) =>
      fixture.harness.database.query(
        `update session_secrets set master_key_id = regexp_replace(master_key_id, $2, $3) where session_id = $1`,
        [broken.sessionId, from, to],
      )
    await rename('^', 'missing-')
    passSeconds(61)
    await sweep()
    assert.equal((await host.get(sound.sessionId)).outcome, 'EXPIRED')
    assert.equal(await sweep(), 0, 'it is not tried at every turn')
    await rename('^missing-', '')
    passSeconds(3_600)
    assert.ok((await sweep()) >= 1)
    assert.equal((await host.get(broken.sessionId)).outcome, 'EXPIRED')
  })
})

describe('retention', () => {
  const purge = async () => [
    await purgeSessions(db(), fixture.harness.clock.now()),
    await purgeWebhooks(db(), fixture.harness.clock.now()),
  ]

  test('is set by the tenant; when it has passed, neither API nor tables return the content', async () => {
    host = await fixture.newHost({ settings: { retentionSeconds: 3_600 } })
    const once = { 'idempotency-key': 'one' }
    const body = leastOf('ENROLL', fixture.receiver.url)
    const { sessionId } = (await host.call('POST', PATH, body, once)).json()
    const createdAt = fixture.harness.clock.now().toISOString()
    await fixture.conclude(sessionId, SUCCESS)
    await fixture.delivered(sessionId)
    passSeconds(3_599)
    assert.equal((await host.webhook(sessionId)).status, 'SUCCESS')
    await purge()
    assert.equal((await host.webhook(sessionId)).status, 'SUCCESS')
    passSeconds(1)
    const deletedAt = fixture.harness.clock.now().toISOString()
    const isOver = async () => {
      assert.deepEqual(await host.get(sessionId), {
        ...{ sessionId, type: null, state: 'PURGED', outcome: null, requirements: [] },
        ...{ createdAt, expiresAt: deletedAt, endedAt: deletedAt, livemode: false },
      })
      assertError(await host.call('GET', `${PATH}/${sessionId}/webhook`), ...gone)
      assertError(await host.call('POST', `${PATH}/${sessionId}/cancel`), ...gone)
      assertError(await host.call('DELETE', `${PATH}/${sessionId}`), ...gone)
      assertError(await host.call('POST', PATH, body, once), ...gone)
    }
    await isOver()
    await purge()
    await isOver()
    const about = [...(await fixture.dump())].filter(([, content]) => content.includes(sessionId))
    assert.deepEqual(
      about.map(([table]) => table.replace(/_default$|_\d{8}$/, '')),
      ['idempotency_keys', 'sessions'],
    )
    passSeconds(30 * 86_400)
    const unknown = 'There is no session with this id'
    assertError(await host.call('GET', `${PATH}/${sessionId}`), 404, 'NOT_FOUND', unknown)
  })

  test('of a session with debugMode is at most a day, however long the tenant’s is', async () => {
    host = await fixture.newHost({ settings: { retentionSeconds: 7 * 86_400 } })
    const [debugged, plain] = [await host.create('ENROLL', { debugMode: ['1'] }), await host.create('ENROLL')]
    for (const { sessionId } of [debugged, plain]) await fixture.conclude(sessionId, SUCCESS)
    passSeconds(86_399)
    assert.equal((await host.get(debugged.sessionId)).debugLog?.length, 1)
    passSeconds(1)
    const { state, debugLog } = await host.get(debugged.sessionId)
    assert.deepEqual([state, debugLog], ['PURGED', undefined])
    assert.equal((await host.get(plain.sessionId)).state, 'SUCCESS')
  })

  test('an undeliverable webhook is not attempted after it, and its selfie is deleted with the rest', async () => {
    host = await fixture.newHost({ settings: { retentionSeconds: 3_600 } })
    const callback = { url: 'http://127.0.0.1:65535/' }
    const { sessionId } = await host.create('ENROLL', { sendImages: true, callback })
    await fixture.conclude(sessionId, { ...SUCCESS, selfie: 'c2VsZmll' })
    await fixture.harness.wire.webhooks.dispatcher.tick()
    passSeconds(3_600)
    await purge()
    const { rowCount } = await fixture.harness.database.query(
      'select 1 from webhook_deliveries where subject_id = $1',
      [sessionId],
    )
    assert.equal(rowCount, 0)
  })
})
