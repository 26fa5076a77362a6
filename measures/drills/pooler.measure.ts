/**
 * Areas A to E through PgBouncer 1.24 in transaction mode, with more clients than connections: every call is answered, the statement
 * limit and the plan settings are in force on every connection, and doctor and API refuse PgBouncer 1.18. --full: more of each, and the
 * acceptance tests of the five areas.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiKeyRecord } from '@ostiary/contract'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import { missingPooler, type Pooler, startPooler } from '@ostiary/testkit/pgbouncer'
import { COMPILED, freePorts, ostiary, ROOT, startApi, startServices, startWorker } from '@ostiary/testkit/run'
import { createPeople } from '@ostiary/testkit/samples/people'
import { startSystem } from '@ostiary/testkit/system'
import pg from 'pg'
import { inParallel, post } from './enrols.ts'

type Env = Record<string, string>

const PREPARED = ['max_prepared_statements = 500']
const CALLERS = 24
/** As many as the pooler has. */
const CONNECTIONS = 6
/** Long enough for a machine that does much else. */
const LIMIT_MS = 15_000

export const measure: Measure = async ({ full, say }) => {
  const missing = missingPooler()
  if (missing) {
    say(`skipped: ${missing}`)
    return []
  }
  const database = await createDatabase(startServices(), 'drill')
  const lists = mkdtempSync(join(tmpdir(), 'ostiary-lists-'))
  const pooler = await startPooler({ version: '1.24', url: database.url, settings: PREPARED })
  const [port = 0] = await freePorts(1)
  const env = {
    ...testSettings(database.url),
    DATABASE_STATEMENT_TIMEOUT_MS: String(LIMIT_MS),
    DATABASE_URL: pooler.through(database.url),
    DATABASE_DIRECT_URL: database.url,
    DATABASE_POOL_MAX: '20',
    SANCTIONS_DIR: lists,
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
  }
  const api = await startApi({ env, logName: 'drill-pooler-api' })
  const worker = await startWorker({ env, logName: 'drill-pooler-worker' })
  try {
    const cutOff = runIntoLimit(pooler.through(database.url))
    const figures = await callAreas(env, full ? 5 : 1)
    say(figures.map(({ name, value, floor }) => `${name} ${value} of ${floor}`).join(', '))
    figures.push(await askForLimits(pooler.through(database.url), say))
    const code = await cutOff
    say(`a statement that takes too long ends with ${code}`)
    figures.push({ name: 'pooler.statement-cut-off', value: code === '57014' ? 1 : 0, floor: 1, is: 'least' })
    figures.push(await refusesOldPooler(env, database.url, say))
    for (const [name, process] of Object.entries({ api, worker })) {
      const faults = process
        .log()
        .split('\n')
        .filter((line) => /"status":5|"level":"(error|fatal)"/.test(line))
      for (const line of faults.slice(0, 5)) say(line)
      figures.push({ name: `pooler.faults-in-log-of-${name}`, value: faults.length, floor: 0, is: 'most' })
    }
    if (full) figures.push(await acceptance(say))
    return figures
  } finally {
    await Promise.all([api.stop('SIGKILL'), worker.stop('SIGKILL')])
    await pooler.stop()
    await database.drop()
    rmSync(lists, { recursive: true, force: true })
  }
}

/** Calls every area from more callers than the pooler has connections. Each figure counts right answers. */
async function callAreas(env: Env, factor: number): Promise<Figure[]> {
  const url = env.PUBLIC_URL ?? ''
  const { id } = ostiary<{ id: string }>(env, 'tenants', 'create', 'Pooled')
  const { api_key: key } = ostiary<ApiKeyRecord>(env, 'keys', 'create', '--tenant', id, '--test', '--plan', 'unmetered')
  const right = { strings: 0, sanctions: 0, age: 0, verification: 0, node: 0 }
  const counts = {
    strings: 400 * factor,
    sanctions: 12 * factor,
    age: factor,
    verification: 3 * factor,
    node: 60 * factor,
  }

  await inParallel(counts.strings, CALLERS, async (index) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': key }
    const body = JSON.stringify({ value: `pooled ${index}` })
    const created = await fetch(`${url}/strings`, { method: 'POST', headers, body })
    const { id: stringId } = (await created.json()) as { id: string }
    const read = (await (await fetch(`${url}/strings/${stringId}`, { headers })).json()) as { value?: string }
    if (read.value === `pooled ${index}`) right.strings++
  })
  await inParallel(counts.sanctions, CALLERS, async () => {
    const body = new FormData()
    body.append('file', new Blob(['id,firstname,lastname,dob\nv-1,Vardo,Quellmar,1961-04-17\n']), 'people.csv')
    const reply = await fetch(`${url}/v2/open-sanctions/file/demo`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body,
    })
    if (((await reply.json()) as { summary?: { matched: { count: number } } }).summary?.matched.count === 1)
      right.sanctions++
  })
  const people = createPeople(counts.node)
  await inParallel(counts.node, CALLERS, async (index) => {
    const enrolled = await post(`${url}/node/plainEnroll`, key, people.sample(index, 0))
    const seen = await post(`${url}/node/plainPredict`, key, people.sample(index, 1))
    if (enrolled.http === 200 && seen.puid === enrolled.puid) right.node++
  })
  for (let n = 0; n < factor; n++) {
    const simulate = (...args: string[]) =>
      ostiary<{ state: { flowStatus?: string; state?: string } }>(
        env,
        'simulate',
        '--create',
        '--url',
        url,
        '--key',
        key,
        ...args,
      )
    if (simulate().state.state === 'COMPLETED') right.age++
    const face = ['--face', String(40 + n)]
    const customer = ['--customer-id', `pooled-${n}`]
    for (const args of [['ENROLL', ...customer], ['SIGN-IN'], ['VERIFY', ...customer]])
      if (simulate('--type', ...args, ...face).state.state === 'SUCCESS') right.verification++
  }
  return Object.entries(right).map(([area, value]) => ({
    name: `pooler.right-answers-${area}`,
    value,
    floor: counts[area as keyof typeof counts],
    is: 'least',
  }))
}

