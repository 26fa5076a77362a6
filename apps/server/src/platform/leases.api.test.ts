import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { createTestDatabase, migratedTemplate, type TestDatabase } from '../testing/harness.ts'
import { shareCells } from './cell-shares.ts'
import { createCellStates, reportMissingWorkers, watchCellStates } from './cell-state.ts'
import { type Cells, createCells, singleCell } from './cells.ts'
import { type Clock, systemClock } from './clock.ts'
import { createDb } from './db.ts'
import { createHealthMonitor } from './health.ts'
import { createLeases, type Leases } from './leases.ts'
import { createLog } from './log.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { createManualClock } from './testing/manual-clock.ts'

const CELLS = ['a', 'b', 'c', 'd']
const RENEW_EVERY_MS = 50
const LEASE_MS = 2_000
const log = createLog('silent', { write: () => {} })

const POOL = { poolMax: 2, statementTimeoutMs: 5_000, connectTimeoutMs: 5_000, applicationName: 'test', log }

const databases: TestDatabase[] = []
before(async () => {
  const template = await migratedTemplate()
  for (const _ of CELLS) databases.push(await createTestDatabase(template))
})
after(() => Promise.all(databases.map((database) => database.drop())))

interface Worker {
  id: string
  cells: Cells
  leases: Leases
  metrics: Metrics
  /** The cells that it serves. */
  served(): string[]
  /** As kill -9: it renews nothing any more and gives nothing back. */
  die(): Promise<void>
}
const workers: Worker[] = []
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.die()))
  await Promise.all(databases.map((database) => database.query('delete from worker_leases')))
})

async function startWorker({
  known = CELLS,
  clock = systemClock,
  id = randomUUID() as string,
  leaseMs = LEASE_MS,
} = {}): Promise<Worker> {
  const urls = new Map(known.map((name) => [name, databases[CELLS.indexOf(name)]?.url ?? '']))
  const map = { ...singleCell(''), urls, cellOfBucket: Array.from({ length: 1024 }, () => known[0] ?? '') }
  const cells = createCells(map, (cell, url) => createDb({ ...POOL, url, cell }))
  const metrics = createMetrics('test', { processMetrics: false })
  const leases = createLeases({ cells, clock, log, metrics }, { workerId: id, renewEveryMs: RENEW_EVERY_MS, leaseMs })
  await leases.start()
  let dying: Promise<void> | undefined
  const worker = {
    id,
    cells,
    leases,
    metrics,
    served: () =>
      cells
        .all()
        .filter((cell) => leases.of(cell).isOn())
        .map(({ name }) => name),
    // Without connections nothing can be renewed or released.
    die: () => {
      dying ??= cells.close().then(() => leases.leave())
      return dying
    },
  }
  workers.push(worker)
  return worker
}

const isEven = (all: readonly Worker[]) => all.every((worker) => worker.served().length === CELLS.length / all.length)
const servedOnce = (all: readonly Worker[]) =>
  all
    .flatMap((worker) => worker.served())
    .toSorted()
    .join() === CELLS.join()

