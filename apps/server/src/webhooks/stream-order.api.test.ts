import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY_MS } from '../platform/clock.ts'
import { purgeWebhooks } from './jobs.ts'
import { createEventStream, type EventStream, type StreamReader } from './stream.ts'
import { createFixture, type Tenant } from './testing/fixture.ts'

const fixture = await createFixture()
const stream = newStream()

/** As another API process has it. */
function newStream(): EventStream {
  const { platform, keys, webhooks } = fixture.harness.wire
  return createEventStream({ ...platform, keys: keys.service, webhookKeys: webhooks.webhookKeys })
}

const readerOf = ({ tenantId }: Tenant, after = 0): StreamReader => ({
  owner: { tenantId, livemode: false },
  after,
  fromStart: after === 0,
  areas: ['age', 'verification'],
})

/** Enqueues in a transaction that stays open until the test lets it commit. */
function openTransaction(tenant: Tenant) {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  const { promise: written, resolve: hasWritten } = Promise.withResolvers<string>()
  const now = fixture.harness.clock.now()
  const { tenantId, keyId } = tenant
  const message = {
    ...{ tenantId, keyId, livemode: false, area: 'age' as const, event: 'age.session.completed' },
    ...{ subjectId: tenantId, sequence: 1, url: null, headers: {}, body: Buffer.from('{}') },
    ...{ now, purgeAt: new Date(now.getTime() + DAY_MS) },
  }
  const committed = fixture.harness.wire.platform.cells.forId(tenantId).transaction(async (tx) => {
    const [id = ''] = await fixture.webhooks.enqueue(tx, [message])
    hasWritten(id)
    await held
  })
  const commit = () => {
    letGo()
    return committed
  }
  return { written, commit }
}

test('an event whose transaction commits late is read once, after those that came meanwhile', async () => {
  const tenant = await fixture.newTenant()
  const late = openTransaction(tenant)
  const lateId = await late.written
  const seen: string[] = []
  let place = 0
  const readOn = async () => {
    const part = await stream.read(readerOf(tenant, place), 2)
    seen.push(...part.items.map(({ id }) => id))
    place = part.after
    return part.items.length
  }
  const meanwhile = [await fixture.enqueue(tenant, { url: null }), await fixture.enqueue(tenant, { url: null })]
  await readOn()
  // The reader has passed the time at which the late event was created; the transaction is open for two seconds.
  await sleep(2_000)
  meanwhile.push(await fixture.enqueue(tenant, { url: null }))
  await readOn()
  assert.deepEqual(seen, meanwhile)
  await late.commit()
  while ((await readOn()) > 0);
  assert.deepEqual(seen, [...meanwhile, lateId])
})

test('a writer waits for no reader, and a reader for no writer', async () => {
  const tenant = await fixture.newTenant()
  const open = openTransaction(tenant)
  await open.written
  const id = await fixture.enqueue(tenant, { url: null })
  const part = await stream.read(readerOf(tenant), 10)
  assert.deepEqual(
    part.items.map((one) => one.id),
    [id],
  )
  await open.commit()
})

test('readers of several processes give every event one place', async () => {
  const tenant = await fixture.newTenant()
  const streams = [stream, newStream(), newStream()]
  const written: string[] = []
  const write = async () => {
    for (let count = 0; count < 40; count++) written.push(await fixture.enqueue(tenant, { url: null }))
  }
  const readAll = async (own: EventStream) => {
    const seen: string[] = []
    for (let place = 0; seen.length < 160; ) {
      const part = await own.read(readerOf(tenant, place), 7)
      seen.push(...part.items.map(({ id }) => id))
      place = part.after
    }
    return seen
  }
  const [, , , , ...readings] = await Promise.all([write(), write(), write(), write(), ...streams.map(readAll)])
  const [first] = readings
  assert.deepEqual([...(first as string[])].sort(), [...written].sort())
  for (const reading of readings) assert.deepEqual(reading, first, 'all readers see one order')
})

test('a purge does not hide that unread events are gone, and a restored database begins again', async () => {
  const tenant = await fixture.newTenant()
  const { clock, wire } = fixture.harness
  const db = wire.platform.cells.forId(tenant.tenantId)
  await fixture.enqueue(tenant, { url: null })
  const { after: place } = await stream.read(readerOf(tenant), 10)
  await fixture.enqueue(tenant, { url: null })
  clock.advance(2 * DAY_MS)
  await purgeWebhooks(db, clock.now())
  const kept = await fixture.enqueue(tenant, { url: null })
  const part = await stream.read(readerOf(tenant, place), 10)
  assert.deepEqual([part.items.map(({ id }) => id), part.missed], [[kept], true])
  assert.equal((await stream.read(readerOf(tenant, part.after), 10)).missed, false)
  const { owner } = readerOf(tenant)
  const hasNews = (after: number) => stream.hasNews({ owner, after })
  assert.deepEqual([await hasNews(part.after), await hasNews(part.after + 1_000)], [false, true])
  const ahead = await stream.read(readerOf(tenant, part.after + 1_000), 10)
  assert.deepEqual([ahead.items.map(({ id }) => id), ahead.missed, ahead.after], [[kept], true, part.after])
})

test('a revoked key signs nothing: another key signs, and without one the event has no signature', async () => {
  const { service } = fixture.harness.wire.keys
  const tenant = await fixture.newTenant()
  await fixture.enqueue(tenant, { url: null })
  await service.revokeKey(tenant.keyId)
  fixture.harness.clock.advance(6_000)
  const signatureOf = async () => (await stream.read(readerOf(tenant), 10)).items[0]?.headers['x-service-signature']
  assert.equal(await signatureOf(), undefined)
  const wanted = { livemode: false, name: 'second', scopes: ['age:write'], allowedIps: [] }
  await service.createKey(tenant.tenantId, wanted)
  fixture.harness.clock.advance(6_000)
  assert.match((await signatureOf()) ?? '', /^sha256=/)
})

test('the master keys that sealed events are counted', async () => {
  const before = [...(await fixture.webhooks.countByMasterKey()).values()].reduce((sum, count) => sum + count, 0)
  await fixture.enqueue(await fixture.newTenant(), { url: null })
  const counts = [...(await fixture.webhooks.countByMasterKey()).values()]
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    before + 1,
  )
})
