import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { type AttemptOutcome, WEBHOOK_LIMITS } from '@ostiary/contract'
import { createFixture, type Tenant } from './testing/fixture.ts'
import { type Answer, type Receiver, status } from './testing/receiver.ts'

let tenant: Tenant
let receiver: Receiver
const fixture = await createFixture()
beforeEach(async () => {
  // Each test has the queue for itself.
  await fixture.harness.database.query('truncate webhook_queue, webhook_endpoints')
  tenant = await fixture.newTenant()
  receiver = await fixture.newReceiver()
})

const SECOND = 1_000
const now = () => fixture.harness.clock.now().getTime()
const advance = (ms: number) => fixture.harness.clock.advance(ms)
const tick = () => fixture.dispatcher.tick()
const get = (id: string) => fixture.webhooks.get(tenant.caller, id)

/** Milliseconds until the next attempt. */
async function waitOf(id: string): Promise<number> {
  const { nextAttemptAt = '' } = await get(id)
  return Date.parse(nextAttemptAt) - now()
}

describe('the schedule', () => {
  test('a delivery has ten attempts at the documented waits, never early; then it is dead, which log and metrics show', async () => {
    receiver.answer(status(400))
    const id = await fixture.enqueue(tenant, { url: receiver.url, purgeAt: new Date(now() + 40 * 3600 * SECOND) })
    const deadBefore = await fixture.metrics.deliveries.get('exhausted')
    assert.equal(await tick(), 1)
    for (const [index, seconds] of WEBHOOK_LIMITS.retrySeconds.entries()) {
      const waitMs = await waitOf(id)
      assert.ok(waitMs >= seconds * 800 && waitMs <= seconds * 1200, `wait ${index + 1}: ${waitMs} ms`)
      advance(waitMs - 1)
      assert.equal(await tick(), 0, 'not a millisecond early')
      advance(1)
      assert.equal(await tick(), 1)
    }
    assert.equal(receiver.received.length, 10)
    assert.deepEqual(
      receiver.received.map(({ headers }) => headers['x-service-attempt']),
      ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'],
    )
    const delivery = await get(id)
    assert.equal(delivery.state, 'dead')
    assert.equal(delivery.deadReason, 'exhausted')
    assert.equal(delivery.deadAt, fixture.harness.clock.now().toISOString())
    assert.equal(delivery.attempts, 10)
    assert.equal(delivery.attemptLog.length, 10)
    assert.equal(delivery.attemptLog.at(-1)?.nextAttemptAt, undefined)
    advance(48 * 3600 * SECOND)
    assert.equal(await tick(), 0, 'and nothing follows')
    assert.equal(await fixture.metrics.deliveries.get('exhausted'), deadBefore + 1)
    const line = fixture.harness.logged().match(/^.*a webhook is dead.*$/m)?.[0] ?? '{}'
    const { level, tenantId, code } = JSON.parse(line)
    assert.deepEqual({ level, tenantId, code }, { level: 'warn', tenantId: tenant.tenantId, code: 'exhausted' })
  })

  test('Retry-After is obeyed: seconds or a date, up to an hour', async () => {
    const at = (ms: number) => new Date(now() + ms).toUTCString()
    const cases: [string, number, number][] = [
      ['60', 60 * SECOND, 60 * SECOND],
      // A date has no milliseconds.
      [at(90 * SECOND), 89 * SECOND, 90 * SECOND],
      ['86400', 3600 * SECOND, 3600 * SECOND],
      ['1', 4 * SECOND, 6 * SECOND],
      ['whenever', 4 * SECOND, 6 * SECOND],
    ]
    for (const code of [429, 503]) {
      for (const [value, least, most] of cases) {
        const own = await fixture.newReceiver()
        own.answer(status(code, { 'retry-after': value }))
        const id = await fixture.enqueue(tenant, { url: own.url })
        await tick()
        const waitMs = await waitOf(id)
        assert.ok(waitMs >= least && waitMs <= most, `${code} ${value}: ${waitMs} ms`)
      }
    }
    receiver.answer(status(500, { 'retry-after': '3000' }))
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    await tick()
    assert.ok((await waitOf(id)) <= 6 * SECOND, 'with another status it is ignored')
  })

  test('410 ends the delivery at once', async () => {
    receiver.answer(status(410))
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    await tick()
    advance(24 * 3600 * SECOND - 1)
    assert.equal(await tick(), 0)
    const { state, deadReason, attempts } = await get(id)
    assert.deepEqual({ state, deadReason, attempts }, { state: 'dead', deadReason: 'gone', attempts: 1 })
  })

  test('nothing is sent once the data is due for purging', async () => {
    receiver.answer(status(500))
    const soon = await fixture.enqueue(tenant, { url: receiver.url, purgeAt: new Date(now() + 3 * SECOND) })
    await tick()
    assert.equal((await get(soon)).deadReason, 'retention', 'no attempt is planned after the purge')
    const late = await fixture.enqueue(tenant, { url: receiver.url, purgeAt: new Date(now() + 60 * SECOND) })
    advance(60 * SECOND)
    const before = receiver.received.length
    await tick()
    assert.equal(receiver.received.length, before)
    const { rows } = await fixture.harness.database.query(
      'select dead_reason, attempts from webhook_queue where delivery_id = $1',
      [late],
    )
    assert.deepEqual(rows, [{ dead_reason: 'retention', attempts: 0 }])
  })

  test('nothing is sent when the signing key has been removed', async () => {
    const id = await fixture.enqueue(
      { ...tenant, keyId: '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa' },
      { url: receiver.url },
    )
    await tick()
    const { state, deadReason, attempts } = await get(id)
    assert.deepEqual({ state, deadReason, attempts }, { state: 'dead', deadReason: 'key_removed', attempts: 0 })
  })
})

