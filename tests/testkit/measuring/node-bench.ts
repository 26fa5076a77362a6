/** Shared parts of the benchmarks of area E: tenants, probes, predictions over HTTP, and the same search through bare pg. */

import { partitionTable, toHalfvec } from '@ostiary/server/measure'
import pg from 'pg'
import type { People } from '../samples/people.ts'
import type { EnrolledPeople } from './enrolled-people.ts'
import { createLoad } from './load.ts'
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

/** The same search as a prepared statement through the bare driver, with one connection for each probe. */
export async function bareRunner(
  databaseUrl: string,
  enrolled: EnrolledPeople,
  tenant: Tenant,
  probes: readonly Float64Array[],
): Promise<Runner & { close(): Promise<void> }> {
  const keys = await enrolled.wire.biometrics.groups.find({ tenantId: tenant.id, livemode: false })
  const { rows } = await enrolled.query('select shelf as partition from face_spaces where tenant_id = $1', [tenant.id])
  const text = `select person_id, enroll_level, -(embedding <#> $4::halfvec) as cosine from ${partitionTable(rows[0].partition)}
    where tenant_id = $1 and livemode = $2 and version = $3 order by embedding <#> $4::halfvec limit 1`
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 10,
    options: '-c hnsw.ef_search=200 -c hnsw.iterative_scan=strict_order',
  })
  const embeddings = probes.map((vector) => toHalfvec(keys?.rotation('FACE3_3')(vector) ?? vector))
  return {
    async run(ms) {
      const until = performance.now() + ms
      const counts = await Promise.all(
        embeddings.map(async (embedding) => {
          let count = 0
          while (performance.now() < until) {
            await pool.query({ name: 'bare', text, values: [tenant.id, false, 'FACE3_3', embedding] })
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

export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
}
