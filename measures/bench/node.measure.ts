/**
 * Area E with one large tenant beside fifty small ones: does predict name the right person, are strangers not recognised, and
 * how fast is it beside the same SQL through the bare driver. --full: 100,000 vectors of 20,000 people.
 */
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { openEnrolledPeople } from '@ostiary/testkit/measuring/enrolled-people'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import {
  accuracy,
  bareRunner,
  createTenant,
  httpRunner,
  percentile,
  type Tenant,
} from '@ostiary/testkit/measuring/node-bench'
import { compareInTurns } from '@ostiary/testkit/measuring/turns'
import { startApi, startServices } from '@ostiary/testkit/run'
import { createPeople } from '@ostiary/testkit/samples/people'

const SAMPLES = 5
const SMALL_TENANTS = 50
const SMALL_PERSONS = 200
const STRANGERS_FROM = 50_000_000

export const measure: Measure = async ({ full, say }) => {
  const size = full
    ? { persons: 20_000, probes: 1_000, smallTenants: SMALL_TENANTS, warmUpMs: 5_000, pairs: 40, exactMax: 10_000 }
    : { persons: 1_200, probes: 150, smallTenants: 3, warmUpMs: 1_500, pairs: 20, exactMax: 3_000 }
  const database = await createDatabase(startServices(), 'bench')
  const settings = { ...testSettings(database.url), NODE_EXACT_SEARCH_MAX: String(size.exactMax) }
  const api = await startApi({ env: settings, logName: 'bench-node' })
  const enrolled = await openEnrolledPeople(settings)
  try {
    const people = createPeople(7)
    const large = await createTenant(enrolled, 'Large')
    const smalls: { tenant: Tenant; from: number; puids: string[] }[] = []
    for (let n = 0; n < size.smallTenants; n++) {
      const tenant = await createTenant(enrolled, `Small ${n}`)
      const from = 10_000_000 + n * SMALL_PERSONS
      const puids = await enrolled.load(tenant.id, people, {
        livemode: false,
        persons: SMALL_PERSONS,
        samples: 1,
        from,
      })
      smalls.push({ tenant, from, puids })
    }
    const wanted = { livemode: false, persons: size.persons, samples: SAMPLES, from: 0 }
    const puids = await enrolled.load(large.id, people, wanted)
    say(
      `${size.persons * SAMPLES} vectors of ${size.persons} people, beside ${size.smallTenants} tenants of ${SMALL_PERSONS}`,
    )
    await enrolled.arrange()
    say('the large tenant has a vector partition of its own with an HNSW index')

    const asked = { puids, from: 0, probes: size.probes, strangersFrom: STRANGERS_FROM }
    const inLarge = await accuracy(api.url, large, people, asked)
    say(
      `large: p50 ${percentile(inLarge.latencyMs, 0.5).toFixed(1)} ms, p99 ${percentile(inLarge.latencyMs, 0.99).toFixed(1)} ms one at a time`,
    )
    const small = smalls[1] ?? smalls[0]
    if (!small) throw new Error('There is no small tenant')
    const inSmall = await accuracy(api.url, small.tenant, people, {
      ...asked,
      puids: small.puids,
      from: small.from,
      probes: Math.min(size.probes, SMALL_PERSONS),
    })
    say(`small: p50 ${percentile(inSmall.latencyMs, 0.5).toFixed(1)} ms`)

    const probes = Array.from({ length: 10 }, (_, n) => people.sample(n * 97, 99))
    const ours = await httpRunner(api.url, large.key, probes)
    const bare = await bareRunner(database.url, enrolled, large, probes)
    for (const runner of [bare, ours]) await runner.run(size.warmUpMs)
    const ratio = await compareInTurns({ bare, ours }, { pairs: size.pairs, turnMs: 500 }, say)
    ours.close()
    await bare.close()
    return [
      { name: 'node.large.right-person', value: inLarge.right, floor: 0.995, is: 'least' },
      { name: 'node.large.strangers-refused', value: inLarge.strangers, floor: 1, is: 'least' },
      { name: 'node.small.right-person', value: inSmall.right, floor: 0.995, is: 'least' },
      { name: 'node.small.strangers-refused', value: inSmall.strangers, floor: 1, is: 'least' },
      { name: 'node.predict.ratio', value: ratio, floor: 0.7, is: 'least', load: true },
    ]
  } finally {
    await enrolled.close()
    await api.stop()
    await database.drop()
  }
}
