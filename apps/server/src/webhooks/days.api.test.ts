import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../platform/clock.ts'
import { dayOf } from '../platform/day-statement.ts'
import { arrangeWebhookPartitions } from './jobs.ts'
import { createFixture } from './testing/fixture.ts'
import { status } from './testing/receiver.ts'

/** Messages lie in partitions of their days. Those of any day must be found. */
const fixture = await createFixture()
const tenant = await fixture.newTenant()
const receiver = await fixture.newReceiver()

const clock = () => fixture.harness.clock
const rowsIn = async (table: string) => (await fixture.harness.database.query(`select from ${table}`)).rowCount
const purgeAt = () => new Date(clock().now().getTime() + 10 * DAY_MS)
const send = () => fixture.enqueue(tenant, { url: receiver.url, purgeAt: purgeAt() })

test('messages of a day without a partition, of today and of yesterday are sent', async () => {
  const first = await send()
  assert.equal(await rowsIn('webhook_deliveries_default'), 1)
  assert.equal(await fixture.dispatcher.tick(), 1)

  const db = fixture.harness.wire.platform.cells.forId(tenant.tenantId)
  clock().advance(DAY_MS)
  const today = clock().now()
  await arrangeWebhookPartitions(db, today)
  receiver.answer(status(503))
  const second = await send()
  assert.equal(await rowsIn(`webhook_deliveries${dayOf(today)}`), 1)
  assert.equal(await fixture.dispatcher.tick(), 1)

  clock().advance(DAY_MS)
  receiver.answer(status(200))
  const third = await send()
  assert.equal(await fixture.dispatcher.tick(), 2)
  const sent = receiver.received.map(({ headers }) => [headers['x-service-delivery'], headers['x-service-attempt']])
  assert.deepEqual(sent.slice(0, 2), [
    [first, '1'],
    [second, '1'],
  ])
  assert.deepEqual(new Set(sent.slice(2).map(String)), new Set([`${second},2`, `${third},1`]))
  assert.equal(await rowsIn('webhook_queue'), 0)
})
