import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { figureAtMost } from '@ostiary/testkit/measuring/test-figure'
import { systemClock } from '../platform/clock.ts'
import { createLeases } from '../platform/leases.ts'
import { createMetrics } from '../platform/metrics.ts'
import { createFixture, type Tenant } from './testing/fixture.ts'
import { type Receiver, status } from './testing/receiver.ts'

let tenant: Tenant
let receiver: Receiver
const fixture = await createFixture()
beforeEach(async () => {
  await fixture.harness.database.query('truncate webhook_queue, webhook_endpoints')
  tenant = await fixture.newTenant()
  receiver = await fixture.newReceiver()
})

/** For workers on the real clock, which differs from the fixture's. */
const enqueueNow = (url: string) => {
  const now = systemClock.now()
  return fixture.enqueue(tenant, { url, now, purgeAt: new Date(now.getTime() + 3_600_000) })
}
const advance = (ms: number) => fixture.harness.clock.advance(ms)
const queued = async () =>
  (await fixture.harness.database.query('select count(*)::int as count from webhook_queue')).rows[0].count
const HANGS_MS = 120_000

const idOf = ({ headers }: { headers: Record<string, unknown> }) => headers['x-service-delivery']

describe('several workers', () => {
  test('deliver each message once while no worker dies', async () => {
    const others = await Promise.all([fixture.newReceiver(), fixture.newReceiver()])
    const ids: string[] = []
    for (let i = 0; i < 150; i++) {
      const { url } = [receiver, ...others][i % 3] ?? receiver
      ids.push(await enqueueNow(url))
    }
    const workers = Array.from({ length: 3 }, () =>
      fixture.newDispatcher({ clock: systemClock, outbound: fixture.newOutbound({ timeoutMs: 10_000 }) }),
    )
    for (const worker of workers) worker.start()
    await eventually(async () => (await queued()) === 0, 'everything is delivered')
    await Promise.all(workers.map((worker) => worker.stop(5_000)))
    const arrived = [receiver, ...others].flatMap(({ received }) => received.map(idOf))
    assert.equal(arrived.length, 150)
    assert.deepEqual(arrived.sort(), ids.sort())
  })

  test('look only in cells that they serve, and find a due webhook soon after a quiet time', async () => {
    let isOn = false
    let looks = 0
    const duty = { isOn: () => ++looks > 0 && isOn, askForHelp: () => {} }
    const { leases } = fixture.harness.wire.platform
    const worker = fixture.newDispatcher({ clock: systemClock, leases: { ...leases, of: () => duty } })
    const looksMore = (more: number, before = looks) => eventually(() => looks >= before + more, 'it has looked')
    await enqueueNow(receiver.url)
    worker.start()
    await looksMore(3)
    assert.equal(receiver.received.length, 0)
    isOn = true
    await eventually(() => receiver.received.length === 1, 'it is sent')
    const lateMs: number[] = []
    for (let round = 2; round < 9; round++) {
      // The pause between two looks grows up to the tenth.
      await looksMore(10)
      await enqueueNow(receiver.url)
      const sinceMs = performance.now()
      await eventually(() => receiver.received.length === round, 'it arrives')
      lateMs.push(performance.now() - sinceMs)
    }
    await worker.stop(5_000)
    await figureAtMost('webhooks.idle-delivery-ms', 250, lateMs.toSorted((a, b) => a - b)[3] ?? Number.NaN)
  })

  test('with leases share the work with one of the last release, which knows none: nothing is lost or doubled', async () => {
    const { platform } = fixture.harness.wire
    const metrics = () => createMetrics('test', { processMetrics: false })
    const leases = [1, 2].map(() => createLeases({ ...platform, clock: systemClock, metrics: metrics() }))
    await Promise.all(leases.map((one) => one.start()))
    // A worker of the last release looks everywhere, as one does whose leases were never started.
    const workers = [...leases, platform.leases].map((one) =>
      fixture.newDispatcher({ clock: systemClock, leases: one, outbound: fixture.newOutbound({ timeoutMs: 10_000 }) }),
    )
    const ids: string[] = []
    for (const worker of workers) worker.start()
    for (let i = 0; i < 90; i++) {
      ids.push(await enqueueNow(receiver.url))
      if (i === 45) await leases[0]?.leave()
    }
    await eventually(async () => (await queued()) === 0, 'everything is delivered')
    await Promise.all(workers.map((worker) => worker.stop(5_000)))
    await leases[1]?.leave()
    assert.deepEqual(receiver.received.map(idOf).sort(), ids.sort())
  })

  test('take over the deliveries of a dead worker when its lease is over, and not before', async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    receiver.answer(() => {})
    const dying = fixture.newDispatcher({ outbound: fixture.newOutbound({ timeoutMs: 60_000 }) })
    void dying.tick()
    await eventually(() => receiver.received.length === 1, 'the first worker has sent it')
    receiver.answer(status(200))
    assert.equal(await fixture.dispatcher.tick(), 0)
    advance(29_999)
    assert.equal(await fixture.dispatcher.tick(), 0)
    advance(1)
    assert.equal(await fixture.dispatcher.tick(), 1)
    assert.deepEqual(receiver.received.map(idOf), [id, id], 'the same id, so that the host recognises the delivery')
    const { state, attempts } = await fixture.webhooks.get(tenant.caller, id)
    assert.deepEqual([state, attempts], ['delivered', 1])
  })

  test('a late answer does not overwrite what another worker stored', async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    let answerLate = () => {}
    receiver.answer((response) => {
      answerLate = () => void response.writeHead(500).end()
    })
    const slow = fixture.newDispatcher({ outbound: fixture.newOutbound({ timeoutMs: 60_000 }) })
    const slowTick = slow.tick()
    await eventually(() => receiver.received.length === 1, 'the slow one has sent it')
    advance(30_000)
    receiver.answer(status(200))
    assert.equal(await fixture.dispatcher.tick(), 1)
    answerLate()
    await slowTick
    const { state, attempts, attemptLog } = await fixture.webhooks.get(tenant.caller, id)
    assert.deepEqual([state, attempts, attemptLog.map(({ outcome }) => outcome)], ['delivered', 1, ['delivered']])
  })

  test('a worker that stops finishes its running attempts and returns the other deliveries at once', async () => {
    for (let i = 0; i < 12; i++) await enqueueNow(receiver.url)
    const open: { end(): void }[] = []
    receiver.answer((response) => void open.push(response))
    const worker = fixture.newDispatcher({
      clock: systemClock,
      limits: { perEndpoint: 2, ahead: 12, inFlight: 2 },
      outbound: fixture.newOutbound({ timeoutMs: 60_000 }),
    })
    worker.start()
    await eventually(() => open.length === 2, 'two are under way')
    const stopping = worker.stop(60_000)
    for (const response of open) response.end()
    await stopping
    assert.equal(open.length, 2)
    assert.equal(await queued(), 10)
    const { rows } = await fixture.harness.database.query('select max(next_attempt_at) as last from webhook_queue')
    assert.ok(rows[0].last <= new Date(), 'nothing waits for the end of a lease')
  })
})

