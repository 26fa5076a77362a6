import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, test } from 'node:test'
import { createMetrics } from '../platform/metrics.ts'
import { arrangeWebhookPartitions, purgeWebhooks, webhookJobs } from './jobs.ts'
import { watchWebhookQueue } from './metrics.ts'
import { createFixture, type Tenant } from './testing/fixture.ts'
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

const HOUR = 3_600_000
const DAY = 24 * HOUR
const now = () => fixture.harness.clock.now()
const later = (ms: number) => new Date(now().getTime() + ms)
const advance = (ms: number) => fixture.harness.clock.advance(ms)
const db = () => fixture.harness.wire.platform.cells.forId(tenant.tenantId)
const counts = async () => {
  const { rows } = await fixture.harness.database.query(
    `select (select count(*) from webhook_deliveries)::int as deliveries, (select count(*) from webhook_queue)::int as queue,
       (select count(*) from webhook_attempts)::int as attempts`,
  )
  return rows[0]
}

describe('the purge', () => {
  test('removes message, queue row and attempts at their purge time, and no others', async () => {
    receiver.answer(status(404))
    await fixture.enqueue(tenant, { url: receiver.url, purgeAt: later(HOUR) })
    const stays = await fixture.enqueue(tenant, { url: receiver.url, purgeAt: later(HOUR + 1) })
    await fixture.dispatcher.tick()
    receiver.answer(status(200))
    await fixture.enqueue(tenant, { url: receiver.url, purgeAt: later(HOUR) })
    await fixture.dispatcher.tick()
    assert.deepEqual(await counts(), { deliveries: 3, queue: 2, attempts: 3 })
    advance(HOUR - 1)
    assert.equal(await purgeWebhooks(db(), now()), 0)
    advance(1)
    assert.equal((await fixture.webhooks.list(tenant.caller, {})).count, 1, 'invisible even before the purge')
    assert.equal(await purgeWebhooks(db(), now()), 2)
    assert.deepEqual(await counts(), { deliveries: 1, queue: 1, attempts: 1 })
    assert.equal((await fixture.webhooks.get(tenant.caller, stays)).state, 'pending')
  })

  test('runs until everything due is deleted, including rows of the default partition', async () => {
    const message = {
      tenantId: tenant.tenantId,
      keyId: tenant.keyId,
      livemode: false,
      area: 'age' as const,
      event: 'e',
      subjectId: randomUUID(),
      sequence: 1,
      url: receiver.url,
      headers: {},
      body: Buffer.from('{}'),
      now: now(),
      purgeAt: now(),
    }
    await db().transaction((tx) => fixture.webhooks.enqueue(tx, Array(2_300).fill(message)))
    assert.equal(await purgeWebhooks(db(), now()), 2_300)
    assert.deepEqual(await counts(), { deliveries: 0, queue: 0, attempts: 0 })
  })

  test('deletes the state of receivers to which nothing was sent for a day', async () => {
    receiver.answer(status(500))
    await fixture.enqueue(tenant, { url: receiver.url })
    await fixture.dispatcher.tick()
    const states = async () =>
      (await fixture.harness.database.query('select count(*)::int as count from webhook_endpoints')).rows[0].count
    advance(DAY)
    await purgeWebhooks(db(), now())
    assert.equal(await states(), 1)
    advance(1)
    await purgeWebhooks(db(), now())
    assert.equal(await states(), 0)
  })

  test('erasing a session deletes everything of its webhooks, in the caller’s transaction', async () => {
    const [subjectId, other] = [randomUUID(), randomUUID()]
    for (const id of [subjectId, subjectId, other]) await fixture.enqueue(tenant, { url: receiver.url, subjectId: id })
    await fixture.dispatcher.tick()
    await fixture.enqueue(tenant, { url: receiver.url, subjectId })
    const stranger = await fixture.newTenant()
    for (const owner of [stranger.caller, { ...tenant.caller, livemode: true }]) {
      assert.equal(await fixture.webhooks.erase(db(), owner, subjectId), 0)
    }
    const undone = db().transaction(async (tx) => {
      assert.equal(await fixture.webhooks.erase(tx, tenant.caller, subjectId), 3)
      throw new Error('undone')
    })
    await assert.rejects(undone, /undone/)
    assert.deepEqual(await counts(), { deliveries: 4, queue: 1, attempts: 3 })
    assert.equal(await fixture.webhooks.erase(db(), tenant.caller, subjectId), 3)
    assert.deepEqual(await counts(), { deliveries: 1, queue: 0, attempts: 1 })
  })
})

