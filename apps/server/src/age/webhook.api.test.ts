// spec-kind: webhook
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { beforeEach, describe, test } from 'node:test'
import type { CreatedSession } from '@ostiary/contract'
import { apiKeyHint, verifyWebhook } from '@ostiary/crypto'
import type { Received } from '../webhooks/testing/receiver.ts'
import { createAgeHost, endedBody, LEAST, NOTHING_JUDGED } from './testing/fixture.ts'

const { fixture, host } = await createAgeHost()
beforeEach(() => {
  fixture.receiver.received.length = 0
})

const CALLBACK_HEADERS = { Authorization: 'Bearer host-secret', 'X-Shop': 'seven of nine' }
const callback = () => ({ url: `${fixture.receiver.origin}/hooks/age?tenant=7&x=%20`, headers: CALLBACK_HEADERS })

/** Delivers what is due and returns the one webhook that arrived. */
async function delivered(): Promise<Received> {
  await fixture.harness.wire.webhooks.dispatcher.tick()
  const [first, ...others] = fixture.receiver.received
  assert.equal(others.length, 0, 'one event, one webhook')
  assert.ok(first, 'nothing arrived')
  return first
}

/** Checks the signature as a receiver does: headers, raw bytes and the API key, and nothing else. */
const recompute = (key: string, timestamp: string, body: Buffer | string) =>
  `sha256=${createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex')}`

const headerOf = ({ headers }: Received, name: string) => String(headers[name])
const rawResult = async ({ token }: CreatedSession) => (await host.call('GET', `/session/${token}/result`)).rawPayload

/** Creates a session from a body with exactly this text as its metadata. */
async function createWritten(metadata: string): Promise<CreatedSession> {
  const rest = JSON.stringify({ ...LEAST, callback: callback() }).slice(1)
  const json = { 'content-type': 'application/json' }
  const created = await host.call('POST', '/session', `{"metadata":${metadata} ,${rest}`, json)
  assert.equal(created.statusCode, 201, created.body)
  return created.json()
}

const ODD_METADATA = [
  '{"big":12345678901234567890,"z":1,"2":"x","1":"y","f":1.10}',
  '{ "spaced" : [ 1e2, -0, 1.0 ] ,"escaped":"\\u00e9\\/",\n"twice":1,"twice":2 }',
  '{"plain":"as most are","n":7}',
  '{ }',
]

describe('metadata', () => {
  test('[C-029] is returned byte for byte: numbers, order and spaces, in every result and in the webhook', async () => {
    for (const metadata of ODD_METADATA) {
      fixture.receiver.received.length = 0
      const created = await createWritten(metadata)
      const open = (await rawResult(created)).toString()
      assert.ok(open.includes(`,"metadata":${metadata},"riskEvaluation":`), open)
      assert.equal(JSON.parse(open).flowStatus, null)
      await host.outcome(created.sessionId)
      const webhook = (await delivered()).body
      assert.ok(webhook.toString().includes(`,"metadata":${metadata},"riskEvaluation":`), webhook.toString())
      assert.deepEqual(await rawResult(created), webhook)
      assert.deepEqual(
        JSON.parse(webhook.toString()),
        endedBody(created, {
          ...{ sessionStatus: 'AGE_ABOVE_THRESHOLD', status: 'AGE_ABOVE_THRESHOLD', flowStatus: 'COMPLETED' },
          result: {
            facialAgeEstimation: { thresholdResult: 'AGE_ABOVE_THRESHOLD' },
          },
          metadata: JSON.parse(metadata),
          outcome: 'SUCCEEDED',
          assurance: { level: 'sandbox', method: 'test mode' },
        }),
      )
    }
  })
})

