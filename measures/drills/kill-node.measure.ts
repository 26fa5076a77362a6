/**
 * kill -9 of the API and of the worker in the middle of 500 enrolments. The worker is killed while it moves people to a new
 * vector partition. No acknowledged person may be missing, stored twice or incomplete. --full: 5,000 enrolments.
 */
import { LOCK_KEY } from '@ostiary/server/measure'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { type EnrolledPeople, openEnrolledPeople } from '@ostiary/testkit/measuring/enrolled-people'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { createTenant, type Tenant } from '@ostiary/testkit/measuring/node-bench'
import { freePorts, type Started, sleep, startApi, startServices, startWorker } from '@ostiary/testkit/run'
import { createPeople } from '@ostiary/testkit/samples/people'
import { enrolForSure, inParallel, post } from './enrols.ts'

const WORKERS = 6
const TENANTS = 5
const KILLS = 4

export const measure: Measure = async ({ full, say }) => {
  const count = full ? 5_000 : 500
  const database = await createDatabase(startServices(), 'drill')
  const [port = 0, adminPort = 0] = await freePorts(2)
  // A low limit makes spaces move early, so that the worker has work in every tenant.
  const exactMax = String(Math.floor(count / TENANTS / 4))
  const settings = { ...testSettings(database.url), NODE_EXACT_SEARCH_MAX: exactMax }
  const apiSettings = { ...settings, PORT: String(port), ADMIN_PORT: String(adminPort) }
  let api: Started = await startApi({ env: apiSettings, logName: 'drill-kill-node-api' })
  let worker: Started = await startWorker({ env: settings, logName: 'drill-kill-node-worker' })
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
      if (kills++ % 2 === 1) {
        await api.stop('SIGKILL')
        say(`killed the API at ${Object.keys(acknowledged).length} acknowledged enrolments`)
        api = await startApi({ env: apiSettings, logName: 'drill-kill-node-api' })
        return
      }
      const building = await startMove(enrolled)
      await worker.stop('SIGKILL')
      say(`killed the worker at ${Object.keys(acknowledged).length}${building ? ', while it was moving a space' : ''}`)
      worker = await startWorker({ env: settings, logName: 'drill-kill-node-worker' })
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
    await settle(enrolled, Number(exactMax))

    let lost = 0
    await inParallel(count, WORKERS, async (index) => {
      const answer = await post(`${api.url}/node/plainPredict`, tenantOf(index).key, people.sample(index, 1))
      if (answer.puid !== acknowledged[index]) lost++
    })
    const found = await census(enrolled)
    say(`${failures} attempts failed and were repeated; ${found.moved} of ${TENANTS} spaces have an index of their own`)
    return [
      { name: 'kill-node.kills', value: kills, floor: KILLS, is: 'least' },
      { name: 'kill-node.persons', value: found.persons, floor: count, is: 'least' },
      { name: 'kill-node.doubled', value: found.persons - count, floor: 0, is: 'most' },
      { name: 'kill-node.lost', value: lost, floor: 0, is: 'most' },
      { name: 'kill-node.half-persons', value: found.half, floor: 0, is: 'most' },
      { name: 'kill-node.moved-spaces', value: found.moved, floor: TENANTS, is: 'least' },
    ]
  } finally {
    await enrolled.close()
    await Promise.all([api.stop('SIGKILL'), worker.stop('SIGKILL')])
    await database.drop()
  }
}

/** Starts the worker's job now instead of at the next minute, and waits until it moves a space. */
async function startMove(enrolled: EnrolledPeople): Promise<boolean> {
  // A killed worker's job counts as running until its heartbeat is missed; the drill does not wait for that.
  await enrolled.query(`update pgboss.job set state = 'failed' where name = $1 and state < 'completed'`, [JOB])
  await enrolled.query(`insert into pgboss.job (name, policy) values ($1, 'exclusive') on conflict do nothing`, [JOB])
  for (let i = 0; i < 1_500; i++) {
    const { rows } = await enrolled.query(
      `select 1 from pg_locks where locktype = 'advisory' and granted and objid::text::bigint = $1`,
      [MOVE_LOCK_LOW],
    )
    if (rows.length > 0) return true
    await sleep(20)
  }
  return false
}

const JOB = 'arrange-vector-partitions'
// The lower half of the advisory lock's key, as pg_locks shows it.
const MOVE_LOCK_LOW = LOCK_KEY % 2 ** 32

/** Does the work of the next worker, as soon as the database has noticed that the killed one is gone. */
async function settle(enrolled: EnrolledPeople, exactMax: number): Promise<void> {
  for (let i = 0; i < 240; i++) {
    await enrolled.arrange()
    const { rows } = await enrolled.query(
      'select count(*)::int as left from face_spaces where shelf < 1000 and vectors > $1',
      [exactMax],
    )
    if (rows[0].left === 0) return
    await sleep(250)
  }
}

/** Counts persons, incomplete persons, and spaces with a vector partition of their own. */
async function census(enrolled: EnrolledPeople): Promise<{ persons: number; half: number; moved: number }> {
  const { rows } = await enrolled.query(`
    with t as (select tenant_id, version, seq, person_id from face_templates), v as (select tenant_id, version, seq, person_id, shelf from face_vectors)
    select (select count(*)::int from face_persons) as persons,
      (select count(*)::int from face_spaces where shelf >= 1000) as moved,
      (select count(*)::int from face_persons p where not exists (select 1 from t where t.person_id = p.person_id))
      + (select count(*)::int from t full join v using (tenant_id, version, seq, person_id) where t.seq is null or v.seq is null)
      + (select count(*)::int from t where not exists (select 1 from face_persons p where p.person_id = t.person_id))
      + (select count(*)::int from v join face_spaces s using (tenant_id, version) where v.shelf <> s.shelf)
      + (select count(*)::int from face_spaces s where s.vectors <> (select count(*) from v where v.tenant_id = s.tenant_id)) as half`)
  return rows[0]
}
