/**
 * kill -9 of the API in the middle of 500 enrolments, while another process gives the vectors their codes. No acknowledged person may be missing,
 * stored twice or incomplete. --full: 5,000 enrolments.
 */
import { codeFaces } from '@ostiary/server/measure'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { type EnrolledPeople, openEnrolledPeople } from '@ostiary/testkit/measuring/enrolled-people'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { createTenant, type Tenant } from '@ostiary/testkit/measuring/node-bench'
import { freePorts, type Started, startApi, startServices } from '@ostiary/testkit/run'
import { createPeople } from '@ostiary/testkit/samples/people'
import { enrolForSure, inParallel, post } from './enrols.ts'

const WORKERS = 6
const TENANTS = 5
const KILLS = 4

export const measure: Measure = async ({ full, say }) => {
  const count = full ? 5_000 : 500
  const database = await createDatabase(startServices(), 'drill')
  const [port = 0, adminPort = 0] = await freePorts(2)
  const settings = testSettings(database.url)
  const apiSettings = { ...settings, PORT: String(port), ADMIN_PORT: String(adminPort) }
  let api: Started = await startApi({ env: apiSettings, logName: 'drill-kill-node-api' })
  const enrolled = await openEnrolledPeople(settings)
  try {
    const people = createPeople(500)
    const tenants: Tenant[] = []
    for (let n = 0; n < TENANTS; n++) tenants.push(await createTenant(enrolled, `Kill ${n}`))
    const tenantOf = (index: number) => tenants[index % TENANTS] as Tenant
    const acknowledged: string[] = []
    let failures = 0
    let started = 0
    let kills = 0
    let killing: Promise<void> = Promise.resolve()

    async function killOne(): Promise<void> {
      kills++
      await codeAll(enrolled, tenants)
      await api.stop('SIGKILL')
      say(`killed the API at ${Object.keys(acknowledged).length} acknowledged enrolments`)
      api = await startApi({ env: apiSettings, logName: 'drill-kill-node-api' })
    }

    await inParallel(count, WORKERS, async (index) => {
      const url = () => api.url
      acknowledged[index] = await enrolForSure(url, tenantOf(index).key, people.sample(index, 0), () => failures++)
      const due = Math.floor((Object.keys(acknowledged).length * (KILLS + 1)) / count)
      if (due > started && started < KILLS) {
        started++
        killing = killing.then(killOne)
      }
      // The next kill must still find people being enrolled.
      if (due > kills + 1) await killing
    })
    await killing
    await codeAll(enrolled, tenants)

    let lost = 0
    await inParallel(count, WORKERS, async (index) => {
      const answer = await post(`${api.url}/node/plainPredict`, tenantOf(index).key, people.sample(index, 1))
      if (answer.puid !== acknowledged[index]) lost++
    })
    const found = await census(enrolled)
    say(`${failures} attempts failed and were repeated; ${found.coded} vectors have codes`)
    return [
      { name: 'kill-node.kills', value: kills, floor: KILLS, is: 'least' },
      { name: 'kill-node.persons', value: found.persons, floor: count, is: 'least' },
      { name: 'kill-node.doubled', value: found.persons - count, floor: 0, is: 'most' },
      { name: 'kill-node.lost', value: lost, floor: 0, is: 'most' },
      { name: 'kill-node.half-persons', value: found.half, floor: 0, is: 'most' },
      { name: 'kill-node.coded', value: found.coded, floor: count, is: 'least' },
    ]
  } finally {
    await enrolled.close()
    await api.stop('SIGKILL')
    await database.drop()
  }
}

async function codeAll({ wire }: EnrolledPeople, tenants: readonly Tenant[]): Promise<void> {
  for (const { id } of tenants) {
    await codeFaces(wire.platform.cells.forId(id), { tenantId: id, livemode: false, version: 'FACE3_3' })
  }
}

/** Counts persons, incomplete persons, and vectors with a code. */
async function census(enrolled: EnrolledPeople): Promise<{ persons: number; half: number; coded: number }> {
  const { rows } = await enrolled.query(`
    with t as (select tenant_id, version, seq, person_id from face_templates), v as (select tenant_id, version, seq, person_id, shelf from face_vectors)
    select (select count(*)::int from face_persons) as persons,
      (select count(*)::int from face_codes c join face_spaces s using (tenant_id) join t using (tenant_id, version, seq) where s.number = c.space) as coded,
      (select count(*)::int from face_persons p where not exists (select 1 from t where t.person_id = p.person_id))
      + (select count(*)::int from t full join v using (tenant_id, version, seq, person_id) where t.seq is null or v.seq is null)
      + (select count(*)::int from t where not exists (select 1 from face_persons p where p.person_id = t.person_id))
      + (select count(*)::int from v join face_spaces s using (tenant_id, version) where v.shelf <> s.shelf)
      + (select count(*)::int from face_spaces s where s.vectors <> (select count(*) from v where v.tenant_id = s.tenant_id)) as half`)
  return rows[0]
}
