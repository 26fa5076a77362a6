/**
 * One tenant, or somebody without a key, attacks what all share, while another tenant works. Quiet and attacked phases alternate,
 * so that other load on the machine falls on both. A figure is the median p95 of the attacked phases over that of the quiet ones.
 *
 *   npm run drill -- fair-shares [--full]
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import {
  createNameServer,
  createPooledOutbound,
  createRateLimiter,
  createResolver,
  createWire,
  loadConfig,
} from '@ostiary/server/measure'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { type Figure, type Measure, type MeasureOptions, median } from '@ostiary/testkit/measuring/figure'
import { percentile } from '@ostiary/testkit/measuring/node-bench'
import { ostiary, sleep, startApi, startServices } from '@ostiary/testkit/run'
import { writeEntities } from '@ostiary/testkit/samples/synthetic-list'
import type { Attacker, AttackName, FromAttacker, ToAttacker } from './fair-shares-attacker.ts'
import { besideTokenDevices } from './token-shares.ts'

const RATIO_MOST = 3
const ENTITIES = 5_000
const CALLERS = 2

type Env = Record<string, string>
type Say = MeasureOptions['say']

export const measure: Measure = async ({ full, say }) => {
  const rounds = full ? 9 : 4
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-shares-'))
  const database = await createDatabase(startServices(), 'drill')
  const settings = { ...testSettings(database.url), SANCTIONS_DIR: join(folder, 'lists'), TRUST_PROXY: '127.0.0.1' }
  try {
    await importList(settings, folder)
    const api = await startApi({ env: settings, logName: 'drill-fair-shares' })
    const figures: Figure[] = []
    try {
      const [worker = '', attacker = ''] = await createKeys(settings, 2)
      const limited = await createLimited(settings, api.url)
      const scene = await openScene(api.url, { worker, attacker, ...limited })
      const attacks: [AttackName, Work][] = [
        ['tiny-parts', createAndRead],
        ['crafted-rows', screenAFile],
        ['equal-creates', createAndRead],
        ['lists', createAndRead],
        ['comparisons', createAndRead],
        ['addresses', createAndRead],
      ]
      for (const [attack, work] of attacks) {
        // Twenty-six seconds of the whole machine fill the limiter's table; without --full its cost is measured alone, below.
        const attackMs = full && attack === 'addresses' ? 40_000 : 700
        figures.push(await besideAttack(scene, { attack, work, rounds, attackMs }, say))
      }
      await scene.close()
      const faults = api.log().match(/"status":5\d\d|"level":"fatal"/g)?.length ?? 0
      figures.push(
        { name: 'fair-shares.faults', value: faults + scene.faults(), floor: 0, is: 'most' },
        { name: 'fair-shares.health-failures', value: scene.unhealthy(), floor: 0, is: 'most' },
      )
    } finally {
      await api.stop()
    }
    return [
      ...figures,
      await besideSilentNames(rounds, say),
      await besideTokenDevices(rounds, say),
      ...measureLimiter(say),
    ]
  } finally {
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function importList(settings: Env, folder: string): Promise<void> {
  const list = join(folder, 'entities.ftm.json')
  await writeEntities(list, ENTITIES, { namesEach: 2.4 })
  ostiary(settings, 'datasets', 'import', 'crowded', list, '--format', 'ftm', '--licence', 'none')
}

/** Keys of one tenant each, without limits on their rate: what is measured is what holds without them. */
async function createKeys(settings: Env, count: number): Promise<string[]> {
  const wire = createWire(loadConfig({ ...settings, LOG_LEVEL: 'error' }), { role: 'cli' })
  try {
    const keys: string[] = []
    for (let n = 0; n < count; n++) {
      const { tenantId } = await wire.keys.service.createTenant(`Tenant ${n}`)
      const scopes = ['strings:rw' as const, 'sanctions:run' as const]
      const wanted = { livemode: true, name: 'drill', scopes, allowedIps: [], usagePlanId: 'unmetered' as const }
      keys.push((await wire.keys.service.createKey(tenantId, wanted)).api_key)
    }
    return keys
  } finally {
    await wire.close()
  }
}

type Limited = Pick<Attacker, 'limitedKey' | 'runs'>