describe('what a process without leases sees of the workers', () => {
  const openCell = () =>
    createCells(singleCell(databases[0]?.url ?? ''), (cell, url) => createDb({ ...POOL, url, cell }))

  test('[O3] nobody serves the cell: the API’s health says for how long, and it stays ready', async () => {
    const cells = openCell()
    const [cell = assert.fail()] = cells.all()
    const clock = createManualClock()
    const states = createCellStates({ clock })
    const monitor = createHealthMonitor('api', '1', cells, clock)
    const metrics = createMetrics('test', { processMetrics: false })
    watchCellStates({ cells, clock, log, metrics }, states)
    try {
      const worker = await startWorker({ known: ['a'], leaseMs: 60_000 })
      reportMissingWorkers({ cells, monitor }, states)
      monitor.markStarted()
      assert.equal((await monitor.health()).status, 'ok')
      assert.match(await metrics.text(), /^ostiary_workers{cell="main"} 1$/m)
      await worker.leases.leave()
      for (const seconds of [10, 35]) {
        clock.advance(seconds * 1000)
        await states.of(cell)
      }
      const { status, checks, details } = await monitor.health()
      assert.deepEqual({ status, checks }, { status: 'degraded', checks: { store: 'ok', worker: 'failed' } })
      assert.equal(details?.worker, 'none for 35 s: start one, webhooks and deletions wait')
      assert.equal(await monitor.readiness(), 'ok')
      assert.match(await metrics.text(), /^ostiary_workers{cell="main"} 0$/m)
    } finally {
      await cells.close()
    }
  })

  test('[X1] a worker whose clock is wrong is no worker, and the API’s health says that it is its clock', async () => {
    const cells = openCell()
    const [cell = assert.fail()] = cells.all()
    const clock = createManualClock()
    const states = createCellStates({ clock })
    const monitor = createHealthMonitor('api', '1', cells, clock)
    try {
      await cell.db.script(`insert into worker_leases (worker_id, duty, needs_help, expires_at)
        values (gen_random_uuid(), 'off', false, now() + interval '40 seconds')`)
      reportMissingWorkers({ cells, monitor }, states)
      monitor.markStarted()
      const { workers, idle } = await states.of(cell)
      assert.deepEqual({ workers, idle }, { workers: 0, idle: 1 })
      clock.advance(35_000)
      const { status, details } = await monitor.health()
      assert.equal(status, 'degraded')
      const sentence = 'none for 35 s: the clock of the one that runs is 5 s or more off, webhooks and deletions wait'
      assert.equal(details?.worker, sentence)
    } finally {
      await cells.close()
    }
  })

  test('the lease of a worker that died says since when, and the clocks are compared', async () => {
    const cells = openCell()
    const [cell = assert.fail()] = cells.all()
    try {
      await cell.db.script(`insert into worker_leases (worker_id, duty, needs_help, expires_at)
        values (gen_random_uuid(), 'own', false, now() - interval '40 seconds')`)
      const { workers, withoutWorkerSeconds, clockAheadSeconds } = await createCellStates({ clock: systemClock }).of(
        cell,
      )
      assert.deepEqual([workers, Math.floor(withoutWorkerSeconds / 10), clockAheadSeconds], [0, 4, 0])
      const lateClock = createManualClock(new Date(Date.now() - 90_000).toISOString())
      const { clockAheadSeconds: late } = await createCellStates({ clock: lateClock }).of(cell)
      assert.equal(Math.round(late / 10), -9)
    } finally {
      await cells.close()
    }
  })
})

