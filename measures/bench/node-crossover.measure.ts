/**
 * Up to how many vectors is an exact search as fast as an HNSW index? It searches the same space exactly in the shared vector
 * partition, then moves it to a partition of its own and searches through the index. NODE_EXACT_SEARCH_MAX comes from this.
 */
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { type EnrolledPeople, openEnrolledPeople } from '@ostiary/testkit/measuring/enrolled-people'
import { type Measure, median } from '@ostiary/testkit/measuring/figure'
import { bareRunner, createTenant, type Tenant } from '@ostiary/testkit/measuring/node-bench'
import { startApi, startServices } from '@ostiary/testkit/run'
import { createPeople, type People } from '@ostiary/testkit/samples/people'

const PROBES = 30

export const measure: Measure = async ({ full, say }) => {
  const sizes = full ? [1_000, 2_000, 5_000, 10_000, 20_000, 40_000] : [1_000, 4_000]
  const database = await createDatabase(startServices(), 'bench')
  const settings = { ...testSettings(database.url), NODE_EXACT_SEARCH_MAX: '900' }
  // Starting the API once brings the database to this version's schema.
  await (await startApi({ env: settings, logName: 'bench-node-crossover' })).stop()
  const enrolled = await openEnrolledPeople(settings)
  try {
    const people = createPeople(9)
    let atTenThousand = 0
    for (const size of sizes) {
      const tenant = await createTenant(enrolled, `Size ${size}`)
      await enrolled.load(tenant.id, people, { livemode: false, persons: size, samples: 1, from: size * 100 })
      await enrolled.query('analyze face_vectors')
      const exact = await searchMs(database.url, enrolled, tenant, people)
      await enrolled.arrange()
      const hnsw = await searchMs(database.url, enrolled, tenant, people)
      say(
        `${size} vectors: exact ${exact.toFixed(1)} ms, HNSW ${hnsw.toFixed(1)} ms, exact over HNSW ${(exact / hnsw).toFixed(2)}`,
      )
      if (size <= 10_000) atTenThousand = exact / hnsw
    }
    return [{ name: 'node-crossover.exact-over-hnsw', value: atTenThousand, floor: 6, is: 'most', load: true }]
  } finally {
    await enrolled.close()
    await database.drop()
  }
}

/** The median of single searches through the bare driver. */
async function searchMs(url: string, enrolled: EnrolledPeople, tenant: Tenant, people: People): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < PROBES; n++) {
    const runner = await bareRunner(url, enrolled, tenant, [people.sample(n * 31, 99)])
    await runner.run(1)
    const started = performance.now()
    const count = await runner.run(30)
    times.push((performance.now() - started) / count)
    await runner.close()
  }
  return median(times)
}
