import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import { eventually } from '@ostiary/testkit/eventually'
import { createTestDatabase, migratedTemplate, type TestDatabase } from '../testing/harness.ts'
import { shareCells } from './cell-shares.ts'
import { type Cells, createCells, singleCell } from './cells.ts'
import { type Clock, systemClock } from './clock.ts'
import { createDb } from './db.ts'
import { createLeases, type Leases } from './leases.ts'
import { createLog } from './log.ts'
import { createMetrics, type Metrics } from './metrics.ts'

const CELLS = ['a', 'b', 'c', 'd']
const RENEW_EVERY_MS = 50
const LEASE_MS = 2_000
const log = createLog('silent', { write: () => {} })

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
  const cells = createCells(map, (cell, url) =>
    createDb({
      url,
      cell,
      poolMax: 2,
      statementTimeoutMs: 5_000,
      connectTimeoutMs: 5_000,
      applicationName: 'test',
      log,
    }),
  )
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
    const early: Clock = { now: () => new Date(Date.now() - 86_400_000), monotonicMs: systemClock.monotonicMs }
    const late: Clock = { now: () => new Date(Date.now() + 86_400_000), monotonicMs: systemClock.monotonicMs }
    const first = await startWorker({ clock: early, leaseMs: 60_000 })
    const second = await startWorker({ clock: late, leaseMs: 60_000 })
    await eventually(() => servedOnce([first, second]), 'two share')
    await second.die()
    for (const database of databases)
      await database.query(`update worker_leases set expires_at = now() where worker_id = $1`, [second.id])
    await eventually(() => first.served().length === CELLS.length, 'the first serves all')
  })

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
