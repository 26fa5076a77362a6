import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgeFixture, createAgeFixture, type Host } from '../age/testing/fixture.ts'
import { DAY_MS } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import { ensurePartitions, partitionName } from '../platform/partitions.ts'
import { createOpenDays } from './open-days.ts'

let fixture: AgeFixture
let host: Host
let db: Db
async function newDays(): Promise<void> {
  fixture = await createAgeFixture()
  host = await fixture.newHost({ settings: { sessionSecondsMax: 7 * 86_400 } })
  db = fixture.harness.wire.platform.cells.forId(host.tenantId)
  const from = new Date(now().getTime() - 10 * DAY_MS)
  for (const table of ['sessions', 'session_secrets']) await ensurePartitions(db, table, { from, days: 20 })
}

const now = () => fixture.harness.clock.now()
const daysAgo = (days: number) => partitionName('sessions', new Date(now().getTime() - days * DAY_MS))
const sweep = () => fixture.harness.wire.age.ending.expireDue(db)
const pass = (ms: number) => fixture.harness.clock.advance(ms)

test('of twenty days, those are looked at that can have an open session', async () => {
  await newDays()
  const days = createOpenDays(fixture.harness.clock)
  assert.deepEqual(new Set(await days.of(db)), new Set(['sessions_default', daysAgo(0), daysAgo(1)]))
  await host.create({ sessionExpiry: 7 * 86_400 })
  pass(5 * DAY_MS)
  assert.deepEqual(new Set(await days.of(db)), new Set(['sessions_default', daysAgo(0), daysAgo(1), daysAgo(5)]))
})

test('a session that lives for a week ends at its time, and one of today beside it', async () => {
  await newDays()
  const week = await host.create({ sessionExpiry: 7 * 86_400 })
  assert.equal(await sweep(), 0)
  pass(7 * DAY_MS - 60_000)
  const minute = await host.create({ sessionExpiry: 60 })
  assert.equal(await sweep(), 0)
  pass(61_000)
  assert.equal((await sweep()) + (await sweep()), 2)
  assert.equal(await sweep(), 0)
  for (const { token } of [week, minute]) assert.equal((await host.result(token)).flowStatus, 'EXPIRED')
})

test('sessions of a day without a partition end too', async () => {
  await newDays()
  await fixture.harness.database.query(`drop table ${daysAgo(0)}`)
  const { token } = await host.create({ sessionExpiry: 60 })
  pass(61_000)
  assert.equal(await sweep(), 1)
  assert.equal((await host.result(token)).flowStatus, 'EXPIRED')
})

test('a day that is dropped between two looks holds nobody up', async () => {
  await newDays()
  assert.equal(await sweep(), 0)
  await fixture.harness.database.query(`drop table ${daysAgo(1)}`)
  await host.create({ sessionExpiry: 60 })
  pass(20_000)
  assert.equal(await sweep(), 0)
  pass(41_000)
  assert.equal(await sweep(), 1)
})