describe('a flow ends', () => {
  test('[C-065] [C-069] [C-009] COMPLETED: the webhook has the same bytes as the result that is read', async () => {
    const metadata = { order: 'Größe 44 / 🎂', nested: { a: [1, null] } }
    const created = await host.create({ callback: callback(), metadata, facialAgeEstimationReturnFormat: 'both' })
    await host.outcome(created.sessionId, { faceAge: 44.4 })
    const webhook = await delivered()
    assert.deepEqual(
      JSON.parse(webhook.body.toString()),
      endedBody(created, {
        sessionStatus: 'AGE_ABOVE_THRESHOLD',
        status: 'AGE_ABOVE_THRESHOLD',
        flowStatus: 'COMPLETED',
        result: {
          age: 44,
          facialAgeEstimation: { thresholdResult: 'AGE_ABOVE_THRESHOLD', exact: 44.4 },
        },
        metadata,
        outcome: 'SUCCEEDED',
        assurance: { level: 'sandbox', method: 'test mode' },
      }),
    )
    assert.deepEqual(webhook.body, await rawResult(created))
    assert.equal(headerOf(webhook, 'x-service-event'), 'age.session.completed')
  })

  test('[C-066] CANCELLED: by the host, by the user and by a refused consent', async () => {
    const byHost = await host.create({ callback: callback() })
    await host.call('POST', `/session/${byHost.token}/cancel`)
    const byUser = await host.create({ callback: callback() })
    const { device } = await fixture.newDevice(byUser.sessionId)
    await device.open()
    await device.cancel()
    const declined = await host.create({ callback: callback() })
    await fixture.visit(declined.sessionId, { declines: true })
    await fixture.harness.wire.webhooks.dispatcher.tick()
    const bodies = new Map(fixture.receiver.received.map((one) => [JSON.parse(one.body.toString()).sessionId, one]))
    assert.equal(fixture.receiver.received.length, 3)
    const at = fixture.harness.clock.now().toISOString()
    const refusal = { accepted: false, version: '2', language: 'en', at }
    for (const [created, code, name, consent] of [
      [byHost, -38, 'HOST_CANCELLED', null],
      [byUser, -17, 'USER_CANCELLED', null],
      [declined, -18, 'CONSENT_DECLINED', refusal],
    ] as const) {
      const webhook = bodies.get(created.sessionId)
      assert.ok(webhook)
      assert.equal(headerOf(webhook, 'x-service-event'), 'age.session.cancelled')
      const { riskEvaluation, ...body } = JSON.parse(webhook.body.toString())
      const { riskEvaluation: _any, ...expected } = endedBody(created, {
        flowStatus: 'CANCELLED',
        outcome: 'CANCELLED',
        errors: [code],
        errorDetails: [{ code, name }],
        consent,
      })
      assert.deepEqual(body, expected)
      assert.deepEqual(webhook.body, await rawResult(created))
    }
  })

  test('[C-067] EXPIRED: when the sweeper runs, and when a read comes before it', async () => {
    for (const notice of [
      () => fixture.harness.wire.age.ending.expireDue(fixture.harness.wire.platform.cells.forId(host.tenantId)),
      ({ token }: CreatedSession) => host.result(token),
    ]) {
      fixture.receiver.received.length = 0
      const created = await host.create({ callback: callback() })
      fixture.harness.clock.advance(900_001)
      await notice(created)
      const webhook = await delivered()
      assert.deepEqual(
        JSON.parse(webhook.body.toString()),
        endedBody(created, {
          flowStatus: 'EXPIRED',
          outcome: 'EXPIRED',
          errors: [-8],
          errorDetails: [{ code: -8, name: 'SESSION_EXPIRED' }],
          endedAt: fixture.harness.clock.now().toISOString(),
        }),
      )
      assert.equal(headerOf(webhook, 'x-service-event'), 'age.session.expired')
      assert.deepEqual(webhook.body, await rawResult(created))
    }
  })

  test('[C-068] nothing is sent before the flow has ended, whatever the user does, and nothing without a callback', async () => {
    const { sessionId } = await host.create({ callback: callback(), stepUpEnabled: true })
    const tick = () => fixture.harness.wire.webhooks.dispatcher.tick()
    const { device } = await fixture.newDevice(sessionId)
    for (const step of [
      () => device.open(),
      () => device.consent(true),
      () => device.handoff(),
      () => device.takeBack(),
    ]) {
      await step()
      assert.equal(await tick(), 0)
    }
    await device.cancel()
    assert.equal(await tick(), 1, 'the end is')
    const silent = await host.create()
    await host.outcome(silent.sessionId)
    assert.equal(await tick(), 0)
  })
})

describe('risk', () => {
  test('[X-004] [X-005] [X-006] [X-007] the body has the score, and the level and recommendation that follow from it', async () => {
    for (const [risk, score, recommendation] of [
      ['LOW', 0, 'ALLOW'],
      ['MEDIUM', 30, 'REVIEW'],
      ['HIGH', 60, 'REVIEW'],
      ['CRITICAL', 85, 'BLOCK'],
    ] as const) {
      fixture.receiver.received.length = 0
      const { sessionId } = await host.create({ callback: callback() })
      await host.outcome(sessionId, { risk })
      const { riskEvaluation } = JSON.parse((await delivered()).body.toString())
      assert.deepEqual(riskEvaluation, { ...NOTHING_JUDGED, score, level: risk, recommendation })
    }
  })
})