describe('the partitions', () => {
  const partitions = async (table: string) =>
    (
      await fixture.harness.database.query(
        'select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1',
        [table],
      )
    ).rows.map(({ name }) => name.slice(table.length + 1))

  test('exist from yesterday to a week ahead; old ones are dropped when they are empty', async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url, purgeAt: later(4 * DAY) })
    await fixture.dispatcher.tick()
    assert.equal(await arrangeWebhookPartitions(db(), now()), 18)
    for (const table of ['webhook_deliveries', 'webhook_attempts']) {
      const names = await partitions(table)
      assert.equal(names.length, 10)
      assert.equal(names.at(-1), 'default')
    }
    assert.equal((await fixture.webhooks.get(tenant.caller, id)).attemptLog.length, 1, 'rows moved along')
    const today = now().toISOString().slice(0, 10).replaceAll('-', '')
    advance(3 * DAY)
    await arrangeWebhookPartitions(db(), now())
    assert.ok((await partitions('webhook_deliveries')).includes(today), 'one that holds rows stays')
    advance(DAY)
    await purgeWebhooks(db(), now())
    await arrangeWebhookPartitions(db(), now())
    assert.equal((await partitions('webhook_deliveries')).includes(today), false)
    assert.equal((await partitions('webhook_deliveries')).length, 10)
    assert.ok((await partitions('webhook_attempts')).includes(today), 'the log goes by its age, empty or not')
    assert.equal(await arrangeWebhookPartitions(db(), now()), 0)
    // A lifetime of a week, thirty days of retention, and one more day; four days have passed.
    advance(34 * DAY)
    await arrangeWebhookPartitions(db(), now())
    assert.ok((await partitions('webhook_attempts')).includes(today))
    await fixture.harness.database.query(
      `insert into webhook_attempts (tenant_id, delivery_id, created_at, attempt, started_at, duration_ms, outcome)
       values ($1, $2, $3, 1, $3, 1, 'delivered')`,
      [tenant.tenantId, id, new Date(now().getTime() - 38 * DAY)],
    )
    advance(DAY)
    await arrangeWebhookPartitions(db(), now())
    assert.equal((await partitions('webhook_attempts')).includes(today), false, 'whatever it holds')
  })

  test('both jobs are in the worker’s table', () => {
    assert.deepEqual(
      webhookJobs({ log: fixture.harness.wire.platform.log, metrics: fixture.metrics }).map(({ name }) => name),
      ['purge-webhooks', 'arrange-webhook-partitions'],
    )
  })
})