describe('leases', () => {
  test('a worker alone serves every cell from its start', async () => {
    assert.deepEqual((await startWorker()).served(), CELLS)
  })

  test('workers that join and leave share the cells evenly, each cell served by one', async () => {
    const first = await startWorker()
    const second = await startWorker()
    await eventually(() => servedOnce([first, second]) && isEven([first, second]), 'two share evenly')
    const rest = [await startWorker(), await startWorker()]
    const all = [first, second, ...rest]
    // On the way there each cell may be served once, and not yet evenly.
    await eventually(() => servedOnce(all) && isEven(all), 'four share evenly')
    for (const worker of rest) await worker.leases.leave()
    await eventually(() => servedOnce([first, second]) && isEven([first, second]), 'two share again')
    assert.match(await first.metrics.text(), /ostiary_worker_cells\{duty="own"\} 2/)
    assert.match(await first.metrics.text(), /ostiary_worker_takeovers_total\{reason="shared"\} [1-9]/)
  })

  test('who leaves serves on until the others have seen it', async () => {
    const first = await startWorker({ leaseMs: 60_000 })
    const second = await startWorker({ leaseMs: 60_000 })
    await eventually(() => servedOnce([first, second]), 'two share')
    const mine = second.served()
    const leaving = second.leases.leave()
    assert.deepEqual(second.served(), mine)
    await leaving
    await eventually(() => first.served().length === CELLS.length, 'nobody waits for the lease to end')
  })

  test('the cells of a dead worker are taken over when its lease has ended', async () => {
    const first = await startWorker()
    const second = await startWorker()
    await eventually(() => servedOnce([first, second]), 'two share')
    await second.die()
    await eventually(() => first.served().length === CELLS.length, 'the first serves all')
    assert.match(await first.metrics.text(), /ostiary_worker_takeovers_total\{reason="expired"\} 2/)
  })

  test('the clock of the database ends a lease, whatever the clocks of workers say', async () => {
    const early: Clock = { now: () => new Date(Date.now() - 4_000), monotonicMs: systemClock.monotonicMs }
    const late: Clock = { now: () => new Date(Date.now() + 4_000), monotonicMs: systemClock.monotonicMs }
    const first = await startWorker({ clock: early, leaseMs: 60_000 })
    const second = await startWorker({ clock: late, leaseMs: 60_000 })
    await eventually(() => servedOnce([first, second]), 'two share')
    await second.die()
    for (const database of databases)
      await database.query(`update worker_leases set expires_at = now() where worker_id = $1`, [second.id])
    await eventually(() => first.served().length === CELLS.length, 'the first serves all')
  })

  test('a worker whose clock is five seconds off leaves its cells to others, says so, and comes back', async () => {
    let aheadMs = 0
    const clock: Clock = { now: () => new Date(Date.now() + aheadMs), monotonicMs: systemClock.monotonicMs }
    const first = await startWorker({ clock })
    assert.equal(first.served().length, CELLS.length)
    for (const wrongMs of [-6_000, 6_000]) {
      aheadMs = wrongMs
      await eventually(() => first.served().length === 0, 'it serves nothing')
      assert.match(first.leases.findClockFault() ?? '', /clock of this worker is 5 s or more apart/)
      const second = await startWorker()
      await eventually(() => second.served().length === CELLS.length, 'the other one serves all')
      await second.die()
      aheadMs = (wrongMs / 6) * 4.9
      const end = await leaseEndOf(first.id)
      await eventually(async () => (await leaseEndOf(first.id)) > end, 'it has looked at the clocks')
      assert.equal(first.served().length, 0, 'just within the bound it does not change sides')
      aheadMs = 0
      await eventually(() => first.served().length === CELLS.length, 'it serves all again')
      assert.equal(first.leases.findClockFault(), undefined)
    }
  })

  async function leaseEndOf(worker: string): Promise<Date> {
    const rows = await databases[0]?.query(`select expires_at as end from worker_leases where worker_id = $1`, [worker])
    return rows?.rows[0].end
  }

  test('a worker with too much to do gets help, as long as it asks', async () => {
    let nowMs = 0
    const clock: Clock = { now: () => new Date(), monotonicMs: () => nowMs }
    const first = await startWorker({ clock })
    const second = await startWorker()
    await eventually(() => servedOnce([first, second]), 'two share')
    const [cell] = first.cells.all().filter(({ name }) => first.served().includes(name))
    assert.ok(cell)
    first.leases.of(cell).askForHelp()
    await eventually(() => second.served().includes(cell.name), 'the second helps')
    assert.equal(second.served().length, 3)
    nowMs += 10_001
    await eventually(() => servedOnce([first, second]), 'the help has ended')
  })

  test('workers with different lists of cells leave none unserved', async () => {
    // Ids with which each worker thinks that the other one serves `b`.
    let ids: string[]
    do ids = [randomUUID(), randomUUID()]
    while (
      shareCells(ids, ['a', 'b'])
        .get('b')
        ?.has(ids[0] ?? '') ||
      shareCells(ids, ['b', 'c'])
        .get('b')
        ?.has(ids[1] ?? '')
    )
    const first = await startWorker({ known: ['a', 'b'], id: ids[0] })
    const second = await startWorker({ known: ['b', 'c'], id: ids[1] })
    const served = () => [...first.served(), ...second.served()].toSorted().join()
    await eventually(async () =>
      /duty="standby"\} 1/.test((await first.metrics.text()) + (await second.metrics.text())),
    )
    await eventually(() => served() === 'a,b,c', 'each cell has one worker')
  })

  test('without the table a worker serves every cell', async () => {
    await databases[0]?.query('alter table worker_leases rename to hidden')
    try {
      const [first, second] = [await startWorker({ known: ['a'] }), await startWorker({ known: ['a'] })]
      assert.deepEqual([first.served(), second.served()], [['a'], ['a']])
    } finally {
      await databases[0]?.query('alter table hidden rename to worker_leases')
    }
  })
})