describe('the request', () => {
  test('[X-019] [X-020] [C-028] [C-064] is a POST of JSON to exactly callback.url, with the host’s headers and the signature’s', async () => {
    const created = await host.create({ callback: callback() })
    await host.outcome(created.sessionId)
    const webhook = await delivered()
    assert.deepEqual([webhook.method, webhook.url], ['POST', '/hooks/age?tenant=7&x=%20'])
    const [delivery] = (await host.call('GET', `/webhooks/deliveries?sessionId=${created.sessionId}`)).json().items
    const timestamp = String(Math.floor(fixture.harness.clock.now().getTime() / 1000))
    const { host: where, connection: _hop, 'webhook-signature': standard, ...headers } = webhook.headers
    assert.equal(`http://${where}`, fixture.receiver.origin)
    assert.match(String(standard), /^v1,[A-Za-z0-9+/]{43}=$/)
    assert.deepEqual(headers, {
      authorization: 'Bearer host-secret',
      'x-shop': 'seven of nine',
      'content-type': 'application/json',
      'content-length': String(webhook.body.length),
      'user-agent': `Ostiary/${fixture.harness.wire.platform.version}`,
      'x-service-timestamp': timestamp,
      'x-service-signature': recompute(host.key, timestamp, webhook.body),
      'x-service-event': 'age.session.completed',
      'x-service-delivery': delivery.id,
      'x-service-attempt': '1',
      'x-service-sequence': '1',
      'x-service-key': apiKeyHint(host.key),
      'webhook-id': delivery.id,
      'webhook-timestamp': timestamp,
    })
  })

  test('[C-057] [C-058] [C-059] [C-060] the signature is HMAC-SHA256 over timestamp, dot and raw body, by the key that made the session', async () => {
    const second = await fixture.sibling(host)
    const { sessionId } = await second.create({ callback: callback() })
    fixture.harness.clock.advance(12_345)
    await host.outcome(sessionId)
    const webhook = await delivered()
    const timestamp = headerOf(webhook, 'x-service-timestamp')
    assert.equal(timestamp, String(Math.floor(fixture.harness.clock.now().getTime() / 1000)))
    const signature = headerOf(webhook, 'x-service-signature')
    assert.match(signature, /^sha256=[0-9a-f]{64}$/)
    assert.equal(signature, recompute(second.key, timestamp, webhook.body))
    assert.notEqual(signature, recompute(host.key, timestamp, webhook.body), 'not by another key of the tenant')
  })

  test('[C-061] the signature is invalid for a changed body, timestamp or key', async () => {
    const { sessionId } = await host.create({ callback: callback() })
    await host.outcome(sessionId)
    const webhook = await delivered()
    const timestamp = headerOf(webhook, 'x-service-timestamp')
    const signature = headerOf(webhook, 'x-service-signature')
    const changed = webhook.body.toString().replace('AGE_ABOVE_THRESHOLD', 'AGE_BELOW_THRESHOLD')
    assert.notEqual(recompute(host.key, timestamp, changed), signature)
    assert.notEqual(recompute(host.key, timestamp, Buffer.concat([webhook.body, Buffer.from(' ')])), signature)
    assert.notEqual(recompute(host.key, String(Number(timestamp) + 1), webhook.body), signature)
    assert.notEqual(recompute(`${host.key}x`, timestamp, webhook.body), signature)
    const received = { apiKey: host.key, timestamp, signature, body: webhook.body, nowSeconds: Number(timestamp) }
    assert.equal(await verifyWebhook(received), true)
    assert.equal(await verifyWebhook({ ...received, body: Buffer.from(changed) }), false)
  })

  test('a second attempt has its own time and signature, but the same id and the same bytes', async () => {
    const { sessionId } = await host.create({ callback: callback() })
    await host.outcome(sessionId)
    fixture.receiver.answer((response) => void response.writeHead(503).end())
    await fixture.harness.wire.webhooks.dispatcher.tick()
    fixture.harness.clock.advance(10_000)
    fixture.receiver.answer((response) => void response.writeHead(204).end())
    await fixture.harness.wire.webhooks.dispatcher.tick()
    const [first, again] = fixture.receiver.received
    assert.ok(first && again)
    assert.deepEqual(again.body, first.body)
    assert.equal(headerOf(again, 'x-service-delivery'), headerOf(first, 'x-service-delivery'))
    assert.equal(headerOf(again, 'x-service-attempt'), '2')
    const timestamp = headerOf(again, 'x-service-timestamp')
    assert.equal(Number(timestamp) - Number(headerOf(first, 'x-service-timestamp')), 10)
    assert.equal(headerOf(again, 'x-service-signature'), recompute(host.key, timestamp, again.body))
  })

  test('a session is followed through the log by its id, and by the trace of the call that created it', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
    const body = JSON.stringify({ ...LEAST, callback: callback() })
    const headers = { 'content-type': 'application/json', traceparent }
    const { sessionId, token } = (await host.call('POST', '/session', body, headers)).json() as CreatedSession
    await host.outcome(sessionId)
    fixture.receiver.answer((response) => void response.writeHead(503).end())
    await fixture.harness.wire.webhooks.dispatcher.tick()
    fixture.harness.clock.advance(10_000)
    fixture.receiver.answer((response) => void response.writeHead(204).end())
    await fixture.harness.wire.webhooks.dispatcher.tick()
    await rawResult({ token } as CreatedSession)
    assert.deepEqual(
      fixture.receiver.received.map((one) => headerOf(one, 'traceparent')),
      [traceparent, traceparent],
    )
    const lines = fixture.harness
      .logged()
      .split('\n')
      .filter((line) => line.includes(sessionId))
    assert.deepEqual(
      lines
        .map((line) => JSON.parse(line))
        .map(({ msg, operation, code, traceId }) => [msg, operation ?? code, traceId]),
      [
        ['request', 'createSession', traceId],
        ['request', 'sandboxOutcome', undefined],
        ['webhook', 'failed', traceId],
        ['webhook', 'delivered', traceId],
        ['request', 'getSessionResult', undefined],
      ],
    )
    assert.ok(!fixture.harness.logged().includes(token), 'the token opens the result')
  })

  test('a host that gives the header itself keeps its own', async () => {
    const own = { Traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' }
    const body = JSON.stringify({ ...LEAST, callback: { ...callback(), headers: own } })
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const created = await host.call('POST', '/session', body, { 'content-type': 'application/json', traceparent })
    await host.outcome((created.json() as CreatedSession).sessionId)
    assert.equal(headerOf(await delivered(), 'traceparent'), own.Traceparent)
  })
})

