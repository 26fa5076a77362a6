import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { createFixture, type Tenant } from './testing/fixture.ts'
import { type Receiver, status } from './testing/receiver.ts'

let tenant: Tenant
let receiver: Receiver
const fixture = await createFixture()
beforeEach(async () => {
  // Each test starts with an empty queue.
  await fixture.harness.database.query('truncate webhook_queue, webhook_endpoints')
  tenant = await fixture.newTenant()
  receiver = await fixture.newReceiver()
})

const SECOND = 1_000
const advance = (ms: number) => fixture.harness.clock.advance(ms)
const tick = () => fixture.dispatcher.tick()
const enqueue = (count: number, own = tenant) =>
  Promise.all(Array.from({ length: count }, () => fixture.enqueue(own, { url: receiver.url })))
const states = async () =>
  (
    await fixture.harness.database.query(
      'select failures, opened_times as "openedTimes", open_until as "openUntil" from webhook_endpoints',
    )
  ).rows
const later = (ms: number) => new Date(fixture.harness.clock.now().getTime() + ms)

describe('a receiver that fails five times in a row', () => {
  test('gets nothing for 15 seconds, which uses up no attempts', async () => {
    receiver.answer(status(500))
    const ids = await enqueue(5)
    await tick()
    assert.deepEqual(await states(), [{ failures: 5, openedTimes: 1, openUntil: later(15 * SECOND) }])
    const fresh = await enqueue(3)
    advance(14_999)
    assert.equal(await tick(), 0)
    assert.equal(receiver.received.length, 5)
    for (const id of fresh) {
      const { state, attempts } = await fixture.webhooks.get(tenant.caller, id)
      assert.deepEqual([state, attempts], ['pending', 0])
    }
    for (const id of ids) assert.equal((await fixture.webhooks.get(tenant.caller, id)).attempts, 1)
  })

  test('is then probed with one delivery; the pause doubles while the probe fails', async () => {
    receiver.answer(status(500))
    await enqueue(8)
    await tick()
    for (const [index, restSeconds] of [30, 60, 120].entries()) {
      const [{ openUntil }] = await states()
      advance(openUntil.getTime() - later(0).getTime())
      assert.equal(await tick(), 1, 'one probe')
      assert.equal(receiver.received.length, 8 + index + 1)
      assert.deepEqual(await states(), [
        { failures: 6 + index, openedTimes: index + 2, openUntil: later(restSeconds * SECOND) },
      ])
    }
  })

  test('gets everything when the probe is answered', async () => {
    receiver.answer(status(503))
    await enqueue(7)
    await tick()
    receiver.answer(status(200))
    advance(15 * SECOND)
    assert.ok((await tick()) >= 1)
    assert.deepEqual(await states(), [])
    while ((await tick()) > 0);
    const { rows } = await fixture.harness.database.query('select count(*)::int as count from webhook_queue')
    assert.deepEqual(rows, [{ count: 0 }])
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size, 7)
  })

  test('is not probed by two workers at once; if the prober dies, it is probed after its lease', async () => {
    receiver.answer(status(500))
    await enqueue(6)
    await tick()
    advance(15 * SECOND)
    // A worker that takes the probe and dies: it hangs for good.
    receiver.answer(() => {})
    const dying = fixture.newDispatcher({ outbound: fixture.newOutbound({ timeoutMs: 60_000 }) })
    void dying.tick()
    await eventually(() => receiver.received.length >= 7, 'the probe is sent')
    receiver.answer(status(200))
    assert.equal(await tick(), 0)
    advance(29_999)
    assert.equal(await tick(), 0)
    advance(1)
    assert.ok((await tick()) >= 1)
    assert.deepEqual(await states(), [])
  })

  test('is one receiver of one tenant: the same origin of another tenant is not affected', async () => {
    receiver.answer(status(500))
    await enqueue(5)
    await tick()
    receiver.answer(status(200))
    const other = await fixture.newTenant()
    await enqueue(2, other)
    assert.equal(await tick(), 2)
  })
})

describe('the breaker stays closed after', () => {
  test('four failures and a success', async () => {
    receiver.answer(status(500))
    await enqueue(4)
    await tick()
    assert.equal((await states())[0].failures, 4)
    receiver.answer(status(200))
    await enqueue(1)
    await tick()
    assert.deepEqual(await states(), [])
  })

  test('answers of the 4xx and 3xx kind, however many', async () => {
    for (const code of [400, 404, 429, 302]) {
      receiver.answer(status(code))
      await enqueue(8)
      await tick()
      assert.deepEqual(await states(), [], `${code}`)
    }
  })

  test('failures that the sandbox was asked for', async () => {
    for (const id of await enqueue(6)) await fixture.webhooks.failNext(tenant.caller, id, 1)
    assert.equal(await tick(), 6)
    assert.deepEqual(await states(), [])
    assert.equal(receiver.received.length, 0)
  })
})