describe('receivers do not delay each other', () => {
  test('a receiver that hangs does not delay healthy ones', async () => {
    const hanging = await fixture.newReceiver()
    hanging.answer(() => {})
    for (let i = 0; i < 60; i++) await enqueueNow(hanging.url)
    const healthy = await Promise.all(Array.from({ length: 5 }, () => fixture.newReceiver()))
    const worker = fixture.newDispatcher({
      clock: systemClock,
      // A low limit, so that the hanging receiver would fill it if it could.
      limits: { perEndpoint: 4, inFlight: 8 },
      // Far longer than the test waits: a delivery that waited for the hanging receiver would never arrive.
      outbound: fixture.newOutbound({ timeoutMs: HANGS_MS }),
    })
    worker.start()
    await eventually(() => hanging.received.length >= 4, 'the hanging receiver has filled its lane')
    for (let i = 0; i < 100; i++) await enqueueNow(healthy[i % 5]?.url ?? '')
    await eventually(
      () => healthy.reduce((sum, { received }) => sum + received.length, 0) === 100,
      'the healthy receivers have everything',
    )
    assert.equal(hanging.received.length, 4, 'the hanging receiver has no more than its lane holds')
    await hanging.close()
    await worker.stop(3_000)
  })

  test('a large backlog of one receiver does not delay the first message of another', async () => {
    for (let i = 0; i < 100; i++) await fixture.enqueue(tenant, { url: receiver.url })
    const other = await fixture.newReceiver()
    await fixture.enqueue(tenant, { url: other.url })
    await fixture.dispatcher.tick()
    assert.equal(other.received.length, 1)
    assert.equal(receiver.received.length, 8, 'one turn sends as many as may run at once')
  })

  test('all receivers have their turn, even if there are more than one statement visits', async () => {
    // Ids in the order of the index, so that the last page is short.
    await fixture.harness.database.query(
      `insert into webhook_queue (tenant_id, delivery_id, created_at, livemode, endpoint_id, next_attempt_at)
       select $1, gen_random_uuid(), now(), false, gen_random_uuid(), $2 from generate_series(1, 1200)`,
      [tenant.tenantId, new Date(fixture.harness.clock.now().getTime() + 60_000)],
    )
    for (let i = 0; i < 20; i++) {
      const own = await fixture.newTenant()
      await fixture.enqueue(own, { url: receiver.url })
    }
    assert.equal(await fixture.dispatcher.tick(), 20)
    assert.equal(receiver.received.length, 20)
  })

  test('a tenant with very many receivers that hang does not delay another tenant', async () => {
    const hanging = await Promise.all(Array.from({ length: 120 }, () => fixture.newReceiver()))
    for (const one of hanging) {
      one.answer(() => {})
      await Promise.all([enqueueNow(one.url), enqueueNow(one.url)])
    }
    const worker = fixture.newDispatcher({
      clock: systemClock,
      limits: { perEndpoint: 2, inFlight: 16, slow: 64, claimed: 64 },
      outbound: fixture.newOutbound({ timeoutMs: HANGS_MS }),
    })
    worker.start()
    const underWay = () => hanging.reduce((sum, { received }) => sum + received.length, 0)
    // A quarter of 16 at first; as many again once these count as slow.
    await eventually(() => underWay() >= 8, 'the tenant has filled its share of slow attempts')
    const other = await fixture.newTenant()
    const now = systemClock.now()
    await fixture.enqueue(other, { url: receiver.url, now, purgeAt: new Date(now.getTime() + 3_600_000) })
    await eventually(() => receiver.received.length === 1, 'it has arrived, while all the others hang')
    await Promise.all(hanging.map((one) => one.close()))
    await worker.stop(3_000)
  })
})
