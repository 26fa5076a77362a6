import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, test } from 'node:test'
import { verifyWebhook } from '@ostiary/crypto'
import { createAttempts } from './attempt.ts'
import { purgeWebhooks } from './jobs.ts'
import { queueStore } from './queue-store.ts'
import { BODY, createFixture, type Tenant } from './testing/fixture.ts'
import { type Receiver, status } from './testing/receiver.ts'

let tenant: Tenant
let receiver: Receiver
const fixture = await createFixture()
beforeEach(async () => {
  await fixture.harness.database.query(
    'truncate stream_events, webhook_deliveries, webhook_queue, webhook_attempts, webhook_endpoints',
  )
  tenant = await fixture.newTenant()
  receiver = await fixture.newReceiver()
})

/** As large as a real picture, so that PostgreSQL stores it out of line. */
const ONCE = Buffer.from(JSON.stringify({ images: [{ type: 'portrait', data: 'marked-picture'.repeat(15_000) }] }))
const HOUR = 3_600_000
const advance = (ms: number) => fixture.harness.clock.advance(ms)
const now = () => fixture.harness.clock.now()
const db = () => fixture.harness.wire.platform.cells.forId(tenant.tenantId)
const enqueue = (message: { subjectId?: string; purgeAt?: Date } = {}) =>
  fixture.enqueue(tenant, { url: receiver.url, onceBody: ONCE, ...message })

/** How many bytes of one-time bodies are in the database. */
async function kept(): Promise<number> {
  const { rows } = await fixture.harness.database.query(
    'select coalesce(sum(length(once_sealed)), 0)::int as bytes from webhook_queue',
  )
  return rows[0].bytes
}

async function deliveredAt(index: number) {
  const one = receiver.received[index]
  assert.ok(one, `delivery ${index + 1} arrived`)
  const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = one.headers
  const isGenuine = await verifyWebhook({
    apiKey: tenant.key,
    timestamp: String(timestamp),
    signature: String(signature),
    body: one.body,
  })
  return { body: one.body, isGenuine }
}

