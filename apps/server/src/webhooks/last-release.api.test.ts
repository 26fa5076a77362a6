import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queueStore } from './queue-store.ts'
import { createFixture } from './testing/fixture.ts'
import { createOldWorker } from './testing/last-release.ts'

test('a worker of the last release shares the queue with ours', async (t) => {
  const fixture = await createFixture()
  const { harness, dispatcher } = fixture
  const LEASE_MS = 30_000
  const old = createOldWorker(harness, LEASE_MS)
  const [tenant, receiver] = [await fixture.newTenant(), await fixture.newReceiver()]
  const enqueue = () => fixture.enqueue(tenant, { url: receiver.url })
  const arrived = () => receiver.received.splice(0).map(({ headers }) => headers['x-service-delivery'])
  const attempts = async (id: string) => (await fixture.webhooks.get(tenant.caller, id)).attempts

  await t.test('what either has delivered or given back is so for both', async () => {
    await Promise.all([enqueue(), enqueue(), enqueue()])
    const [first, second] = await old.claim(2)
    assert.ok(first && second)
    assert.ok(await old.complete(first))
    await old.giveBack(second)
    assert.equal(await dispatcher.tick(), 2)
    const ours = arrived()
    assert.ok(ours.includes(second.id) && !ours.includes(first.id))
    harness.clock.advance(LEASE_MS)
    assert.deepEqual([await old.claim(9), await dispatcher.tick()], [[], 0])
    assert.deepEqual([await attempts(first.id), await attempts(second.id)], [1, 1])
  })

  await t.test('what the other has kept for longer than its lease is sent by us and stored once', async () => {
    const id = await enqueue()
    const [late] = await old.claim(1)
    assert.ok(late)
    harness.clock.advance(LEASE_MS - 1)
    assert.equal(await dispatcher.tick(), 0)
    harness.clock.advance(1)
    assert.equal(await dispatcher.tick(), 1)
    assert.deepEqual([arrived(), await old.complete(late), await attempts(id)], [[id], false, 1])
  })

  await t.test('what either has claimed is left alone by the other, also when both ask at once', async () => {
    const ids = await Promise.all(Array.from({ length: 60 }, enqueue))
    const now = harness.clock.now()
    const request = { after: '00000000-0000-0000-0000-000000000000', visit: 9, now, capacities: {}, fullTenants: [] }
    const leaseUntil = new Date(now.getTime() + LEASE_MS)
    const ours = async () => {
      const db = harness.wire.platform.cells.forId(tenant.tenantId)
      const { taken } = await queueStore.claim(db, { ...request, leaseUntil, capacityOfOthers: 8, limit: 8 })
      return taken.map(({ claim }) => claim.deliveryId)
    }
    const theirs = async () => (await old.claim(8)).map(({ id }) => id)
    const claimed = (await Promise.all([ours(), theirs(), ours(), theirs(), ours(), theirs()])).flat()
    for (let more = ['']; more.length > 0; claimed.push(...more)) more = [...(await ours()), ...(await theirs())]
    assert.deepEqual(claimed.sort(), ids.sort())
    assert.equal(await dispatcher.tick(), 0)
  })
})
