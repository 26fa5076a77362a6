/**
 * Area E at the size of a large tenant: 1,000,000 vectors with --full, 5,000 without, on a cluster of its own. Is the right person found,
 * are strangers refused, and what does a search cost in processor time, beside a bare search of the index with ef_search 200? `--keep`
 * leaves the cluster for the next run; `--persons 50000` makes it another size (five vectors each), `--probes` another number of probes. Then random codes alone: ten million with --full.
 */
import { randomFillSync } from 'node:crypto'
import { totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { createCodePool, partitionTable, RECORD_BYTES, toHalfvec } from '@ostiary/server/measure'
import { type Measure, median } from '@ostiary/testkit/measuring/figure'
import { accuracy, percentile, predictBody } from '@ostiary/testkit/measuring/node-bench'
import { processorMs, residentMb } from '@ostiary/testkit/measuring/processor-time'
import { type Started, sleep, startApi } from '@ostiary/testkit/run'
import pg from 'pg'
import { type LargeSpace, openLargeSpace, people, SAMPLES } from './million-space.ts'

const STRANGERS_FROM = 50_000_000
const NOT_ENROLLED = 99
const FAINT = 0.52
const WARM_UP_TURNS = 2
const RANDOM_PROBES = 8

type Search = (probe: Float64Array) => Promise<unknown>
type Kind = 'enrolled' | 'stranger'
interface Cost {
  api: number
  postgres: number
}

export const measure: Measure = async ({ full, say }) => {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: {
      full: { type: 'boolean' },
      keep: { type: 'boolean' },
      persons: { type: 'string' },
      probes: { type: 'string' },
    },
    allowPositionals: true,
  })
  const size = full
    ? { persons: 200_000, probes: 500, turns: 6, searches: 15, random: 10_000_000 }
    : { persons: 1_000, probes: 100, turns: 4, searches: 20, random: 1_000_000 }
  const persons = Number(values.persons ?? size.persons)
  const probes = Number(values.probes ?? size.probes)
  const space = await openLargeSpace({
    // A kept cluster is not wiped by a short run.
    cluster: full ? 'bench-large' : 'bench-small',
    persons,
    ...(full && { memory: { buffersMb: 4096, buildMb: 3072 } }),
    keep: values.keep === true,
    ...(!full && { env: { NODE_EXACT_SEARCH_MAX: '3000' } }),
    say,
  })
  const [api, before] = await Promise.all([
    startApi({ env: space.settings, logName: 'bench-node-million' }),
    startApi({ env: { ...space.settings, NODE_CODES_MEMORY_MB: '0' }, logName: 'bench-node-index' }),
  ])
  try {
    await loadCodes(api, space, persons * SAMPLES, say)
    const asked = { puids: space.puids, from: 0, probes, strangersFrom: STRANGERS_FROM }
    const { right, strangers, latencyMs } = await accuracy(api.url, space.tenant, people, asked)
    const at = (share: number) => `${percentile(latencyMs, share).toFixed(1)} ms`
    say(`one at a time through HTTP: p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}`)
    const faint = await faintShare(api, space, probes / 2)
    const ratio = await compareCosts({ api, before, space }, size, say)
    scanRandomCodes(size.random, say)
    return [
      { name: 'node-million.right-person', value: right, floor: 0.995, is: 'least' },
      { name: 'node-million.strangers-refused', value: strangers, floor: 1, is: 'least' },
      // Bits are a coarse measure: do they still find a face that is hardly recognised?
      { name: 'node-million.faint-found', value: faint, floor: 0.995, is: 'least' },
      // In a small space the call itself costs more than the search.
      { name: 'node-million.cpu-over-index', value: ratio, floor: full ? 1 : 2, is: 'most', load: true },
    ]
  } finally {
    await api.stop()
    await before.stop()
    await space.close()
  }
}

/** The first search lets the process load the codes. */
async function loadCodes(api: Started, space: LargeSpace, count: number, say: (text: string) => void): Promise<void> {
  const [memory, from, started] = [residentMb(api.pid), await costOf(api, space), performance.now()]
  await predictor(api, space)(people.sample(0, NOT_ENROLLED))
  const codes = async () => {
    const text = await (await fetch(`${api.adminUrl}/metrics`)).text()
    return Number(/^ostiary_node_codes (\d+)/m.exec(text)?.[1])
  }
  // Each look costs processor time itself.
  while ((await codes()) !== count) await sleep(500)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  const to = await costOf(api, space)
  const cpu = (to.api + to.postgres - from.api - from.postgres) / 1000
  say(
    `${count} codes loaded in ${seconds} s, ${cpu.toFixed(1)} s of CPU (API and PostgreSQL); ` +
      `memory of the API ${memory.toFixed(0)} MB, then ${residentMb(api.pid).toFixed(0)} MB`,
  )
}

/** The share of the people who are found by a vector that has the cosine 0.52 to one of theirs; 0.5 is the least that counts. */
async function faintShare(api: Started, space: LargeSpace, probes: number): Promise<number> {
  const search = predictor(api, space)
  let found = 0
  for (let n = 0; n < probes; n++) {
    const person = (n * 7_907) % space.puids.length
    const enrolled = people.sample(person, n % SAMPLES)
    const other = people.sample(STRANGERS_FROM * 2 + n, 0)
    const along = dot(other, enrolled)
    const across = other.map((value, i) => value - along * (enrolled[i] ?? 0))
    const length = Math.sqrt(dot(across, across))
    const probe = enrolled.map((value, i) => value * FAINT + ((across[i] ?? 0) / length) * Math.sqrt(1 - FAINT ** 2))
    const answer = (await search(probe)) as { puid: string }
    if (answer.puid === space.puids[person]) found++
  }
  return found / probes
}