describe('a body that is sent once', () => {
  test('is signed and sent instead of the usual one, and is deleted when the delivery succeeds', async () => {
    await enqueue()
    assert.ok((await kept()) > ONCE.length)
    assert.equal(await fixture.dispatcher.tick(), 1)
    assert.deepEqual(await deliveredAt(0), { body: ONCE, isGenuine: true })
    assert.equal(await kept(), 0)
  })

  test('a replay of what was delivered sends the usual body', async () => {
    const id = await enqueue()
    await fixture.dispatcher.tick()
    await fixture.webhooks.replay(tenant.caller, id)
    assert.equal(await fixture.dispatcher.tick(), 1)
    assert.deepEqual(await deliveredAt(1), { body: BODY, isGenuine: true })
    await fixture.webhooks.replaySince(tenant.caller, { since: '2026-01-01T00:00:00Z', state: 'all' })
    assert.equal(await fixture.dispatcher.tick(), 1)
    assert.deepEqual(await deliveredAt(2), { body: BODY, isGenuine: true })
  })

  test('is kept while the receiver fails, and sent with every attempt until one succeeds', async () => {
    const id = await enqueue()
    receiver.answer(status(500))
    await fixture.dispatcher.tick()
    assert.ok((await kept()) > ONCE.length)
    await fixture.webhooks.replay(tenant.caller, id)
    await fixture.dispatcher.tick()
    receiver.answer(status(200))
    advance(60_000)
    assert.equal(await fixture.dispatcher.tick(), 1)
    for (const index of [0, 1, 2]) assert.deepEqual(await deliveredAt(index), { body: ONCE, isGenuine: true })
    assert.equal(await kept(), 0)
  })

  test('is deleted when the delivery is dead; a replay then sends the usual body', async () => {
    const id = await enqueue()
    receiver.answer(status(410))
    await fixture.dispatcher.tick()
    assert.equal((await fixture.webhooks.get(tenant.caller, id)).state, 'dead')
    assert.equal(await kept(), 0)
    receiver.answer(status(200))
    await fixture.webhooks.replay(tenant.caller, id)
    assert.equal(await fixture.dispatcher.tick(), 1)
    assert.deepEqual(await deliveredAt(1), { body: BODY, isGenuine: true })
  })

  test('is deleted when the delivery can never be made, because its session’s data is due for purging', async () => {
    const id = await enqueue({ purgeAt: new Date(now().getTime() + HOUR) })
    advance(HOUR)
    await fixture.dispatcher.tick()
    assert.equal(receiver.received.length, 0)
    const { rows } = await fixture.harness.database.query(
      'select dead_reason from webhook_queue where delivery_id = $1 and once_sealed is null',
      [id],
    )
    assert.deepEqual(rows, [{ dead_reason: 'retention' }])
  })

  test('is deleted by the purge and by the erasure of its session', async () => {
    const subjectId = randomUUID()
    await enqueue({ purgeAt: new Date(now().getTime() + HOUR) })
    await enqueue({ subjectId })
    const both = await kept()
    advance(HOUR)
    assert.equal(await purgeWebhooks(db(), now()), 1)
    assert.equal(await kept(), both / 2)
    assert.equal(await fixture.webhooks.erase(db(), tenant.caller, subjectId), 1)
    assert.equal(await kept(), 0)
  })

  test('is stored sealed, and opens in its own row only', async () => {
    const [first, second] = [await enqueue(), await enqueue()]
    const { rows } = await fixture.harness.database.query('select * from webhook_queue')
    for (const row of rows) assert.ok(!row.once_sealed.toString('latin1').includes('marked'))
    await fixture.harness.database.query(
      `update webhook_queue q set once_sealed = o.once_sealed from webhook_queue o
       where q.delivery_id = $1 and o.delivery_id = $2`,
      [first, second],
    )
    await fixture.dispatcher.tick()
    assert.deepEqual(
      receiver.received.map(({ headers }) => headers['x-service-delivery']),
      [second],
    )
    assert.ok(!fixture.harness.logged().includes('marked'))
  })

  test('a delivery that another worker settled between claim and attempt is not sent with the usual body', async () => {
    await enqueue()
    const { platform, keys, webhooks } = fixture.harness.wire
    const attempts = createAttempts({
      ...platform,
      keys: keys.service,
      webhookKeys: webhooks.webhookKeys,
      metrics: fixture.metrics,
      outbound: fixture.newOutbound(),
    })
    const leaseUntil = new Date(now().getTime() + 30_000)
    const { taken } = await queueStore.claim(db(), {
      after: '00000000-0000-0000-0000-000000000000',
      visit: 10,
      now: now(),
      capacities: {},
      capacityOfOthers: 8,
      fullTenants: [],
      limit: 10,
      leaseUntil,
    })
    const [claimed] = taken
    assert.ok(claimed?.payload)
    assert.equal(claimed.claim.hasOnce, true)
    await fixture.harness.database.query('delete from webhook_queue')
    const takenMs = fixture.harness.clock.monotonicMs()
    const { claim, payload } = claimed
    const task = { db: db(), recorder: { add: () => assert.fail() }, claim, payload, takenMs, leaseUntil, probe: false }
    await attempts.run(task)
    assert.equal(receiver.received.length, 0)
  })

  test('counts for the master key that sealed it, beside the message and its copy in the event stream', async () => {
    await enqueue()
    const { currentKeyId } = fixture.harness.wire.platform.vault
    assert.deepEqual(await fixture.webhooks.countByMasterKey(), new Map([[currentKeyId, 3]]))
    await fixture.dispatcher.tick()
    assert.deepEqual(await fixture.webhooks.countByMasterKey(), new Map([[currentKeyId, 2]]))
  })
})
