/**
 * Area C beside bare code, in one run: creating sessions (beside a bare handler that does the same inserts), delivering webhooks
 * (beside a bare undici loop that posts the same signed bodies), creating with many open sessions in the table (beside an empty
 * one), and how fast the sweeper ends sessions whose time is over. 50,000 open sessions; --full: 1,000,000. `--part create` (or
 * `sweep`, `deliver`) measures only that.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import pg from 'pg'
import type { Wire } from '@ostiary/server/measure'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { compareDeliveries } from './delivery-bench.ts'
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import { createLoad, type Load, type LoadRequest } from '@ostiary/testkit/measuring/load'
import { freePorts, ROOT, type Started, startApi, startProcess, startServices } from '@ostiary/testkit/run'
import { loadSessions } from './session-rows.ts'
import { createHost, type Host, openWire } from '@ostiary/testkit/measuring/sessions-load'
import { compareInTurns } from '@ostiary/testkit/measuring/turns'

const CONNECTIONS = 16
const TURN_MS = 125
/** In the short form: a turn takes longer than one of creating. */
const DELIVERY_PAIRS = 8
const CREATE_FLOOR = 0.6
const DELIVERY_FLOOR = 0.5
const SLOWDOWN_MOST = 1.3
const SWEEP_FLOOR = 5_000
/** Of the sessions that expire, one in so many has a webhook. */
const CALLBACK_EVERY = 4
const CREATE_BODY = {
  redirectUrl: 'https://host.example/checked?order=1234',
  ageThreshold: 30,
  callback: { url: 'http://127.0.0.1:39999/webhook' },
  metadata: { order: 'A-1234' },
}

const OPTIONS = { part: { type: 'string' }, full: { type: 'boolean' } } as const

interface Sizes {
  warmUpMs: number
  pairs: number
  openSessions: number
  dueSessions: number
}
const SHORT: Sizes = { warmUpMs: 1_500, pairs: 40, openSessions: 50_000, dueSessions: 12_000 }
const FULL: Sizes = { warmUpMs: 15_000, pairs: 300, openSessions: 1_000_000, dueSessions: 100_000 }

export const measure: Measure = async ({ full, say }) => {
  const sizes = full ? FULL : SHORT
  const { part } = parseArgs({ args: process.argv.slice(4), options: OPTIONS }).values
  const isAsked = (name: string) => part === undefined || part === name
  const running: { stop(): Promise<unknown> }[] = []
  try {
    const empty = await startSite('bench-sessions-empty', running)
    const crowded = await startSite('bench-sessions-crowded', running)
    await crowd(crowded, sizes)
    say(
      `${sizes.openSessions} open sessions are in the second database: made by generate_series, as large as ours, indexed alike`,
    )
    // First, while the first database is empty.
    const figures: Figure[] = []
    if (isAsked('create')) {
      figures.push(await compareCrowd(empty, crowded, sizes, say))
      figures.push(await compareCreate(empty, sizes, running, say))
    }
    if (isAsked('sweep')) figures.push(await measureSweep(crowded, sizes, say))
    await crowded.api.stop()
    if (!isAsked('deliver')) return figures
    const deliveries = { ...empty, pairs: full ? sizes.pairs / 2 : DELIVERY_PAIRS, running }
    const ratio = await compareDeliveries(deliveries, (line) => say(`deliver: ${line}`))
    figures.push({ name: 'sessions.deliver.ratio', value: ratio, floor: DELIVERY_FLOOR, is: 'least', load: true })
    return figures
  } finally {
    for (const one of running.reverse()) await one.stop()
  }
}

/** An installation with a database of its own. */
interface Site {
  settings: Record<string, string>
  databaseUrl: string
  api: Started
  wire: Wire
  host: Host
}

