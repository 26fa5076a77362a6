import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createFaces } from '../biometrics/testing/faces.ts'
import { newProgress } from '../sessions/index.ts'
import { newVerificationProgress } from './progress.ts'
import { createVerificationHost, leastOf, PATH } from './testing/fixture.ts'
import { visit } from './testing/people.ts'

const { fixture, host } = await createVerificationHost()

const MARK = 'MARKED7f3a'
const JPEG = Buffer.from(`\xff\xd8\xff\xe0${MARK}-selfie`, 'latin1').toString('base64')
const PERSON = { puid: `${MARK}-puid`, guid: `${MARK}-guid` }
const marked = () => ({
  redirectURL: `https://shop.example/${MARK}-redirect?state=${MARK}-state`,
  callback: { url: `${fixture.receiver.origin}/${MARK}-path`, headers: { 'X-Secret': `${MARK}-header` } },
  transactionID: `${MARK}-transaction`,
  deviceInfo: { os: `${MARK}-os`, model: `${MARK}-model`, resolution: `${MARK}-resolution` },
  sendImages: true,
  debugMode: ['3'],
})
const enrolment = () => ({
  ...marked(),
  customerId: `${MARK}-customer`,
  contactInformation: { email: `${MARK}@shop.example`, phone: `${MARK}-phone` },
})

/** The forms that a value can have in a column: plain, hex and base64. */
const writingsOf = (secret: string) => [
  secret,
  Buffer.from(secret).toString('hex'),
  Buffer.from(secret).toString('base64').slice(0, -4),
]

describe('marked values', () => {
  test('[D-007] the database holds nothing of a session in clear text: neither while it is open nor when it has ended', async () => {
    const open = await host.create('ENROLL', enrolment())
    const { service: sessions } = fixture.harness.wire.sessions
    const own = { ...newVerificationProgress(), vector: `${MARK}-vector`, selfie: JPEG }
    await sessions.whileLocked(open.sessionId, async (tx, found) => {
      assert.ok('dataKey' in found)
      const progress = { ...newProgress('en'), own }
      await sessions.save(tx, found, { state: 'OPENED', progress })
    })
    const ended = await host.create('VERIFY', { ...marked(), customerId: `${MARK}-customer`, nonce: `${MARK}-nonce` })
    await fixture.conclude(ended.sessionId, { state: 'SUCCESS', person: PERSON, selfie: JPEG }, { own })
    const check = async () => {
      for (const [table, content] of await fixture.dump())
        for (const secret of [MARK, JPEG, 'identityInformation', 'riskEvaluation'])
          for (const text of writingsOf(secret)) assert.ok(!content.includes(text), `${table} holds ${text}`)
    }
    await check()
    const webhook = await fixture.delivered(ended.sessionId)
    assert.ok(webhook.body.toString().includes(JPEG), 'it was there to be found')
    await check()
    const { rows } = await fixture.harness.database.query(
      'select progress from session_secrets where session_id = $1',
      [ended.sessionId],
    )
    assert.deepEqual(rows, [{ progress: null }], 'vector and selfie go with the end')
  })

  test('no reply about a session has a vector, a selfie or a secret of the host', async () => {
    const { sessionId } = await host.create('ENROLL', enrolment())
    const own = { ...newVerificationProgress(), vector: `${MARK}-vector`, selfie: JPEG }
    await fixture.conclude(sessionId, { state: 'SUCCESS', person: PERSON, selfie: JPEG }, { own })
    await fixture.delivered(sessionId)
    for (const url of [`${PATH}/${sessionId}`, `${PATH}/${sessionId}/webhook`, '/webhooks/deliveries']) {
      const { statusCode, body } = await host.call('GET', url)
      assert.equal(statusCode, 200)
      for (const secret of ['vector', 'selfie', JPEG, 'X-Secret', `${MARK}-header`, 'redirect', 'os"'])
        assert.ok(!body.includes(secret), `${url} tells ${secret}`)
    }
    const summary = JSON.stringify(await host.get(sessionId))
    for (const secret of [PERSON.puid, PERSON.guid, '@shop.example', '-customer'])
      assert.ok(!summary.includes(secret), `the summary tells ${secret}`)
  })

  test('no log line has a marked value, a key, a header or an id of a person, whatever happened', async () => {
    const secret = { authorization: `Bearer ${MARK}-bearer`, 'idempotency-key': `${MARK}-once` }
    await host.call('POST', PATH, { ...leastOf('ENROLL', fixture.receiver.url), ...enrolment() }, secret)
    const created = await host.create('ENROLL', enrolment())
    await host.call('POST', PATH, { ...leastOf('ENROLL', fixture.receiver.url), ...marked(), locale: `${MARK} locale` })
    await host.call('POST', PATH, { ...leastOf('ENROLL', fixture.receiver.url), redirectURL: `ftp://${MARK}.example` })
    await host.call('GET', `${PATH}/${MARK}`)
    fixture.receiver.answer((response) => void response.writeHead(500).end(`${MARK}-answer`))
    await fixture.conclude(created.sessionId, { state: 'SUCCESS', person: PERSON, selfie: JPEG })
    await fixture.harness.wire.webhooks.dispatcher.tick()
    await host.call('POST', `${PATH}/${created.sessionId}/cancel`)
    const broken = await host.create('ENROLL', enrolment())
    await fixture.harness.database.query('alter table webhook_queue rename to webhook_queue_away')
    assert.equal((await host.call('POST', `${PATH}/${broken.sessionId}/cancel`)).statusCode, 500)
    await fixture.harness.database.query('alter table webhook_queue_away rename to webhook_queue')
    const log = fixture.harness.logged()
    assert.match(log, /"operation":"createVerification","status":201/)
    assert.match(log, /"operation":"cancelVerification","status":500/)
    for (const text of [MARK, host.key, host.key.slice(12, 40), 'x-secret', JPEG]) {
      const line = log.split('\n').find((one) => one.includes(text))
      assert.equal(line, undefined)
    }
  })

  test('the lines of a session’s calls have its id, those that it refuses and the one that ends it too', async () => {
    const { sessionId } = await host.create('ENROLL')
    await visit(fixture, sessionId, createFaces(7).person())
    assert.equal((await host.call('POST', `${PATH}/${sessionId}/cancel`)).statusCode, 409)
    const lines = fixture.harness.logged().split('\n').filter(Boolean)
    const calls = lines.map((line) => JSON.parse(line)).filter((line) => line.sessionId === sessionId)
    for (const [operation, status] of [
      ['createVerification', 201],
      ['launchSubmit', 200],
      ['cancelVerification', 409],
    ] as const)
      assert.ok(
        calls.some((line) => line.operation === operation && line.status === status),
        `${operation} ${status}`,
      )
  })
})
