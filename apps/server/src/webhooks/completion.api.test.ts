import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { type Claim, type Completion, queueStore } from './queue-store.ts'
import { createFixture, type Tenant } from './testing/fixture.ts'

let tenant: Tenant
const fixture = await createFixture()
beforeEach(async () => {
  await query('truncate webhook_deliveries, webhook_queue, webhook_attempts, webhook_endpoints')
  tenant = await fixture.newTenant()
})

const query = async (text: string, values: unknown[] = []) => (await fixture.harness.database.query(text, values)).rows
const db = () => fixture.harness.wire.platform.cells.forId(tenant.tenantId)
const now = () => fixture.harness.clock.now()
const queued = async () => (await query('select delivery_id as id from webhook_queue order by 1')).map(({ id }) => id)
const logged = () =>
  query(
    'select delivery_id as id, attempt, outcome, status, created_at, started_at from webhook_attempts order by 1, 2',
  )

/** Three deliveries that a worker has claimed, in the order of their ids. */
async function claimThree(): Promise<Claim[]> {
  for (let i = 0; i < 3; i++) await fixture.enqueue(tenant, { url: 'http://127.0.0.1:39999/' })
  const leaseUntil = new Date(now().getTime() + 30_000)
  const request = { after: '00000000-0000-0000-0000-000000000000', visit: 10, now: now(), capacities: {}, leaseUntil }
  const { taken } = await queueStore.claim(db(), { ...request, capacityOfOthers: 8, fullTenants: [], limit: 10 })
  return taken.map(({ claim }) => claim).sort((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1))
}

const success = (claim: Claim, change: Partial<Completion> = {}): Completion => ({
  claim,
  attempt: claim.attempts + 1,
  startedAt: now(),
  durationMs: 3,
  outcome: 'delivered',
  status: 200,
  nextAttemptAt: undefined,
  dead: undefined,
  ...change,
})

describe('successes are stored', () => {
  test('with their attempts', async () => {
    const claims = await claimThree()
    await queueStore.complete(
      db(),
      claims.map((claim) => success(claim)),
      [],
    )
    assert.deepEqual(await queued(), [])
    const created = await query('select delivery_id as id, created_at from webhook_deliveries order by 1')
    const log = created.map((one) => ({ ...one, attempt: 1, outcome: 'delivered', status: 200, started_at: now() }))
    assert.deepEqual(await logged(), log)
  })

  test('together with failures, each in its way', async () => {
    const [first, second, third] = await claimThree()
    assert.ok(first && second && third)
    const next = new Date(now().getTime() + 5_000)
    const failure = success(second, { outcome: 'timeout', status: undefined, nextAttemptAt: next })
    await queueStore.complete(db(), [success(first), failure, success(third)], [])
    assert.deepEqual(await queued(), [second.deliveryId])
    assert.deepEqual(
      (await logged()).map(({ outcome }) => outcome),
      ['delivered', 'timeout', 'delivered'],
    )
    assert.deepEqual(await query('select attempts, next_attempt_at from webhook_queue'), [
      { attempts: 1, next_attempt_at: next },
    ])
  })

  test('when their rows have moved since they were claimed; others are left alone', async () => {
    const [first, second, third] = await claimThree()
    assert.ok(first && second && third)
    await query('update webhook_queue set fail_next = 0 where delivery_id = $1', [first.deliveryId])
    await queueStore.complete(db(), [success(first), success(second)], [])
    assert.deepEqual(await queued(), [third.deliveryId])
    assert.deepEqual(
      (await logged()).map(({ id }) => id),
      [first.deliveryId, second.deliveryId],
    )
  })

  test('when one of their attempts is in the log already: it becomes a success, and the others are not lost', async () => {
    const [first, second] = await claimThree()
    assert.ok(first && second)
    await query(
      `insert into webhook_attempts (tenant_id, delivery_id, created_at, attempt, started_at, duration_ms, outcome)
       select tenant_id, delivery_id, created_at, 1, now(), 1, 'timeout' from webhook_queue where delivery_id = $1`,
      [first.deliveryId],
    )
    await queueStore.complete(db(), [success(first), success(second)], [])
    assert.deepEqual(
      (await logged()).map(({ id, outcome }) => [id, outcome]),
      [
        [first.deliveryId, 'delivered'],
        [second.deliveryId, 'delivered'],
      ],
    )
    assert.equal((await queued()).length, 1)
  })

  test('once: a success that was stored before changes nothing, not even for an erased message', async () => {
    const [first, second] = await claimThree()
    assert.ok(first && second)
    await queueStore.complete(db(), [success(first)], [])
    await query('delete from webhook_queue where delivery_id = $1', [second.deliveryId])
    await queueStore.complete(db(), [success(first, { durationMs: 9 }), success(second)], [])
    assert.deepEqual(
      (await logged()).map(({ id }) => id),
      [first.deliveryId],
    )
  })

  test('and their receivers are healthy again', async () => {
    const [first] = await claimThree()
    assert.ok(first)
    await query(
      `insert into webhook_endpoints (endpoint_id, tenant_id, livemode, failures, opened_times, open_until, updated_at)
       values ($1, $2, false, 3, 0, now(), now())`,
      [first.endpointId, tenant.tenantId],
    )
    await queueStore.complete(db(), [success(first)], [first.endpointId])
    assert.deepEqual(await query('select * from webhook_endpoints'), [])
  })
})
