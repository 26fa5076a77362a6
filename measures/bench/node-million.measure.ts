/**
 * Area E at the size of a large tenant: 1,000,000 vectors with --full, 20,000 without. On a cluster of its own with memory
 * for the index. `PERSONS=50000` makes it another size (five vectors each). Says how long loading and indexing took, how large it is, and how fast and how right predictions are.
 */

import { testSettings } from '@ostiary/testkit/databases'
import { openEnrolledPeople } from '@ostiary/testkit/measuring/enrolled-people'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { accuracy, createTenant, httpRunner, percentile } from '@ostiary/testkit/measuring/node-bench'
import { startApi, startServices, stopServices } from '@ostiary/testkit/run'
import { createPeople } from '@ostiary/testkit/samples/people'
import pg from 'pg'

const CLUSTER = 'bench-large'
const SAMPLES = 5
const STRANGERS_FROM = 50_000_000

export const measure: Measure = async ({ full, say }) => {
  const size = full
    ? { persons: Number(process.env.PERSONS ?? 200_000), probes: 1_000, loadMs: 20_000 }
    : { persons: 4_000, probes: 100, loadMs: 2_000 }
  stopServices(CLUSTER, 'wipe')
  if (full) await giveMemory(startServices(CLUSTER))
  const settings = { ...testSettings(startServices(CLUSTER)), NODE_INDEX_MEMORY_MB: full ? '4096' : '256' }
  const api = await startApi({ env: settings, logName: 'bench-node-million' })
  const enrolled = await openEnrolledPeople(settings)
  try {
    const people = createPeople(7)
    const tenant = await createTenant(enrolled, 'Million')
    const count = size.persons * SAMPLES
    const wanted = { livemode: false, persons: size.persons, samples: SAMPLES, from: 0 }
    const onProgress = (done: number) => (done % 100_000 === 0 ? say(`${done} vectors loaded`) : undefined)
    const loaded = await timed(() => enrolled.load(tenant.id, people, { ...wanted, onProgress }))
    say(`${count} vectors of ${size.persons} people made, sealed, rotated and loaded in ${loaded.seconds.toFixed(0)} s`)
    const arranged = await timed(() => enrolled.arrange())
    say(
      `moved to a vector partition of its own and indexed in ${arranged.seconds.toFixed(0)} s (m 16, ef_construction 64)`,
    )
    const [space] = await enrolled.wire.biometrics.vectorPartitions.stats()
    const sizes = await enrolled.wire.biometrics.vectorPartitions.sizes(enrolled.wire.platform.cells.forId(tenant.id))
    say(
      `partition ${megabytes(space?.rowBytes)}, its indexes ${megabytes(space?.indexBytes)} (HNSW ${megabytes(sizes.hnsw)}), ` +
        `everything else of area E ${megabytes(sizes.other)}`,
    )
    const { right, strangers, latencyMs } = await accuracy(api.url, tenant, people, {
      puids: loaded.result,
      from: 0,
      probes: size.probes,
      strangersFrom: STRANGERS_FROM,
    })
    say(
      `one at a time through HTTP: p50 ${percentile(latencyMs, 0.5).toFixed(1)} ms, p95 ${percentile(latencyMs, 0.95).toFixed(1)} ms, ` +
        `p99 ${percentile(latencyMs, 0.99).toFixed(1)} ms`,
    )
    // The server searches a second time for every stranger, and for every enrolled probe that the first search missed.
    const again = Math.max(0, (await secondLooks(api.adminUrl)) - size.probes)
    say(`${again} of ${size.probes} enrolled probes needed the second search`)
    const lanes = Array.from({ length: 8 }, (_, n) => people.sample(n * 911, 99))
    const load = await httpRunner(api.url, tenant.key, lanes)
    say(`eight at a time: ${((await load.run(size.loadMs)) / (size.loadMs / 1000)).toFixed(0)} predictions/s`)
    load.close()
    return [
      { name: 'node-million.right-person', value: right, floor: 0.995, is: 'least' },
      { name: 'node-million.strangers-refused', value: strangers, floor: 1, is: 'least' },
    ]
  } finally {
    await enrolled.close()
    await api.stop()
    stopServices(CLUSTER, 'wipe')
  }
}

async function secondLooks(adminUrl: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  return Number(/search_seconds_count\{purpose="predict-again",kind="hnsw"\} (\d+)/.exec(text)?.[1] ?? 0)
}

/** The index should fit into the database's memory. */
async function giveMemory(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`alter system set shared_buffers = '6GB'`)
  await client.query(`alter system set max_wal_size = '16GB'`)
  await client.end()
  stopServices(CLUSTER, 'stop')
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const started = performance.now()
  const result = await work()
  return { result, seconds: (performance.now() - started) / 1000 }
}

function megabytes(bytes: number | null | undefined): string {
  return `${((bytes ?? 0) / 1e6).toFixed(0)} MB`
}
