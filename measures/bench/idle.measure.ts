/**
 * What a worker with nothing to do costs the PostgreSQL of a cell: processor time of all processes of a cluster of its own, without that of
 * the same cluster without a worker. With the days that a new installation has, and with 68 days.
 */
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { clusterMs, postmasterOf } from '@ostiary/testkit/measuring/cluster-time'
import { type Figure, type Measure, median } from '@ostiary/testkit/measuring/figure'
import { processorMs } from '@ostiary/testkit/measuring/processor-time'
import { sleep, startServices, startWorker, stopServices } from '@ostiary/testkit/run'
import pg from 'pg'

const CLUSTER = 'idle'
const DAYS = 68
const DAY_MS = 86_400_000
const TABLES = ['sessions', 'session_secrets', 'webhook_deliveries', 'webhook_attempts']
const MOST_MS = 15
/** A worker that has just started plans its statements, and its first minute has jobs that came due. */
const SETTLE_MS = { short: 3_000, full: 30_000 }
const WINDOWS = { short: { count: 3, ms: 2_500 }, full: { count: 6, ms: 10_000 } }

export const measure: Measure = async ({ full, say }) => {
  const form = full ? 'full' : 'short'
  const database = await createDatabase(startServices(CLUSTER), 'bench')
  const client = new pg.Client(database.url)
  await client.connect()
  try {
    const postmaster = await postmasterOf(client)
    const observe = (pid?: number) => observeWindows(postmaster, WINDOWS[form], pid)
    const worker = await startWorker({ env: testSettings(database.url), logName: 'bench-idle-worker' })
    const figures: Figure[] = []
    const seen: { name: string; costs: Cost[] }[] = []
    try {
      await sleep(SETTLE_MS[form])
      seen.push({ name: 'idle.pg', costs: await observe(worker.pid) })
      await addDays(client)
      await sleep(SETTLE_MS[form])
      seen.push({ name: `idle.pg-${DAYS}-days`, costs: await observe(worker.pid) })
    } finally {
      await worker.stop()
    }
    await sleep(1_000)
    const without = await observe()
    say(`without a worker: ${shown(without.map(({ database: ms }) => ms))} ms/s`)
    for (const { name, costs } of seen) {
      const used = costs.map(({ database: ms }) => ms)
      say(`${name}: ${shown(used)} ms/s, the worker itself ${shown(costs.map(({ worker: ms }) => ms))} ms/s`)
      const value = median(used) - median(without.map(({ database: ms }) => ms))
      figures.push({ name, value, floor: MOST_MS, is: 'most', load: true })
    }
    return figures
  } finally {
    await client.end()
    await database.drop()
    stopServices(CLUSTER)
  }
}

interface Cost {
  /** Milliseconds of processor time per second. */
  database: number
  worker: number
}

async function observeWindows(
  postmaster: number,
  { count, ms }: { count: number; ms: number },
  worker?: number,
): Promise<Cost[]> {
  const used = () => ({ database: clusterMs(postmaster), worker: worker === undefined ? 0 : processorMs(worker) })
  const costs: Cost[] = []
  for (let window = 0; window < count; window++) {
    const [before, startedMs] = [used(), performance.now()]
    await sleep(ms)
    const [after, seconds] = [used(), (performance.now() - startedMs) / 1000]
    costs.push({
      database: (after.database - before.database) / seconds,
      worker: (after.worker - before.worker) / seconds,
    })
  }
  return costs
}

const shown = (values: readonly number[]) => values.map((value) => value.toFixed(1)).join(' ')

/** The days that an installation keeps, as the worker would have made them one by one. */
async function addDays(client: pg.Client): Promise<void> {
  const today = Math.floor(Date.now() / DAY_MS)
  for (const table of TABLES) {
    for (let day = today - DAYS + 8; day < today; day++) {
      const [from, to] = [new Date(day * DAY_MS).toISOString(), new Date((day + 1) * DAY_MS).toISOString()]
      const name = `${table}_${from.slice(0, 10).replaceAll('-', '')}`
      await client.query(
        `create table if not exists ${name} partition of ${table} for values from ('${from}') to ('${to}')`,
      )
    }
  }
}
