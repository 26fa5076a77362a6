import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { figureAtMost } from '@ostiary/testkit/measuring/test-figure'
import { createAgeFixture, type Host } from '../age/testing/fixture.ts'
import { DAY_MS } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import { ensurePartitions, partitionName } from '../platform/partitions.ts'
import { createSweeper, type Sweeper } from '../platform/sweeper.ts'
import { dueStore } from './due-store.ts'
import { createDueWatch } from './due-watch.ts'

let host: Host
const fixture = await createAgeFixture()
const [only] = fixture.harness.wire.platform.cells.all()
assert.ok(only)
const cell = only
await fixture.harness.wire.sessions.prepare(cell)

const daysAgo = (days: number) => new Date(fixture.harness.clock.now().getTime() - days * DAY_MS)
const isEnded = async (sessionId: string) =>
  (
    await fixture.harness.database.query('select from sessions where session_id = $1 and ended_at is not null', [
      sessionId,
    ])
  ).rowCount === 1
/** As if it had been created so many days ago, and no worker had run since. */
const moveBack = async (sessionId: string, days: number) => {
  for (const table of ['session_secrets', 'sessions'])
    await fixture.harness.database.query(
      `update ${table} set created_at = created_at - $2 * interval '1 day' where session_id = $1`,
      [sessionId, days],
    )
}

let isOn: boolean
let runs: number
let watch: ReturnType<typeof createDueWatch>
let sweeper: Sweeper
beforeEach(async () => {
  host = await fixture.newHost()
  const { platform, age } = fixture.harness.wire
  const duty = { isOn: () => isOn, askForHelp: () => {} }
  const run = (db: Db) => {
    runs++
    return age.ending.expireDue(db)
  }
  isOn = true
  runs = 0
  watch = createDueWatch({ ...platform, cell, duty })
  sweeper = createSweeper({ ...platform, cell, duty, run })
})
afterEach(async () => {
  await watch.remove(sweeper)
  await sweeper.stop()
})

describe('the watch over due sessions', () => {
  test('ends a session within a quarter of a second, and asks for nothing else while none is due', async () => {
    watch.add(sweeper)
    const lateMs: number[] = []
    for (let round = 0; round < 7; round++) {
      const { sessionId } = await host.create({ sessionExpiry: 60 })
      const before = runs
      fixture.harness.clock.advance(60_000)
      const sinceMs = performance.now()
      await eventually(() => runs > before, 'it is swept')
      lateMs.push(performance.now() - sinceMs)
      await eventually(() => isEnded(sessionId), 'it is ended')
    }
    assert.ok(runs <= 21, `${runs} sweeps for 7 sessions`)
    await figureAtMost('sessions.idle-expiry-ms', 250, lateMs.toSorted((a, b) => a - b)[3] ?? Number.NaN)
  })

  test('does nothing while another worker serves the cell', async () => {
    isOn = false
    const { sessionId } = await host.create({ sessionExpiry: 60 })
    fixture.harness.clock.advance(60_000)
    let looks = 0
    isOn = false
    const counting = { isOn: () => ++looks > 3 && isOn, askForHelp: () => {} }
    const other = createDueWatch({ ...fixture.harness.wire.platform, cell, duty: counting })
    other.add(sweeper)
    await eventually(() => looks > 3, 'it has asked for its duty')
    assert.deepEqual([runs, await isEnded(sessionId)], [0, false])
    isOn = true
    await eventually(() => isEnded(sessionId), 'it is ended when the worker has taken over')
    await other.remove(sweeper)
  })

  test('finds sessions in the default partition', async () => {
    const { sessionId } = await host.create({ sessionExpiry: 60 })
    // Its day has no partition.
    await moveBack(sessionId, 4)
    fixture.harness.clock.advance(60_000)
    const now = fixture.harness.clock.now()
    assert.equal(await dueStore.isDue(cell.db, await dueStore.openDays(cell.db, now), now), true)
    watch.add(sweeper)
    await eventually(() => isEnded(sessionId), 'it is ended')
  })

  test('finds sessions of days that nobody asks for, when no worker ran for weeks', async () => {
    await ensurePartitions(cell.db, 'sessions', { from: daysAgo(30), days: 1 })
    await ensurePartitions(cell.db, 'session_secrets', { from: daysAgo(30), days: 1 })
    const { sessionId } = await host.create({ sessionExpiry: 60 })
    await moveBack(sessionId, 30)
    fixture.harness.clock.advance(60_000)
    const now = fixture.harness.clock.now()
    assert.equal(await dueStore.isDue(cell.db, await dueStore.openDays(cell.db, now), now), false)
    assert.equal(await dueStore.isDueAnywhere(cell.db, now), true)
    watch.add(sweeper)
    await eventually(() => isEnded(sessionId), 'it is ended')
  })

  test('names the days that can hold open sessions, however many are kept', async () => {
    await ensurePartitions(cell.db, 'sessions', { from: daysAgo(20), days: 21 })
    const now = fixture.harness.clock.now()
    const { statement } = await dueStore.openDays(cell.db, now)
    const named = [...statement.text.matchAll(/from (\w+) where/g)].map(([, table]) => table)
    const wanted = Array.from({ length: 9 }, (_, day) => partitionName('sessions', daysAgo(day)))
    // Seven days, and the minutes by which a session may last longer: eight days or nine.
    const isNine = daysAgo(7).getUTCDate() !== new Date(daysAgo(7).getTime() - 720_000).getUTCDate()
    assert.deepEqual(named, [...wanted.slice(0, isNine ? 9 : 8), 'sessions_default'])
    assert.equal((await dueStore.openDays(cell.db, now)).statement.name, statement.name)
    const tomorrow = await dueStore.openDays(cell.db, new Date(now.getTime() + DAY_MS))
    assert.notEqual(tomorrow.statement.name, statement.name)
  })
})