/** A tenant with the usual rates, 200 sessions with as much metadata as they may have, and two runs of 200,000 equal hits. */
async function createLimited(settings: Env, url: string): Promise<Limited> {
  const wire = createWire(loadConfig({ ...settings, LOG_LEVEL: 'error' }), { role: 'cli' })
  try {
    const { tenantId } = await wire.keys.service.createTenant('Limited')
    await wire.settings.service.set(tenantId, { screeningRunDays: 30 })
    const scopes = ['sanctions:run' as const, 'age:write' as const, 'age:read' as const]
    const wanted = { livemode: true, name: 'drill', scopes, allowedIps: [], usagePlanId: 'standard' as const }
    const { api_key: limitedKey } = await wire.keys.service.createKey(tenantId, wanted)
    const post = async (path: string, body: object) => {
      const headers = { 'x-api-key': limitedKey, 'content-type': 'application/json' }
      const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`)
      return (await answer.json()) as { id: string }
    }
    const metadata = { note: 'x'.repeat(8_000) }
    const session = { redirectUrl: 'https://shop.example/back', ageThreshold: 30, metadata }
    for (let n = 0; n < 200; n++) await post('/session', session)
    const begin = async () => {
      const { id } = await post('/v2/open-sanctions/runs', { dataset: 'crowded' })
      await wire.platform.cells.forId(tenantId).withDedicatedClient(async (client) => {
        await client.query(
          `insert into screening_hits (tenant_id, livemode, run_id, row_key, entity_key, part, score, facts)
           select $1, true, $2, decode(lpad(to_hex(n), 32, '0'), 'hex'), decode(repeat('00', 16), 'hex'), 1, 9900, decode(repeat('00', 8), 'hex')
           from generate_series(1, 200000) n`,
          [tenantId, id],
        )
        await client.query('update screening_runs set completed_at = now() where run_id = $1', [id])
      })
      return id
    }
    return { limitedKey, runs: [await begin(), await begin()] }
  } finally {
    await wire.close()
  }
}

interface Call {
  method: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
}

type Work = (n: number) => Call

const createAndRead: Work = (n) =>
  n % 2 === 0
    ? { method: 'POST', path: '/strings', headers: { 'content-type': 'application/json' }, body: '{"value":"v"}' }
    : { method: 'GET', path: '/strings?limit=5' }

const ROWS = Array.from({ length: 100 }, (_, n) => `${n},Vardo${n},Quellmar,1961-04-17\n`).join('')
const screenAFile: Work = () => ({
  method: 'POST',
  path: '/v2/open-sanctions/file/crowded',
  headers: { 'content-type': 'multipart/form-data; boundary=b' },
  body: `--b\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\nid,firstname,lastname,dob\n${ROWS}\r\n--b--\r\n`,
})

interface Scene {
  /** Runs the honest tenant's work for so long. Returns its p95 in milliseconds. */
  work(work: Work, ms: number): Promise<number>
  begin(attack: AttackName): void
  /** Hangs up. Returns the statuses that the attacker got. */
  end(): Promise<Record<string, number>>
  faults(): number
  unhealthy(): number
  close(): Promise<void>
}

async function openScene(
  url: string,
  { attacker: key, ...keys }: { worker: string; attacker: string } & Limited,
): Promise<Scene> {
  const agent = new Agent({ keepAlive: true })
  const attacker = new Worker(new URL('./fair-shares-attacker.ts', import.meta.url), {
    workerData: { url, key, dataset: 'crowded', ...keys } satisfies Attacker & { worker: string },
  })
  let [faults, unhealthy, isOver] = [0, 0, false]

  function ask({ method, path, headers = {}, body = '' }: Call, key?: string): Promise<number> {
    return new Promise((resolve) => {
      const all = { ...headers, ...(key && { 'x-api-key': key }), 'content-length': Buffer.byteLength(body) }
      const sent = request(`${url}${path}`, { method, agent, headers: all }, (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
      })
      sent.on('error', () => resolve(0))
      sent.end(body)
    })
  }
  const watching = (async () => {
    while (!isOver) {
      // There is no worker, so `/health` is not 200.
      if ((await ask({ method: 'GET', path: '/readyz' })) !== 200) unhealthy++
      await sleep(50)
    }
  })()
  const send = (message: ToAttacker) => attacker.postMessage(message)
  return {
    async work(work, ms) {
      const tookMs: number[] = []
      const until = performance.now() + ms
      const caller = async () => {
        for (let n = 0; performance.now() < until; n++) {
          const started = performance.now()
          const status = await ask(work(n), keys.worker)
          tookMs.push(performance.now() - started)
          if (status < 200 || status > 299) faults++
        }
      }
      await Promise.all(Array.from({ length: CALLERS }, caller))
      return percentile(tookMs, 0.95)
    },
    begin: (attack) => send({ begin: attack }),
    async end() {
      const ended = once(attacker, 'message') as Promise<[FromAttacker]>
      send({ end: true })
      const [{ ended: statuses }] = await ended
      for (const [status, count] of Object.entries(statuses)) if (Number(status) >= 500) faults += count
      return statuses
    },
    faults: () => faults,
    unhealthy: () => unhealthy,
    async close() {
      isOver = true
      await watching
      await attacker.terminate()
      agent.destroy()
    },
  }
}

interface Phases {
  attack: AttackName
  work: Work
  rounds: number
  attackMs: number
}

async function besideAttack(scene: Scene, { attack, work, rounds, attackMs }: Phases, say: Say): Promise<Figure> {
  const quiet: number[] = []
  const attacked: number[] = []
  const statuses: Record<string, number> = {}
  // Once without measuring: code is compiled, connections and threads are started.
  for (let round = -1; round < rounds; round++) {
    const before = await scene.work(work, 700)
    scene.begin(attack)
    await sleep(200)
    const during = await scene.work(work, attackMs)
    const answers = await scene.end()
    if (round < 0) continue
    quiet.push(before)
    attacked.push(during)
    for (const [status, count] of Object.entries(answers)) statuses[status] = (statuses[status] ?? 0) + count
  }
  const counts = Object.entries(statuses).map(([status, count]) => `${status} ${count}x`)
  say(`${attack}: the attacker got ${counts.join(', ') || 'no answer before it hung up'}`)
  return ratioOf(attack, quiet, attacked, say)
}

function ratioOf(name: string, quiet: readonly number[], attacked: readonly number[], say: Say): Figure {
  const [alone, beside] = [median(quiet), median(attacked)]
  say(`${name}: p95 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside the attack`)
  return { name: `fair-shares.${name}.p95-ratio`, value: beside / alone, floor: RATIO_MOST, is: 'most', load: true }
}

/** One tenant's names are never answered. The real resolver and connections, without the dispatcher, whose lanes have shares too. */
async function besideSilentNames(rounds: number, say: Say): Promise<Figure> {
  const names = await createNameServer((name) => (name.includes('silent') ? 'silence' : ['127.0.0.1']))
  const receiver = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  let made = 0
  const oneRound = async () => {
    const lookup = createResolver({ servers: [names.server] })
    const outbound = createPooledOutbound({ allowNetworks: ['127.0.0.0/8'], lookup })
    const post = (owner: string, host: string) =>
      outbound.post({ owner, url: `http://${host}:${port}/`, allowHttp: true, headers: [], body: Buffer.of() })
    const deliver = async (): Promise<number> => {
      const tookMs: number[] = []
      for (let n = 0; n < DELIVERIES; n++) {
        const started = performance.now()
        await post('working', `shop${made++}.example`)
        tookMs.push(performance.now() - started)
      }
      return percentile(tookMs, 0.95)
    }
    await deliver()
    const quiet = await deliver()
    // As many as one tenant may have under way. The end of the round ends them.
    const silent = Array.from({ length: 512 }, () => post('attacker', `n${made++}.silent.example`).catch(() => {}))
    const attacked = await deliver()
    await outbound.close()
    await Promise.all(silent)
    return { quiet, attacked }
  }
  const taken: Awaited<ReturnType<typeof oneRound>>[] = []
  try {
    for (let round = 0; round < rounds; round++) taken.push(await oneRound())
  } finally {
    receiver.close()
    names.close()
  }
  const [quiet, attacked] = [taken.map((round) => round.quiet), taken.map((round) => round.attacked)]
  return ratioOf('silent-names', quiet, attacked, say)
}
const DELIVERIES = 100

/** What a new caller costs when the table of the rate limiter is full, and whether strangers make it forget a refused caller. */
function measureLimiter(say: Say): Figure[] {
  const limiter = createRateLimiter()
  const take = (name: string) => limiter.take(name, 1 / 60, 1_000, 60).allowed
  const costOf = (from: number, count: number) => {
    const started = performance.now()
    for (let n = from; n < from + count; n++) take(`stranger ${n}`)
    return ((performance.now() - started) / count) * 1000
  }
  take('refused')
  const empty = costOf(0, 10_000)
  costOf(10_000, 45_000)
  const full = costOf(55_000, 500)
  say(`addresses: a new caller costs ${empty.toFixed(1)} µs in a table with room, ${full.toFixed(1)} µs in a full one`)
  return [
    {
      name: 'fair-shares.addresses.full-table-ratio',
      // A microsecond more or less says nothing.
      value: full / Math.max(empty, 5),
      floor: RATIO_MOST,
      is: 'most',
      load: true,
    },
    { name: 'fair-shares.addresses.forgotten', value: take('refused') ? 1 : 0, floor: 0, is: 'most' },
  ]
}
