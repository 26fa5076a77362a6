import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, test } from 'node:test'
import type { AttemptOutcome } from '@ostiary/contract'
import { eventually } from '@ostiary/testkit/eventually'
import pg from 'pg'
import { isBlocked } from '../testing/locks.ts'
import { createAttempts } from './attempt.ts'
import { purgeWebhooks } from './jobs.ts'
import { type Completion, queueStore } from './queue-store.ts'
import { createRecorder } from './recorder.ts'
import { createFixture, type Tenant } from './testing/fixture.ts'
import type { Receiver } from './testing/receiver.ts'

let tenant: Tenant
let receiver: Receiver
const fixture = await createFixture()
beforeEach(async () => {
  await fixture.harness.database.query(
    'truncate webhook_deliveries, webhook_queue, webhook_attempts, webhook_endpoints',
  )
  tenant = await fixture.newTenant()
  receiver = await fixture.newReceiver()
})

const HOUR = 3_600_000
const now = () => fixture.harness.clock.now()
const advance = (ms: number) => fixture.harness.clock.advance(ms)
const db = () => fixture.harness.wire.platform.cells.forId(tenant.tenantId)
const get = (id: string) => fixture.webhooks.get(tenant.caller, id)
const counts = async () => {
  const { rows } = await fixture.harness.database.query(
    `select (select count(*) from webhook_deliveries)::int as deliveries, (select count(*) from webhook_queue)::int as queue,
       (select count(*) from webhook_attempts)::int as attempts`,
  )
  return rows[0]
}

/** An attempt that a worker has just ended. */
function ended(deliveryId: string, outcome: AttemptOutcome, change: Partial<Completion> = {}): Completion {
  return {
    claim: {
      tenantId: tenant.tenantId,
      deliveryId,
      livemode: false,
      endpointId: randomUUID(),
      attempts: 0,
      tries: 0,
      restarts: 0,
      failNext: 0,
      hasOnce: false,
    },
    attempt: 1,
    startedAt: now(),
    durationMs: 3,
    outcome,
    status: outcome === 'delivered' ? 200 : undefined,
    nextAttemptAt: outcome === 'delivered' ? undefined : new Date(now().getTime() + 5_000),
    dead: undefined,
    ...change,
  }
}
const complete = (...all: Completion[]) => queueStore.complete(db(), all, [])

/** Copies of a delivery that are dead, one a second, the newest a second older than the one before them. */
async function deadCopies(id: string, count: number): Promise<void> {
  const moment = `d.created_at - n * interval '1 second'`
  const text = `lpad(to_hex((extract(epoch from ${moment}) * 1000)::bigint), 12, '0')`
  const copy = `(substr(${text}, 1, 8) || '-' || substr(${text}, 9) || '-7000-8000-000000000000')::uuid`
  await fixture.harness.database.query(
    `with made as (
       insert into webhook_deliveries select d.tenant_id, ${copy}, ${moment}, d.livemode, d.area, d.event, d.subject_id, d.sequence,
         d.key_id, d.endpoint_id, d.origin, d.sealed, d.master_key_id, d.purge_at
       from webhook_deliveries d, generate_series(1, $2::int) n where d.delivery_id = $1
       returning tenant_id, delivery_id, created_at, livemode, endpoint_id
     )
     insert into webhook_queue (tenant_id, delivery_id, created_at, livemode, endpoint_id, next_attempt_at, dead_at, dead_reason)
     select *, created_at, created_at, 'exhausted' from made`,
    [id, count],
  )
}

/** Runs work while another transaction is open. That transaction ends when the work waits for it or is done. */
async function duringTransaction<T>(statements: [string, unknown[]][], work: () => Promise<T>): Promise<T> {
  const other = new pg.Client(fixture.harness.database.url)
  await other.connect()
  try {
    await other.query('begin')
    for (const [text, values] of statements) await other.query(text, values)
    let isDone = false
    const working = Promise.allSettled([work()]).finally(() => {
      isDone = true
    })
    await eventually(async () => isDone || (await isBlocked(fixture.harness.database)), 'the work waits or is done')
    await other.query('commit')
    const [worked] = await working
    if (worked.status === 'rejected') throw worked.reason
    return worked.value
  } finally {
    await other.end()
  }
}