const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)

/** Processor time of a search, of three ways in turns: the bare index, the API with codes, and the API without them. One at a time. */
async function compareCosts(
  { api, before, space }: { api: Started; before: Started; space: LargeSpace },
  { turns, searches }: { turns: number; searches: number },
  say: (text: string) => void,
): Promise<number> {
  const bare = await bareSearch(space)
  const ways = [
    { way: 'bare', search: bare.search, process: undefined },
    { way: 'codes', search: predictor(api, space), process: api },
    { way: 'index', search: predictor(before, space), process: before },
  ]
  const spent: (Cost & { way: string; kind: Kind })[] = []
  // The first turns open connections and let the compiler see the code.
  for (let turn = -WARM_UP_TURNS; turn < turns; turn++) {
    for (const { way, search, process } of ways) {
      for (const kind of ['enrolled', 'stranger'] as const) {
        const first = (turn + WARM_UP_TURNS) * searches
        const probes = Array.from({ length: searches }, (_, n) => probeOf(kind, space, first + n))
        const from = await costOf(process, space)
        for (const probe of probes) await search(probe)
        const to = await costOf(process, space)
        const cost = { api: (to.api - from.api) / searches, postgres: (to.postgres - from.postgres) / searches }
        if (turn >= 0) spent.push({ way, kind, ...cost })
      }
    }
  }
  await bare.close()
  const part = (way: string, kind: Kind, of: keyof Cost) =>
    median(spent.filter((one) => one.way === way && one.kind === kind).map((one) => one[of]))
  const all = (way: string, kind: Kind) => part(way, kind, 'api') + part(way, kind, 'postgres')
  const shown = (way: string, kind: Kind) =>
    `${all(way, kind).toFixed(2)} ms (PostgreSQL ${part(way, kind, 'postgres').toFixed(2)})`
  for (const { way } of ways) say(`CPU, ${way}: enrolled ${shown(way, 'enrolled')}, stranger ${shown(way, 'stranger')}`)
  const both = (way: string) => all(way, 'enrolled') + all(way, 'stranger')
  say(`before, through the index alone, over now: ${(both('index') / both('codes')).toFixed(2)}`)
  return both('codes') / both('bare')
}

function probeOf(kind: Kind, { puids }: LargeSpace, n: number): Float64Array {
  return kind === 'enrolled'
    ? people.sample((n * 7_919) % puids.length, NOT_ENROLLED)
    : people.sample(STRANGERS_FROM + n, 0)
}

function predictor(api: Started, { tenant }: LargeSpace): Search {
  const headers = { 'content-type': 'application/json', 'x-api-key': tenant.key }
  return async (probe) => {
    const options = { method: 'POST', headers, body: predictBody(probe) }
    const response = await fetch(`${api.url}/node/plainPredict`, options)
    if (response.status !== 200) throw new Error(`predict was answered ${response.status}`)
    return response.json()
  }
}

/** The same search as a prepared statement. */
async function bareSearch({
  settings,
  enrolled,
  tenant,
}: LargeSpace): Promise<{ search: Search; close(): Promise<void> }> {
  const keys = await enrolled.wire.biometrics.groups.find({ tenantId: tenant.id, livemode: false })
  const { rows } = await enrolled.query('select shelf as partition from face_spaces where tenant_id = $1', [tenant.id])
  const text = `select person_id, enroll_level, -(embedding <#> $1::halfvec) as cosine from ${partitionTable(rows[0].partition)}
    order by embedding <#> $1::halfvec limit 1`
  const client = new pg.Client({ connectionString: settings.DATABASE_URL, options: '-c hnsw.ef_search=200' })
  await client.connect()
  const rotate = keys?.rotation('FACE3_3') ?? ((probe: Float64Array) => probe)
  return {
    search: (probe) => client.query({ name: 'bare', text, values: [toHalfvec(rotate(probe))] }),
    close: () => client.end(),
  }
}

/** The processor time so far of the API with its threads, and of all connections to the database. */
async function costOf(api: Started | undefined, { enrolled }: LargeSpace): Promise<Cost> {
  const { rows } = await enrolled.query(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  )
  const postgres = rows.reduce((sum, { pid }) => sum + processorMs(pid), 0)
  return { api: api ? processorMs(api.pid) : 0, postgres }
}

/** What a space of ten times the size would cost: random codes, without a database. */
function scanRandomCodes(count: number, say: (text: string) => void): void {
  const pool = createCodePool(2 ** 30)
  const table = pool.open()
  const records = Buffer.alloc(100_000 * RECORD_BYTES)
  for (let start = 0; start < count; start += 100_000) {
    randomFillSync(records)
    for (let n = 0; n < 100_000; n++) records.writeBigUInt64BE(BigInt(start + n + 1), n * RECORD_BYTES)
    if (!table.add(records)) throw new Error('the memory is full')
  }
  const probes = Array.from({ length: RANDOM_PROBES }, () => ({
    code: randomFillSync(new Uint8Array(64)),
    wanted: 50,
    within: 512,
    sieve: 107,
  }))
  const cost = (together: number) => {
    const times = Array.from({ length: 9 }, () => {
      const started = process.cpuUsage()
      table.scan(probes.slice(0, together))
      const { user, system } = process.cpuUsage(started)
      return (user + system) / 1000 / together
    })
    return median(times).toFixed(1)
  }
  say(
    `${count} random codes in ${(pool.bytes() / 1e6).toFixed(0)} MB: ${cost(1)} ms of CPU for a scan, ${cost(RANDOM_PROBES)} ms each for ${RANDOM_PROBES} at once ` +
      `(machine with ${(totalmem() / 1e9).toFixed(0)} GB)`,
  )
}
