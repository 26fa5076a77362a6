/** Area A compared with the bare server: create and get, as a ratio of requests per second. */
import type { ApiKeyRecord } from '@ostiary/contract'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import { createLoad, type LoadRequest } from '@ostiary/testkit/measuring/load'
import { compareInTurns } from '@ostiary/testkit/measuring/turns'
import { freePorts, ostiary, type Started, startApi, startProcess, startServices } from '@ostiary/testkit/run'

const CONNECTIONS = 16
const FLOOR = 0.75
const TURN_MS = 125
const BODY = JSON.stringify({ value: 'a string of a usual length, as people store them' })

export const measure: Measure = async ({ full, say }) => {
  // Warm both up: the first seconds measure the compiler, not the code.
  const [warmUpMs, pairs] = full ? [20_000, 400] : [3_500, 28]
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
  const bare = await startProcess('measures/bench/bare-server.ts', { env: bareSettings, logName: 'bench-bare' })
  try {
    const requests = { bare: await requestsTo(bare, {}), ours: await requestsTo(api, { 'x-api-key': api_key }) }
    const figures: Figure[] = []
    for (const operation of ['create', 'get'] as const) {
      const loads = {
        bare: await createLoad(bare.url, requests.bare[operation], CONNECTIONS),
        ours: await createLoad(api.url, requests.ours[operation], CONNECTIONS),
      }
      for (const load of [loads.bare, loads.ours]) await load.run(warmUpMs)
      const value = await compareInTurns(loads, { pairs, turnMs: TURN_MS }, (line) => say(`${operation}: ${line}`))
      for (const load of [loads.bare, loads.ours]) load.close()
      figures.push({ name: `strings.${operation}.ratio`, value, floor: FLOOR, is: 'least', load: true })
    }
    return figures
  } finally {
    await Promise.all([api.stop(), bare.stop('SIGKILL')])
    await database.drop()
  }
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