describe('a success is stored', () => {
  test('while another transaction changes the row: a lease that is taken over, a replay, shifted time', async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    const takeOver: [string, unknown[]] = [
      `update webhook_queue set next_attempt_at = next_attempt_at + interval '30 s' where delivery_id = $1`,
      [id],
    ]
    await duringTransaction([takeOver], () => complete(ended(id, 'delivered')))
    assert.deepEqual(await counts(), { deliveries: 1, queue: 0, attempts: 1 })
    const { state, attemptLog } = await get(id)
    assert.deepEqual([state, attemptLog.map(({ outcome }) => outcome)], ['delivered', ['delivered']])
  })

  test('and so is a failure when only its due time was moved', async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    const shift: [string, unknown[]] = ['update webhook_queue set next_attempt_at = $1', [now()]]
    await duringTransaction([shift], () => complete(ended(id, 'timeout')))
    const { state, attempts, nextAttemptAt, attemptLog } = await get(id)
    const next = new Date(now().getTime() + 5_000).toISOString()
    assert.deepEqual([state, attempts, nextAttemptAt, attemptLog.length], ['pending', 1, next, 1])
  })

  test('in place of a failure that another worker stored for the same attempt, and no failure replaces it', async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    await complete(ended(id, 'timeout'))
    await complete(ended(id, 'delivered', { durationMs: 7 }))
    await complete(ended(id, 'timeout'))
    const { state, attempts, deliveredAt, attemptLog } = await get(id)
    const startedAt = now().toISOString()
    assert.deepEqual(
      { state, attempts, deliveredAt, attemptLog },
      {
        state: 'delivered',
        attempts: 1,
        deliveredAt: new Date(now().getTime() + 7).toISOString(),
        attemptLog: [{ attempt: 1, startedAt, durationMs: 7, outcome: 'delivered', status: 200 }],
      },
    )
    assert.equal((await counts()).queue, 0)
  })

  test('also when two results of one attempt are stored together', async () => {
    const ids = [
      await fixture.enqueue(tenant, { url: receiver.url }),
      await fixture.enqueue(tenant, { url: receiver.url }),
    ]
    const [first = '', second = ''] = ids
    await complete(
      ended(first, 'timeout'),
      ended(second, 'delivered'),
      ended(first, 'delivered'),
      ended(second, 'timeout'),
    )
    for (const id of ids) {
      const { state, attemptLog } = await get(id)
      assert.deepEqual([state, attemptLog.map(({ outcome }) => outcome)], ['delivered', ['delivered']])
    }
    assert.deepEqual(await counts(), { deliveries: 2, queue: 0, attempts: 2 })
  })
})