/** The code with which a statement ends that takes longer than the limit. */
async function runIntoLimit(url: string): Promise<string | undefined> {
  const client = new pg.Client(url)
  await client.connect()
  const code = await client.query(`select pg_sleep(${(LIMIT_MS / 1000) * 4})`).then(
    () => 'no error',
    (error: { code?: string }) => error.code,
  )
  await client.end()
  return code
}

/** Asks on all connections of the pooler at once what is in force there. */
async function askForLimits(url: string, say: (text: string) => void): Promise<Figure> {
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const client = new pg.Client(url)
      await client.connect()
      return client
    }),
  )
  const seen = await Promise.all(
    clients.map(async (client) => {
      await client.query('begin')
      const { rows } = await client.query<{ limit: string; jit: string; plans: string; pid: number }>(
        `select current_setting('statement_timeout') as limit, current_setting('jit') as jit,
           current_setting('plan_cache_mode') as plans, pg_backend_pid() as pid, pg_sleep(0.2)`,
      )
      return rows[0]
    }),
  )
  await Promise.all(clients.map((client) => client.query('commit')))
  const inForce = seen.filter(
    (row) => row?.limit === `${LIMIT_MS / 1000}s` && row.jit === 'off' && row.plans === 'force_generic_plan',
  )
  const pids = new Set(inForce.map((row) => row?.pid))
  say(
    `${pids.size} connections of the pooler have statement_timeout ${seen[0]?.limit}, jit ${seen[0]?.jit} and plan_cache_mode ${seen[0]?.plans}`,
  )
  await Promise.all(clients.map((client) => client.end()))
  return { name: 'pooler.connections-with-limits', value: pids.size, floor: CONNECTIONS, is: 'least' }
}

/** Counts who refuses PgBouncer 1.18 with the reason: `ostiary doctor`, and an API that starts. */
async function refusesOldPooler(env: Env, direct: string, say: (text: string) => void): Promise<Figure> {
  const old: Pooler = await startPooler({ version: '1.18', url: direct })
  const [port = 0, adminPort = 0] = await freePorts(2)
  const behind = { ...env, DATABASE_URL: old.through(direct), PORT: String(port), ADMIN_PORT: String(adminPort) }
  try {
    let refused = 0
    for (const script of [['apps/cli/src/main.ts', 'doctor'], ['apps/server/src/main-api.ts']]) {
      const said = failing(script, behind)
      const reason = /[^\n]*PgBouncer 1\.18[^\n]*mixes up prepared statements[^\n]*/.exec(said)?.[0]
      say(reason?.trim() ?? `NOT REFUSED: ${said.slice(-500)}`)
      if (reason) refused++
    }
    return { name: 'pooler.refusals-of-1.18', value: refused, floor: 2, is: 'least' }
  } finally {
    await old.stop()
  }
}

/** What a process says that must fail; empty when it does not. */
function failing([script = '', ...args]: readonly string[], env: Env): string {
  try {
    execFileSync(process.execPath, [`${ROOT}${script}`, ...args], {
      env: { PATH: process.env.PATH ?? '', ...COMPILED, ...env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
    })
    return ''
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    return stdout + stderr
  }
}

/** The acceptance tests of the five areas on an installation behind a pooler. Counts files that pass. */
async function acceptance(say: (text: string) => void): Promise<Figure> {
  const poolers: Pooler[] = []
  const system = await startSystem('drill-pooler-acceptance', async (url) => {
    const pooler = await startPooler({ version: '1.24', url, settings: PREPARED })
    poolers.push(pooler)
    return { DATABASE_URL: pooler.through(url), DATABASE_DIRECT_URL: url }
  })
  const areas = ['strings', 'sanctions', 'age', 'verification', 'node']
  let passed = 0
  for (const area of areas) {
    const child = spawn(process.execPath, ['--test', `${ROOT}tests/acceptance/${area}.test.ts`], {
      cwd: ROOT,
      env: { ...process.env, ...COMPILED, ...system.env },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
    say(`acceptance of ${area}: ${code === 0 ? 'passed' : 'FAILED'}`)
    if (code === 0) passed++
  }
  await system.stop()
  for (const pooler of poolers) await pooler.stop()
  return { name: 'pooler.acceptance-files', value: passed, floor: areas.length, is: 'least' }
}
