/** Shared parts of the benchmarks of area E: tenants, probes, predictions over HTTP, and the same search through bare pg. */

import { partitionTable, toHalfvec } from '@ostiary/server/measure'
import pg from 'pg'
import type { Started } from '../run.ts'
import type { People } from '../samples/people.ts'
import { processorMsOf } from './backend-time.ts'
import type { EnrolledPeople } from './enrolled-people.ts'
import { createLoad } from './load.ts'
import { processorMs } from './processor-time.ts'
import type { Runner } from './turns.ts'

export interface Tenant {
  id: string
  key: string
}

/** Uses the services instead of the command line: fifty processes would take longer than the benchmark. */
export async function createTenant({ wire }: EnrolledPeople, name: string): Promise<Tenant> {
  const { tenantId } = await wire.keys.service.createTenant(name)
  const key = await wire.keys.service.createKey(tenantId, {
    livemode: false,
    name: 'bench',
    scopes: ['node:*'],
    allowedIps: [],
    usagePlanId: 'unmetered',
  })
  return { id: tenantId, key: key.api_key }
}

export function predictBody(vector: Float64Array): string {
  // Six digits, as clients send them.
  const embedding_vector = Array.from(vector, (value) => Math.round(value * 1e6) / 1e6)
  return JSON.stringify({ features: { type: 'face', embedding_vector } })
}

async function predict(url: string, key: string, vector: Float64Array): Promise<{ status: number; puid: string }> {
  const response = await fetch(`${url}/node/plainPredict`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: predictBody(vector),
  })
  if (response.status !== 200) throw new Error(`predict was answered ${response.status}`)
  return (await response.json()) as { status: number; puid: string }
}

/** The share of enrolled probes that name the right person, and of strangers who are not recognised. */
export async function accuracy(
  url: string,
  tenant: Tenant,
  people: People,
  asked: { puids: readonly string[]; from: number; probes: number; strangersFrom: number },
): Promise<{ right: number; strangers: number; latencyMs: number[] }> {
  const latencyMs: number[] = []
  let right = 0
  let strangers = 0
  for (let probe = 0; probe < asked.probes; probe++) {
    const person = Math.floor((probe * asked.puids.length) / asked.probes)
    const started = performance.now()
    const found = await predict(url, tenant.key, people.sample(asked.from + person, 99))
    latencyMs.push(performance.now() - started)
    if (found.puid === asked.puids[person]) right++
    const unknown = await predict(url, tenant.key, people.sample(asked.strangersFrom + probe, 0))
    if (unknown.status === -1 && unknown.puid === '-1') strangers++
  }
  return { right: right / asked.probes, strangers: strangers / asked.probes, latencyMs }
}

/** Predicts over HTTP, with one connection for each probe. */
export async function httpRunner(
  url: string,
  key: string,
  probes: readonly Float64Array[],
): Promise<Runner & { close(): void }> {
  const headers = { 'content-type': 'application/json', 'x-api-key': key }
  const loads = await Promise.all(
    probes.map((vector) =>
      createLoad(url, { method: 'POST', path: '/node/plainPredict', headers, body: predictBody(vector) }, 1),
    ),
  )
  return {
    run: async (ms) => (await Promise.all(loads.map((load) => load.run(ms)))).reduce((sum, count) => sum + count, 0),
    close: () => {
      for (const load of loads) load.close()
    },
  }
}

/** The share of people who are found by a vector that has this cosine to the only one they have. */
export async function foundAt(
  cosine: number,
  url: string,
  tenant: Tenant,
  people: People,
  { puids, probes, othersFrom }: { puids: readonly string[]; probes: number; othersFrom: number },
): Promise<number> {
  let found = 0
  for (let n = 0; n < probes; n++) {
    const person = (n * 7_907) % puids.length
    const enrolled = people.sample(person, 0)
    const other = people.sample(othersFrom + n, 0)
    const along = dot(other, enrolled)
    const across = other.map((value, i) => value - along * (enrolled[i] ?? 0))
    const length = Math.sqrt(dot(across, across))
    const probe = enrolled.map((value, i) => value * cosine + ((across[i] ?? 0) / length) * Math.sqrt(1 - cosine ** 2))
    if ((await predict(url, tenant.key, probe)).puid === puids[person]) found++
  }
  return found / probes
}

const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)

/** What each prediction costs, one at a time: how long it takes, and the processor time of the API and of its connections to the database. */
export async function predictCosts(
  api: Started,
  enrolled: EnrolledPeople,
  { key }: Tenant,
  probes: readonly Float64Array[],
): Promise<{ ms: number; api: number; postgres: number }[]> {
  const spent = async () => {
    const { rows } = await enrolled.query(
      `select pid from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
    )
    return { api: processorMs(api.pid), postgres: processorMsOf(rows.map(({ pid }) => pid)) }
  }
  // The first ones open connections and let the compiler see the code.
  for (const probe of probes) await predict(api.url, key, probe)
  const costs: { ms: number; api: number; postgres: number }[] = []
  for (const probe of probes) {
    const [from, started] = [await spent(), performance.now()]
    await predict(api.url, key, probe)
    const ms = performance.now() - started
    const to = await spent()
    costs.push({ ms, api: to.api - from.api, postgres: to.postgres - from.postgres })
  }
  return costs
}

/** A bare scan of the codes and a comparison of the near ones, as a prepared statement through the driver, with one connection for each probe. */
export async function bareRunner(
  databaseUrl: string,
  enrolled: EnrolledPeople,
  tenant: Tenant,
  probes: readonly Float64Array[],
): Promise<Runner & { close(): Promise<void> }> {
  const keys = await enrolled.wire.biometrics.groups.find({ tenantId: tenant.id, livemode: false })
  const rotate = keys?.rotation('FACE3_3') ?? ((vector: Float64Array) => vector)
  const { rows } = await enrolled.query(
    'select number, shelf as partition, middle::text as middle from face_spaces where tenant_id = $1',
    [tenant.id],
  )
  const { number, partition, middle } = rows[0]
  const text = `select v.*
    from (select binary_quantize($1::halfvec - $2::halfvec)::bit(512) as code offset 0) p,
      lateral (select seq from face_codes where tenant_id = $3 and space = ${number} and code <~> p.code <= ${BARE_BITS} offset 0) c,
      lateral (
        select person_id, enroll_level, -(embedding <#> $1::halfvec) as cosine from ${partitionTable(partition)}
        where tenant_id = $3 and not livemode and version = 'FACE3_3' and seq = c.seq offset 0) v
    order by cosine desc limit 1`
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10, options: '-c jit=off' })
  const embeddings = probes.map((vector) => toHalfvec(rotate(vector)))
  return {
    async run(ms) {
      const until = performance.now() + ms
      const counts = await Promise.all(
        embeddings.map(async (embedding) => {
          let count = 0
          while (performance.now() < until) {
            await pool.query({ name: 'bare', text, values: [embedding, middle, tenant.id] })
            count++
          }
          return count
        }),
      )
      return counts.reduce((sum, count) => sum + count, 0)
    },
    close: () => pool.end(),
  }
}
// At the cosine 0.5 two codes differ in 171 ± 11 of 512 bits.
const BARE_BITS = 213

export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
}