describe('a removed message stays removed', () => {
  const removing = (id: string): [string, unknown[]][] =>
    ['webhook_queue', 'webhook_attempts', 'webhook_deliveries'].map((table) => [
      `delete from ${table} where delivery_id = $1`,
      [id],
    ])

  test('a replay during the removal finds nothing, and neither does a replay of many', async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    await fixture.dispatcher.tick()
    const replay = () => fixture.webhooks.replay(tenant.caller, id)
    await assert.rejects(duringTransaction(removing(id), replay), { code: 'NOT_FOUND' })
    assert.deepEqual(await counts(), { deliveries: 0, queue: 0, attempts: 0 })
    const since = new Date(now().getTime() - HOUR).toISOString()
    for (const state of ['delivered', 'all', 'dead'] as const) {
      const next = await fixture.enqueue(tenant, { url: receiver.url })
      await fixture.dispatcher.tick()
      if (state === 'dead') {
        await fixture.webhooks.replay(tenant.caller, next)
        await fixture.harness.database.query(`update webhook_queue set dead_at = now(), dead_reason = 'exhausted'`)
      }
      const replayAll = () => fixture.webhooks.replaySince(tenant.caller, { since, state })
      assert.deepEqual(await duringTransaction(removing(next), replayAll), { count: 0, continueFrom: null }, state)
      assert.deepEqual(await counts(), { deliveries: 0, queue: 0, attempts: 0 }, state)
    }
  })

  test('a queue row without a message is deleted instead of being taken again and again', async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    await fixture.harness.database.query('delete from webhook_deliveries where delivery_id = $1', [id])
    assert.equal(await fixture.dispatcher.tick(), 1)
    assert.deepEqual(await counts(), { deliveries: 0, queue: 0, attempts: 0 })
    assert.equal(receiver.received.length, 0)
  })

  const log = (id: string): [string, unknown[]][] => [
    [
      `with gone as (delete from webhook_queue where delivery_id = $1 returning tenant_id, delivery_id, created_at)
       insert into webhook_attempts (tenant_id, delivery_id, created_at, attempt, started_at, duration_ms, outcome, status)
       select *, 1, now(), 5, 'delivered', 200 from gone`,
      [id],
    ],
  ]

  test('an attempt that is stored during an erasure is erased too', async () => {
    const subjectId = randomUUID()
    const id = await fixture.enqueue(tenant, { url: receiver.url, subjectId })
    const erase = () => db().transaction((tx) => fixture.webhooks.erase(tx, tenant.caller, subjectId))
    assert.equal(await duringTransaction(log(id), erase), 1)
    assert.deepEqual(await counts(), { deliveries: 0, queue: 0, attempts: 0 })
  })

  test('an attempt that is stored during a purge is purged too', async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url, purgeAt: now() })
    assert.equal(await duringTransaction(log(id), () => purgeWebhooks(db(), now())), 1)
    assert.deepEqual(await counts(), { deliveries: 0, queue: 0, attempts: 0 })
  })

  test('a replay that came first is removed with its message', async () => {
    const subjectId = randomUUID()
    const id = await fixture.enqueue(tenant, { url: receiver.url, subjectId })
    await fixture.dispatcher.tick()
    const replayed: [string, unknown[]][] = [
      ['select from webhook_deliveries where delivery_id = $1 for key share', [id]],
      [
        `insert into webhook_queue (tenant_id, delivery_id, created_at, livemode, endpoint_id, next_attempt_at)
         select tenant_id, delivery_id, created_at, livemode, endpoint_id, now() from webhook_deliveries where delivery_id = $1`,
        [id],
      ],
    ]
    const erase = () => db().transaction((tx) => fixture.webhooks.erase(tx, tenant.caller, subjectId))
    assert.equal(await duringTransaction(replayed, erase), 1)
    assert.deepEqual(await counts(), { deliveries: 0, queue: 0, attempts: 0 })
  })
})

describe('a message that was not delivered in time', () => {
  test('is counted and logged when its data is purged; delivered and dead ones are not', async () => {
    const subjectId = randomUUID()
    const purgeAt = new Date(now().getTime() + HOUR)
    await fixture.enqueue(tenant, { url: receiver.url, purgeAt })
    await fixture.dispatcher.tick()
    await fixture.enqueue(tenant, { url: receiver.url, purgeAt })
    await fixture.harness.database.query(`update webhook_queue set dead_at = now(), dead_reason = 'gone'`)
    const lost = await fixture.enqueue(tenant, { url: receiver.url, purgeAt, subjectId })
    advance(HOUR)
    const before = await fixture.metrics.deliveries.get('retention')
    const { log } = fixture.harness.wire.platform
    assert.equal(await purgeWebhooks(db(), now(), { log, metrics: fixture.metrics }), 3)
    assert.equal(await fixture.metrics.deliveries.get('retention'), before + 1)
    const lines = fixture.harness
      .logged()
      .split('\n')
      .filter((line) => line.includes('data was purged'))
    assert.deepEqual(
      lines.map((line) => ({ ...JSON.parse(line), time: '' })),
      [
        {
          level: 'warn',
          time: '',
          tenantId: tenant.tenantId,
          sessionId: subjectId,
          deliveryId: lost,
          livemode: false,
          code: 'retention',
          msg: 'a webhook was not delivered before its data was purged',
        },
        {
          level: 'warn',
          time: '',
          count: 1,
          code: 'retention',
          msg: 'webhooks were not delivered before their data was purged',
        },
      ],
    )
  })
})