describe('the outcome of an attempt', () => {
  const cases: [string, Answer | undefined, AttemptOutcome, number | undefined][] = [
    ['a redirect, which is not followed', status(307, { location: '/elsewhere' }), 'redirect', 307],
    ['a refusal', status(404), 'rejected', 404],
    ['a fault of the receiver', status(500), 'failed', 500],
    ['no answer in time', () => {}, 'timeout', undefined],
    [
      'a connection that is cut',
      (_response, _received, request) => void request.socket.destroy(),
      'refused',
      undefined,
    ],
    ['half an answer and then nothing', (response) => void response.socket?.write('HTTP/1.1 2'), 'timeout', undefined],
    ['rubbish', (response) => void response.socket?.end('this is no HTTP at all\r\n\r\n'), 'refused', undefined],
  ]
  for (const [name, answer, outcome, code] of cases) {
    test(name, async () => {
      if (answer) receiver.answer(answer)
      const id = await fixture.enqueue(tenant, { url: receiver.url })
      const withShortTimeout =
        outcome === 'timeout' && fixture.newDispatcher({ outbound: fixture.newOutbound({ timeoutMs: 4_000 }) })
      await (withShortTimeout || fixture.dispatcher).tick()
      const { state, attempts, attemptLog } = await get(id)
      const [attempt] = attemptLog
      assert.deepEqual({ state, attempts, count: attemptLog.length }, { state: 'pending', attempts: 1, count: 1 })
      assert.deepEqual(attempt, {
        attempt: 1,
        startedAt: fixture.harness.clock.now().toISOString(),
        durationMs: 0,
        outcome,
        ...(code !== undefined && { status: code }),
        nextAttemptAt: attempt?.nextAttemptAt,
      })
      assert.equal(receiver.received.length, 1)
    })
  }

  test('a port on which nothing listens is refused', async () => {
    await receiver.close()
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    await tick()
    assert.equal((await get(id)).attemptLog[0]?.outcome, 'refused')
  })

  test('a forbidden address is given up at once, and nothing is sent', async () => {
    const outbound = fixture.newOutbound({ allowNetworks: [] })
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    await fixture.newDispatcher({ outbound }).tick()
    const { state, deadReason, attemptLog } = await get(id)
    assert.deepEqual([state, deadReason, attemptLog[0]?.outcome], ['dead', 'forbidden', 'forbidden'])
    assert.equal(receiver.connections(), 0)
  })

  test('a name that resolves to a forbidden address is tried again, because the name can resolve to another one later', async () => {
    let addresses = ['127.0.0.2']
    const outbound = fixture.newOutbound({ allowNetworks: ['127.0.0.1/32'], lookup: async () => addresses })
    const dispatcher = fixture.newDispatcher({ outbound })
    const url = receiver.url.replace('127.0.0.1', 'host.example')
    const id = await fixture.enqueue(tenant, { url })
    await dispatcher.tick()
    const { state, attemptLog } = await get(id)
    assert.deepEqual([state, attemptLog[0]?.outcome], ['pending', 'forbidden'])
    assert.equal(receiver.connections(), 0)
    addresses = ['127.0.0.1']
    advance(6 * SECOND)
    await dispatcher.tick()
    assert.equal((await get(id)).state, 'delivered')
  })

  test('a live delivery is never sent over http, even if one is in the queue', async () => {
    const live = await fixture.newTenant(true)
    const id = await fixture.enqueue(live, { url: receiver.url })
    await tick()
    assert.equal((await fixture.webhooks.get(live.caller, id)).deadReason, 'forbidden')
    assert.equal(receiver.connections(), 0)
  })
})
