/**
 * No caller gets the answer of another one, whatever happens between the process and PostgreSQL: statements are cancelled, backends end, connections
 * are cut, packets come in pieces and late, values cannot be sent. First statements of many callers on few connections, then two tenants
 * through the API. No transaction is stored in part, or stored although it was refused.
 */
import type { StringPage, StringRecord } from '@ostiary/contract'
import { seededRandom } from '@ostiary/device/simulated'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { openWire } from '@ostiary/testkit/measuring/sessions-load'
import { startApi, startServices } from '@ostiary/testkit/run'
import { startCuttingProxy } from './cutting-proxy.ts'
import { startFaults } from './statement-faults.ts'
import { fuzzStatements } from './statement-fuzz.ts'

const CALLERS = 16
const TIMES = { short: 10_000, full: 240_000 }

export const measure: Measure = async ({ full, say }) => {
  const ms = TIMES[full ? 'full' : 'short']
  const cluster = startServices()
  const random = seededRandom(31)
  const database = await createDatabase(cluster, 'drill')
  const fuzz = await fuzzStatements(database.url, ms, random).finally(database.drop)
  say(`statements: ${fuzz.answers} checked answers, ${fuzz.faults} faults`)
  const api = await fuzzApi(cluster, ms, random)
  say(`API: ${api.answers} checked answers, ${api.faults} faults, ${api.unavailable} answered 503`)
  return [
    { name: 'foreign-answers.statements', value: fuzz.foreign, floor: 0, is: 'most' },
    { name: 'foreign-answers.torn-transactions', value: fuzz.torn, floor: 0, is: 'most' },
    { name: 'foreign-answers.leaked-connections', value: fuzz.leaked, floor: 0, is: 'most' },
    { name: 'foreign-answers.tenants', value: api.foreign, floor: 0, is: 'most' },
    { name: 'foreign-answers.lost-strings', value: api.lost, floor: 0, is: 'most' },
    { name: 'foreign-answers.other-failures', value: api.otherFailures, floor: 0, is: 'most' },
    { name: 'foreign-answers.checked', value: fuzz.answers + api.answers, floor: 1_000, is: 'least', load: true },
    { name: 'foreign-answers.faults', value: fuzz.faults + api.faults, floor: 200, is: 'least', load: true },
  ]
}

/** Two tenants that store and read strings at the same time. */
async function fuzzApi(cluster: string, ms: number, random: () => number) {
  const database = await createDatabase(cluster, 'drill')
  const settings = testSettings(database.url)
  const proxy = await startCuttingProxy(database.url, random)
  // Makes the tables.
  const api = await startApi({ env: { ...settings, DATABASE_URL: proxy.url }, logName: 'drill-foreign-answers' })
  const wire = openWire(settings)
  const keys = await Promise.all(['One', 'Other'].map((name) => createKey(wire, name)))
  await wire.close()
  const count = { answers: 0, foreign: 0, lost: 0, unavailable: 0, otherFailures: 0 }
  const stored: [string[], string[]] = [[], []]

  /** The body of an answer with this status, or undefined. */
  async function call<T>(tenant: number, method: string, path: string, status: number, body?: object) {
    const response = await fetch(`${api.url}${path}`, {
      method,
      headers: { 'x-api-key': keys[tenant] ?? '', 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = await response.json()
    count.answers++
    if (response.status === status) return answer as T
    if (response.status === 503) count.unavailable++
    else if (response.status === 404) count.lost++
    else count.otherFailures++
  }

  const until = performance.now() + ms
  async function work(caller: number): Promise<void> {
    const tenant = caller % 2
    const [mine = [], others = []] = tenant === 0 ? stored : stored.toReversed()
    for (let turn = 0; performance.now() < until; turn++) {
      const value = `of tenant ${tenant}, caller ${caller}, turn ${turn}`
      const made = await call<StringRecord>(tenant, 'POST', '/strings', 201, { value })
      if (made && made.value !== value) count.foreign++
      if (made) mine.push(made.id)
      const id = mine[Math.floor(random() * mine.length)]
      const read = id && (await call<StringRecord>(tenant, 'GET', `/strings/${id}`, 200))
      if (read && (read.id !== id || !read.value.startsWith(`of tenant ${tenant},`))) count.foreign++
      const page = await call<StringPage>(tenant, 'GET', '/strings?limit=5', 200)
      if (page?.items.some((item) => !item.value.startsWith(`of tenant ${tenant},`))) count.foreign++
      const foreign = others[Math.floor(random() * others.length)]
      const refused = foreign && (await call<{ id?: string }>(tenant, 'GET', `/strings/${foreign}`, 404))
      if (refused && refused.id !== undefined) count.foreign++
    }
  }
  try {
    const faults = await startFaults(database.url, proxy, random)
    await Promise.all(Array.from({ length: CALLERS }, (_, caller) => work(caller)))
    return { ...count, faults: await faults.stop() }
  } finally {
    await api.stop('SIGKILL')
    proxy.close()
    await database.drop()
  }
}

async function createKey({ keys }: ReturnType<typeof openWire>, name: string): Promise<string> {
  const { tenantId } = await keys.service.createTenant(name)
  const scopes = ['strings:rw'] as const
  const wanted = { livemode: false, name, scopes, allowedIps: [], usagePlanId: 'unmetered' }
  return (await keys.service.createKey(tenantId, wanted)).api_key
}
