/**
 * Area E at sizes at which nobody should be searched by face alone (docs/scaling.md): 1,000,000 people with --full, 5,000 without, one vector each, on a cluster
 * of its own. Is the right person found, also near the threshold, are strangers refused, and what does a search cost, with and without
 * parallel workers? `--keep` leaves the cluster for the next run; `--persons 250000` makes it another size, `--probes` another number of probes.
 */
import { parseArgs } from 'node:util'
import { type Measure, median } from '@ostiary/testkit/measuring/figure'
import { accuracy, foundAt, percentile, predictCosts } from '@ostiary/testkit/measuring/node-bench'
import { startApi } from '@ostiary/testkit/run'
import { openLargeSpace, people } from './million-space.ts'

const STRANGERS_FROM = 50_000_000
const NOT_ENROLLED = 99
const FAINT = 0.52
const SEARCHES = 15

export const measure: Measure = async ({ full, say }) => {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: {
      full: { type: 'boolean' },
      keep: { type: 'boolean' },
      persons: { type: 'string' },
      probes: { type: 'string' },
    },
    allowPositionals: true,
  })
  const size = full ? { persons: 1_000_000, probes: 500 } : { persons: 5_000, probes: 100 }
  const persons = Number(values.persons ?? size.persons)
  const probes = Number(values.probes ?? size.probes)
  const space = await openLargeSpace({
    // A kept cluster is not wiped by a short run.
    cluster: full ? 'bench-large' : 'bench-small',
    persons,
    ...(full && { buffersMb: 4096 }),
    keep: values.keep === true,
    say,
  })
  const api = await startApi({ env: space.settings, logName: 'bench-node-million' })
  try {
    const asked = { puids: space.puids, from: 0, probes, strangersFrom: STRANGERS_FROM }
    const { right, strangers, latencyMs } = await accuracy(api.url, space.tenant, people, asked)
    const at = (share: number) => `${percentile(latencyMs, share).toFixed(1)} ms`
    say(`one at a time through HTTP: p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}`)
    const wanted = { puids: space.puids, probes: probes / 2, othersFrom: STRANGERS_FROM * 2 }
    const faint = await foundAt(FAINT, api.url, space.tenant, people, wanted)
    const probesOfCost = Array.from({ length: SEARCHES }, (_, n) => people.sample((n * 7_919) % persons, NOT_ENROLLED))
    const costs: number[] = []
    for (const workers of [0, 2]) {
      await space.enrolled.query(`alter role current_user set max_parallel_workers_per_gather = ${workers}`)
      const process = await startApi({ env: space.settings, logName: 'bench-node-workers' })
      const spent = await predictCosts(process, space.enrolled, space.tenant, probesOfCost).finally(() =>
        process.stop(),
      )
      const [inApi, inPostgres, ms] = (['api', 'postgres', 'ms'] as const).map((part) =>
        median(spent.map((one) => one[part])),
      )
      say(
        `with ${workers} parallel workers: ${ms?.toFixed(1)} ms, processor time ${inApi?.toFixed(1)} ms in the API and ${inPostgres?.toFixed(1)} in PostgreSQL`,
      )
      costs.push((inApi ?? 0) + (inPostgres ?? 0))
    }
    return [
      { name: 'node-million.right-person', value: right, floor: 0.995, is: 'least' },
      { name: 'node-million.strangers-refused', value: strangers, floor: 1, is: 'least' },
      // Bits are a coarse measure: do they still find a face that is hardly recognised?
      { name: 'node-million.faint-found', value: faint, floor: 0.995, is: 'least' },
      { name: 'node-million.cpu-ms', value: costs[0] ?? 0, floor: full ? 500 : 15, is: 'most', load: true },
    ]
  } finally {
    await api.stop()
    await space.close()
  }
}
