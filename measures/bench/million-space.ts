/**
 * A large space on a cluster of its own. `--keep` leaves the cluster and a file with what is needed to use it again (keys, sizes; the
 * people themselves are computed from the seed), so that a measurement can be repeated without an hour of loading.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { testSettings } from '@ostiary/testkit/databases'
import { type EnrolledPeople, openEnrolledPeople } from '@ostiary/testkit/measuring/enrolled-people'
import { createTenant, type Tenant } from '@ostiary/testkit/measuring/node-bench'
import { ROOT, startApi, startServices, stopServices } from '@ostiary/testkit/run'
import { createPeople } from '@ostiary/testkit/samples/people'
import pg from 'pg'

const SEED = 7

interface Kept {
  persons: number
  masterKey: string
  tenant: Tenant
}

export interface LargeSpace {
  settings: Record<string, string>
  enrolled: EnrolledPeople
  tenant: Tenant
  /** The ids of the people, in the order of their numbers. */
  puids: readonly string[]
  close(): Promise<void>
}

interface Options {
  cluster: string
  persons: number
  /** PostgreSQL's shared_buffers. */
  buffersMb?: number
  keep: boolean
  say(text: string): void
}

export const people = createPeople(SEED)

export async function openLargeSpace(options: Options): Promise<LargeSpace> {
  const { cluster, persons, keep } = options
  const file = `${ROOT}.services/${cluster}/space.json`
  const kept = keep && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Kept) : undefined
  if (kept && kept.persons !== persons)
    throw new Error(`${file} is of ${kept.persons} people: remove its cluster first`)
  if (!kept) stopServices(cluster, 'wipe')
  const url = startServices(cluster)
  if (!kept && options.buffersMb) await giveMemory(url, cluster, options.buffersMb)
  const settings = {
    ...testSettings(startServices(cluster)),
    ...(kept && { MASTER_KEY: kept.masterKey }),
  }
  // An API process applies the migrations at its start.
  await (await startApi({ env: settings, logName: 'bench-million-migrations' })).stop()
  const enrolled = await openEnrolledPeople(settings)
  const tenant = kept?.tenant ?? (await load(enrolled, options))
  if (keep && !kept) {
    const made: Kept = { persons, masterKey: settings.MASTER_KEY ?? '', tenant }
    writeFileSync(file, JSON.stringify(made), { mode: 0o600 })
  }
  const { rows } = await enrolled.query('select person_id from face_templates where tenant_id = $1 order by seq', [
    tenant.id,
  ])
  return {
    settings,
    enrolled,
    tenant,
    puids: rows.map((row) => row.person_id),
    async close() {
      await enrolled.close()
      stopServices(cluster, keep ? 'stop' : 'wipe')
    },
  }
}

async function load(enrolled: EnrolledPeople, { persons, say }: Options): Promise<Tenant> {
  const tenant = await createTenant(enrolled, 'Million')
  const wanted = { livemode: false, persons, samples: 1, from: 0 }
  const onProgress = (done: number) => (done % 100_000 === 0 ? say(`${done} vectors loaded`) : undefined)
  const loaded = performance.now()
  await enrolled.load(tenant.id, people, { ...wanted, onProgress })
  const coding = performance.now()
  say(`${persons} people made, sealed, rotated and loaded in ${seconds(coding - loaded)}`)
  await enrolled.code()
  await enrolled.query('vacuum analyze face_codes')
  say(`their codes made in ${seconds(performance.now() - coding)}`)
  return tenant
}

/** The vectors should fit into the database's memory. */
async function giveMemory(url: string, cluster: string, buffersMb: number): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`alter system set shared_buffers = '${buffersMb}MB'`)
  await client.query(`alter system set max_wal_size = '16GB'`)
  await client.end()
  stopServices(cluster, 'stop')
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(0)} s`