describe('the sandbox', () => {
  test('a delivery in any state fails as often as asked without being sent, and is sent then', async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    await fixture.dispatcher.tick()
    const started = await fixture.webhooks.failNext(tenant.caller, id, 2)
    assert.equal(started.state, 'pending')
    for (let i = 0; i < 3; i++) {
      assert.equal(await fixture.dispatcher.tick(), 1)
      advance(40_000)
    }
    assert.equal(receiver.received.length, 2)
    const { state, attemptLog } = await fixture.webhooks.get(tenant.caller, id)
    assert.deepEqual(
      [state, attemptLog.map(({ outcome }) => outcome)],
      ['delivered', ['delivered', 'sandbox', 'sandbox', 'delivered']],
    )
  })

  test('a live key cannot do that', async () => {
    const live = await fixture.newTenant(true)
    await assert.rejects(fixture.webhooks.failNext(live.caller, randomUUID(), 1), { code: 'SCOPE_DENIED' })
  })

  test('time passes for the test data of one tenant: retries, open breakers and retention', async () => {
    receiver.answer(status(500))
    const other = await fixture.newTenant()
    const mine = await Promise.all(Array.from({ length: 5 }, () => fixture.enqueue(tenant, { url: receiver.url })))
    const theirs = await fixture.enqueue(other, { url: receiver.url })
    await fixture.dispatcher.tick()
    assert.equal(await fixture.dispatcher.tick(), 0)
    receiver.answer(status(200))
    await fixture.webhooks.shiftTestTime(db(), tenant.tenantId, 20_000)
    while ((await fixture.dispatcher.tick()) > 0);
    for (const id of mine) assert.equal((await fixture.webhooks.get(tenant.caller, id)).state, 'delivered')
    assert.equal((await fixture.webhooks.get(other.caller, theirs)).state, 'pending')
    await fixture.webhooks.shiftTestTime(db(), tenant.tenantId, DAY)
    assert.equal(await purgeWebhooks(db(), now()), 5)
    assert.deepEqual((await counts()).deliveries, 1)
  })

  test('the times of live data stay unchanged', async () => {
    const live = await fixture.harness.wire.keys.service.createKey(tenant.tenantId, {
      livemode: true,
      name: 'live',
      scopes: ['age:read'],
      allowedIps: [],
    })
    const caller = { ...tenant.caller, livemode: true, keyId: live.id }
    const id = await fixture.enqueue({ ...tenant, caller, keyId: live.id }, { url: 'https://host.example/' })
    const before = await fixture.webhooks.get(caller, id)
    await fixture.webhooks.shiftTestTime(db(), tenant.tenantId, DAY)
    assert.deepEqual(await fixture.webhooks.get(caller, id), before)
  })
})

describe('what an operator can see', () => {
  test('attempts by outcome, the length of the queue, receivers with an open breaker, messages per master key', async () => {
    receiver.answer(status(500))
    for (let i = 0; i < 6; i++) await fixture.enqueue(tenant, { url: receiver.url })
    await fixture.dispatcher.tick()
    const healthy = await fixture.newReceiver()
    await fixture.enqueue(tenant, { url: healthy.url })
    advance(8_000)
    const { cells, clock, log, vault, leases } = fixture.harness.wire.platform
    let isOn = true
    const duty = { isOn: () => isOn, askForHelp: () => {} }
    const metrics = createMetrics('0', { processMetrics: false })
    watchWebhookQueue({ metrics, cells, clock, log, leases: { ...leases, of: () => duty } })
    const text = await metrics.text()
    assert.match(text, /^ostiary_webhook_due\{cell="main"\} 7$/m)
    assert.match(text, /^ostiary_webhook_resting_receivers\{cell="main"\} 1$/m)
    assert.match(text, /^ostiary_webhook_oldest_due_seconds\{cell="main"\} 8$/m)
    advance(9_999)
    assert.equal(await metrics.text(), text, 'measured at most every ten seconds')
    advance(1)
    assert.match(await metrics.text(), /^ostiary_webhook_oldest_due_seconds\{cell="main"\} 18$/m)
    isOn = false
    advance(10_000)
    assert.doesNotMatch(await metrics.text(), /cell="main"/, 'the worker that serves the cell reports it')
    const { values } = await fixture.metrics.attempts.metric.get()
    assert.ok(values.some(({ labels }) => 'outcome' in labels && labels.outcome === 'failed' && labels.mode === 'test'))
    assert.deepEqual(await fixture.webhooks.countByMasterKey(), new Map([[vault.currentKeyId, 14]]))
  })
})
