/** Area A beside the bare engine: create and get, as requests per second, ours over theirs. */
import type { ApiKeyRecord } from '@ostiary/contract'
import { createDatabase, testSettings } from '../lib/databases.ts'
import { type Figure, type Measure, median } from '../lib/figure.ts'
import { createLoad, type Load, type LoadRequest } from '../lib/load.ts'
import { freePorts, ostiary, type Started, startApi, startProcess, startServices } from '../lib/run.ts'

const CONNECTIONS = 16
const FLOOR = 0.75
const SLICE_MS = 250
const BODY = JSON.stringify({ value: 'a string of a usual length, as people store them' })

export const measure: Measure = async ({ full, say }) => {
  // The first seconds show the compiler at work, not the code: both are warmed up.
  const [warmUpMs, pairs] = full ? [20_000, 120] : [3_500, 20]
  const database = await createDatabase(startServices(), 'bench')
  const settings = testSettings(database.url)
  const api = await startApi({ env: settings, logName: 'bench-ours' })
  const tenant = ostiary<{ id: string }>(settings, 'tenants', 'create', 'Bench')
  const { api_key } = ostiary<ApiKeyRecord>(
    settings,
    'keys',
    'create',
    '--tenant',
    tenant.id,
    '--test',
    '--plan',
    'unmetered',
  )
  const [port = 0, adminPort = 0] = await freePorts(2)
  const bareSettings = {
    DATABASE_URL: database.url,
    TENANT_ID: tenant.id,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
  }
  const bare = await startProcess('tools/bench/bare-server.ts', { env: bareSettings, logName: 'bench-bare' })
  try {
    const requests = { bare: await requestsTo(bare, {}), ours: await requestsTo(api, { 'x-api-key': api_key }) }
    const figures: Figure[] = []
    for (const operation of ['create', 'get'] as const) {
      const loads = {
        bare: await createLoad(bare.url, requests.bare[operation], CONNECTIONS),
        ours: await createLoad(api.url, requests.ours[operation], CONNECTIONS),
      }
      for (const load of [loads.bare, loads.ours]) await load.run(warmUpMs)
      const ratios = await compare(loads, pairs, (line) => say(`${operation}: ${line}`))
      for (const load of [loads.bare, loads.ours]) load.close()
      figures.push({ name: `strings.${operation}.ratio`, value: median(ratios), floor: FLOOR, is: 'least' })
    }
    return figures
  } finally {
    await Promise.all([api.stop(), bare.stop('SIGKILL')])
    await database.drop()
  }
}

/** Short turns, each pair in changing order. What the machine does meanwhile hits both alike. */
async function compare(
  loads: { bare: Load; ours: Load },
  pairs: number,
  say: (line: string) => void,
): Promise<number[]> {
  const ratios: number[] = []
  const totals = { bare: 0, ours: 0 }
  for (let pair = 0; pair < pairs; pair++) {
    const counts = { bare: 0, ours: 0 }
    const order =
      pair % 2 === 0 ? (['bare', 'ours', 'ours', 'bare'] as const) : (['ours', 'bare', 'bare', 'ours'] as const)
    for (const name of order) counts[name] += await loads[name].run(SLICE_MS / 2)
    totals.bare += counts.bare
    totals.ours += counts.ours
    ratios.push(counts.ours / counts.bare)
  }
  const sorted = ratios.toSorted((a, b) => a - b)
  const seconds = (pairs * SLICE_MS) / 1000
  say(
    `bare ${Math.round(totals.bare / seconds)}/s, ours ${Math.round(totals.ours / seconds)}/s; ratio of ${pairs} pairs: lowest ${sorted[0]?.toFixed(2)}, middle ${median(ratios).toFixed(2)}, highest ${sorted.at(-1)?.toFixed(2)}`,
  )
  return ratios
}

async function requestsTo(
  server: Started,
  headers: Record<string, string>,
): Promise<{ create: LoadRequest; get: LoadRequest }> {
  const create = {
    method: 'POST',
    path: '/strings',
    headers: { 'content-type': 'application/json', ...headers },
    body: BODY,
  }
  const response = await fetch(server.url + create.path, create)
  if (response.status !== 201) throw new Error(`${server.url} answered ${response.status}`)
  const { id } = (await response.json()) as { id: string }
  return { create, get: { method: 'GET', path: `/strings/${id}`, headers } }
}