describe('the end and its webhook are one transaction', () => {
  test('while the webhook cannot be written, the session stays open; afterwards it ends', async () => {
    const { database, wire, clock } = fixture.harness
    const created = await host.create({ callback: callback() })
    const user = await host.create({ callback: callback() })
    const { device } = await fixture.newDevice(user.sessionId)
    await device.open()
    await database.query('alter table webhook_queue rename to webhook_queue_away')
    try {
      for (const [method, url] of [
        ['POST', `/test/sessions/${created.sessionId}/outcome`],
        ['POST', `/session/${created.token}/cancel`],
      ] as const) {
        assert.equal((await host.call(method, url, {})).statusCode, 500)
      }
      await assert.rejects(device.cancel())
      assert.equal((await host.call('GET', `/session/${created.token}`)).json().state, 'CREATED')
      assert.equal((await host.call('GET', `/session/${user.token}`)).json().state, 'OPENED')
      clock.advance(900_001)
      await assert.rejects(wire.age.ending.expireDue(wire.platform.cells.forId(host.tenantId)))
      const { rows } = await database.query('select state, ended_at from sessions where session_id = any($1)', [
        [created.sessionId, user.sessionId],
      ])
      assert.deepEqual(new Set(rows.map(({ state }) => state)), new Set(['CREATED', 'OPENED']))
      assert.ok(rows.every((row) => row.ended_at === null))
    } finally {
      await database.query('alter table webhook_queue_away rename to webhook_queue')
    }
    assert.equal(await wire.age.ending.expireDue(wire.platform.cells.forId(host.tenantId)), 2)
    assert.equal(await wire.webhooks.dispatcher.tick(), 2)
    assert.equal(fixture.receiver.received.length, 2)
  })

  test('when the end of the session cannot be written, there is no webhook', async () => {
    const { database, wire } = fixture.harness
    const { token, sessionId } = await host.create({ callback: callback() })
    await database.query('alter table session_secrets add constraint never check (result is null) not valid')
    try {
      assert.equal((await host.call('POST', `/session/${token}/cancel`)).statusCode, 500)
    } finally {
      await database.query('alter table session_secrets drop constraint never')
    }
    const kept = await database.query('select 1 from webhook_deliveries where subject_id = $1', [sessionId])
    assert.equal(kept.rowCount, 0)
    assert.equal(await wire.webhooks.dispatcher.tick(), 0)
    assert.equal((await host.call('POST', `/session/${token}/cancel`)).statusCode, 200)
    assert.equal(await wire.webhooks.dispatcher.tick(), 1)
  })
})