describe('a replay of very many', () => {
  test('says where to continue even if some of the oldest are due for purging', async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    await deadCopies(id, 10_010)
    await fixture.harness.database.query(
      'update webhook_deliveries set purge_at = $1 where delivery_id in (select delivery_id from webhook_deliveries order by 1 limit 5)',
      [now()],
    )
    const since = '2026-01-01T00:00:00Z'
    const first = await fixture.webhooks.replaySince(tenant.caller, { since })
    assert.equal(first.count, 9_995)
    assert.ok(first.continueFrom)
    const second = await fixture.webhooks.replaySince(tenant.caller, { since: first.continueFrom })
    assert.deepEqual(second, { count: 10, continueFrom: null })
  })

  test('gets past a range in which no message was delivered', async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    await deadCopies(id, 10_010)
    await fixture.dispatcher.tick()
    const replay = (since: string) => fixture.webhooks.replaySince(tenant.caller, { since, state: 'delivered' })
    const first = await replay('2026-01-01T00:00:00Z')
    assert.equal(first.count, 0)
    assert.ok(first.continueFrom)
    assert.deepEqual(await replay(first.continueFrom), { count: 1, continueFrom: null })
  })
})

for (const [which, tries, status] of [
  ['the last', 9, 400],
  ['the first', 0, 410],
] as const) {
  test(`a replay while ${which} attempt is under way is not undone when that fails`, async () => {
    const id = await fixture.enqueue(tenant, { url: receiver.url })
    await fixture.harness.database.query('update webhook_queue set attempts = $1, tries = $1', [tries])
    receiver.answer((response) => {
      void fixture.webhooks.replay(tenant.caller, id).then(() => response.writeHead(status).end())
    })
    assert.equal(await fixture.dispatcher.tick(), 1)
    const { state, nextAttemptAt } = await get(id)
    assert.deepEqual([state, nextAttemptAt], ['pending', now().toISOString()])
    receiver.answer((response) => void response.writeHead(400).end())
    await fixture.dispatcher.tick()
    const after = await get(id)
    assert.equal(after.state, 'pending', 'nine more attempts follow')
    const { rows } = await fixture.harness.database.query('select tries from webhook_queue')
    assert.deepEqual(rows, [{ tries: 1 }])
  })
}

test('a delivery that was erased while it waited in its lane is not sent', async () => {
  const { platform, keys, webhooks } = fixture.harness.wire
  const deps = { ...platform, keys: keys.service, webhookKeys: webhooks.webhookKeys, metrics: fixture.metrics }
  const attempts = createAttempts({ ...deps, outbound: fixture.newOutbound() })
  const recorder = createRecorder({ ...platform, db: db() })
  const kept = await fixture.enqueue(tenant, { url: receiver.url })
  const erased = await fixture.enqueue(tenant, { url: receiver.url })
  const leaseUntil = new Date(now().getTime() + 30_000)
  const request = { after: '00000000-0000-0000-0000-000000000000', visit: 10, now: now(), capacities: {}, leaseUntil }
  const { taken } = await queueStore.claim(db(), { ...request, capacityOfOthers: 8, fullTenants: [], limit: 10 })
  const takenMs = platform.clock.monotonicMs()
  await fixture.harness.database.query('delete from webhook_queue where delivery_id = $1', [erased])
  advance(1_000)
  await Promise.all(
    taken.map(({ claim, payload = assert.fail() }) => {
      const task = { db: db(), recorder, claim, payload, takenMs, leaseUntil, probe: false }
      return attempts.run(task)
    }),
  )
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers['x-service-delivery']),
    [kept],
  )
  await recorder.drain()
})