async function startSite(logName: string, running: { stop(): Promise<unknown> }[]): Promise<Site> {
  const database = await createDatabase(startServices(), 'bench')
  running.push({ stop: () => database.drop() })
  const settings = { ...testSettings(database.url), OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8' }
  const api = await startApi({ env: settings, logName })
  running.push({ stop: () => api.stop('SIGKILL') })
  const wire = openWire(settings)
  running.push({ stop: () => wire.close() })
  // What a worker does first of all.
  for (const cell of wire.platform.cells.all()) {
    await wire.sessions.prepare(cell)
    await wire.webhooks.prepare(cell)
  }
  return { settings, databaseUrl: database.url, api, wire, host: await createHost(wire, 'Bench') }
}

/** Rows of the size and form of ours, made by the database. Nobody opens them: they are in the way, as other sessions are. */
async function crowd({ api, databaseUrl, host }: Site, { openSessions }: Sizes): Promise<void> {
  const one = await loadOn(api, host)
  await one.run(1)
  one.close()
  const sample = await sampleRow(databaseUrl, host)
  const client = new pg.Client(databaseUrl)
  await client.connect()
  const [sealedKey, request] = [randomBytes(sample.sealedKeyBytes), randomBytes(sample.requestBytes)]
  for (let start = 0; start < openSessions; start += CHUNK) {
    const values = [host.tenantId, host.keyId, start, Math.min(start + CHUNK, openSessions) - 1]
    await client.query(CROWD, [...values, sealedKey, sample.masterKeyId, request])
  }
  await client.query('vacuum analyze sessions, session_secrets')
  await client.end()
}
const CHUNK = 50_000
const CROWD = `with made as (
    insert into sessions (tenant_id, created_at, session_id, livemode, area, key_id, state, token_hash, expires_at, due_at, metadata_tags)
    select $1, now() - n * interval '1 ms', gen_random_uuid(), false, 'C', $2, 'CREATED', sha256(n::text::bytea),
      now() + interval '1 day', now() + interval '1 day' - n * interval '1 ms', array[(random() * 9e18)::bigint]
    from generate_series($3::int, $4::int) n
    returning tenant_id, created_at, session_id
  )
  insert into session_secrets (tenant_id, created_at, session_id, sealed_key, master_key_id, request)
  select tenant_id, created_at, session_id, $5, $6, $7 from made`

type Say = (text: string) => void

async function compareCrowd(empty: Site, crowded: Site, sizes: Sizes, say: Say): Promise<Figure> {
  const loads = { bare: await loadOn(empty.api, empty.host), ours: await loadOn(crowded.api, crowded.host) }
  const ratio = await warmAndCompare(loads, sizes, (line) =>
    say(`create, empty table ("bare") beside a full one: ${line}`),
  )
  return { name: 'sessions.crowded.slowdown', value: 1 / ratio, floor: SLOWDOWN_MOST, is: 'most', load: true }
}

async function compareCreate(
  { api, host, databaseUrl }: Site,
  sizes: Sizes,
  running: { stop(): Promise<unknown> }[],
  say: Say,
): Promise<Figure> {
  const [port = 0, adminPort = 0] = await freePorts(2)
  const env = {
    DATABASE_URL: databaseUrl,
    SAMPLE: JSON.stringify(await sampleRow(databaseUrl, host)),
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
  }
  const bare = await startProcess('measures/bench/bare-sessions.ts', { env, logName: 'bench-sessions-bare' })
  running.push({ stop: () => bare.stop('SIGKILL') })
  say('the bare handler does the same insert; it checks no key, validates nothing, seals nothing, logs nothing')
  const loads = { bare: await loadOn(bare, host), ours: await loadOn(api, host) }
  const value = await warmAndCompare(loads, sizes, (line) => say(`create: ${line}`))
  return { name: 'sessions.create.ratio', value, floor: CREATE_FLOOR, is: 'least', load: true }
}

function loadOn(server: Started, host: Host): Promise<Load> {
  const headers = { 'content-type': 'application/json', 'x-api-key': host.key }
  const request: LoadRequest = { method: 'POST', path: '/session', headers, body: JSON.stringify(CREATE_BODY) }
  return createLoad(server.url, request, CONNECTIONS)
}

async function warmAndCompare(
  loads: { bare: Load; ours: Load },
  { warmUpMs, pairs }: Sizes,
  say: Say,
): Promise<number> {
  for (const load of [loads.bare, loads.ours]) await load.run(warmUpMs)
  const ratio = await compareInTurns(loads, { pairs, turnMs: TURN_MS }, say)
  for (const load of [loads.bare, loads.ours]) load.close()
  return ratio
}

/** What the bare handler needs to know to write rows of the same size. */
async function sampleRow(databaseUrl: string, { tenantId, keyId }: Host) {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  const { rows } = await client.query<Sample>(
    `select length(sealed_key) as "sealedKeyBytes", master_key_id as "masterKeyId", length(request) as "requestBytes",
       metadata_tags as tags
     from session_secrets join sessions using (tenant_id, created_at, session_id) limit 1`,
  )
  await client.end()
  const [sample] = rows
  if (!sample) throw new Error('There is no session to learn from')
  return { tenantId, keyId, ...sample }
}

interface Sample {
  sealedKeyBytes: number
  masterKeyId: string
  requestBytes: number
  tags: string[]
}

async function measureSweep({ wire, databaseUrl, host, settings }: Site, sizes: Sizes, say: Say): Promise<Figure> {
  const { callback, ...rest } = CREATE_BODY
  await loadSessions(wire, databaseUrl, host, {
    count: sizes.dueSessions,
    madeAt: new Date(Date.now() - 3_600_000),
    lifetimeSeconds: 900,
    bodyOf: (index) => (index % CALLBACK_EVERY === 0 ? { ...rest, callback } : rest),
  })
  const printed = execFileSync(process.execPath, [`${ROOT}measures/bench/sweep.ts`], {
    env: { PATH: process.env.PATH ?? '', ...settings },
    encoding: 'utf8',
  })
  const { expired, ms } = JSON.parse(printed) as { expired: number; ms: number }
  say(`sweep: ${expired} sessions in ${Math.round(ms)} ms, one in ${CALLBACK_EVERY} with a webhook, one process`)
  return {
    name: 'sessions.sweep.per-second',
    value: (expired * 1000) / ms,
    floor: SWEEP_FLOOR,
    is: 'least',
    load: true,
  }
}
