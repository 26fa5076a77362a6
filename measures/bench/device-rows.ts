import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { newProgress, type Wire } from '@ostiary/server/measure'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import { backendsOf, processorMsOf } from '@ostiary/testkit/measuring/backend-time'
import { type Figure, median } from '@ostiary/testkit/measuring/figure'
import { createHost, openWire } from '@ostiary/testkit/measuring/sessions-load'
import { ROOT, startServices } from '@ostiary/testkit/run'
import pg from 'pg'
import { loadSessions } from './session-rows.ts'

const DAY_MS = 86_400_000
const MANY_DAYS = 68
const FEW_DAYS = 2
/** Calls that are under way at once, on both sides, and the connections that they share. */
const CALLERS = 8
const CONNECTIONS = 4
const SESSIONS = 2_000
const PER_CALL_MOST = 2
const GROWTH_MOST = 1.1

export interface Rounds {
  rounds: number
  calls: number
}

/**
 * What PostgreSQL pays for a device call (the session is read, judged and saved) beside a bare update of the same two rows by their key,
 * and with few and many days of sessions kept. Both sides have as many callers and connections.
 */
export async function compareRows({ rounds, calls }: Rounds, say: (line: string) => void): Promise<Figure[]> {
  const cluster = startServices()
  const few = await openSite(cluster, FEW_DAYS)
  const many = await openSite(cluster, MANY_DAYS)
  try {
    const sides = { bare: few.bare, few: few.call, many: many.call }
    const costs = { bare: [] as number[], few: [] as number[], many: [] as number[] }
    const names = ['bare', 'few', 'many'] as const
    // The first round makes connections and plans.
    for (let round = -1; round < rounds; round++) {
      for (let turn = 0; turn < names.length; turn++) {
        const name = names[(round + 1 + turn) % names.length] ?? 'bare'
        const cost = await sides[name](calls)
        if (round >= 0) costs[name].push(cost)
      }
    }
    for (const name of names) say(`${name}: ${costs[name].map((cost) => cost.toFixed(0)).join(' ')} µs of a backend`)
    const ratio = (a: number[], b: number[]) => median(a.map((cost, at) => cost / (b[at] ?? Number.NaN)))
    const load = true
    return [
      { name: 'device.pg-per-call', value: ratio(costs.few, costs.bare), floor: PER_CALL_MOST, is: 'most', load },
      { name: 'device.pg-68-days', value: ratio(costs.many, costs.few), floor: GROWTH_MOST, is: 'most', load },
    ]
  } finally {
    await few.close()
    await many.close()
  }
}

/** Runs so many calls. Returns the microseconds of processor time that PostgreSQL needed for each. */
type Side = (calls: number) => Promise<number>

async function openSite(cluster: string, days: number): Promise<{ call: Side; bare: Side; close(): Promise<void> }> {
  const database = await createDatabase(cluster, 'bench')
  const settings = { ...testSettings(database.url), DATABASE_POOL_MAX: String(CONNECTIONS) }
  const env = { PATH: process.env.PATH ?? '', ...settings }
  execFileSync(process.execPath, [`${ROOT}apps/cli/src/main.ts`, 'migrate'], { env, stdio: 'ignore' })
  const wire = openWire(settings)
  const host = await createHost(wire, 'Device')
  const watch = new pg.Client(database.url)
  await watch.connect()
  const today = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS)
  for (let back = 0; back < days; back++) await addDay(watch, new Date(today.getTime() - back * DAY_MS))
  await loadSessions(wire, database.url, host, {
    count: SESSIONS,
    madeAt: new Date(),
    lifetimeSeconds: 3_600,
    livemode: false,
    bodyOf: () => ({ redirectUrl: 'https://host.example/checked', ageThreshold: 30 }),
  })
  const pool = new pg.Pool({ connectionString: database.url, max: CONNECTIONS, idleTimeoutMillis: 0 })
  const { rows: keys } = await watch.query<Key>('select tenant_id, created_at, session_id from sessions')
  const name = new URL(database.url).pathname.slice(1)
  // The bare side stores bytes that nobody can open, so it has sessions of its own.
  const [called, updated] = [keys.slice(0, SESSIONS / 2), keys.slice(SESSIONS / 2)]
  const costOf = async (calls: number, own: readonly Key[], work: (key: Key) => Promise<unknown>) => {
    const pids = await backendsOf(watch, name)
    const before = processorMsOf(pids)
    let next = 0
    const caller = async () => {
      while (next < calls) await work(own[next++ % own.length] ?? raise())
    }
    await Promise.all(Array.from({ length: CALLERS }, caller))
    return ((processorMsOf(pids) - before) * 1000) / calls
  }
  return {
    call: (calls) => costOf(calls, called, (key) => callOf(wire, key)),
    bare: (calls) => costOf(calls, updated, (key) => pool.query(bareUpdate(today, key))),
    async close() {
      await Promise.all([pool.end(), watch.end(), wire.close()])
      await database.drop()
    },
  }
}

interface Key {
  tenant_id: string
  created_at: Date
  session_id: string
}

/** As a consent or a log of events: the session is read, changed and stored. */
function callOf({ sessions }: Wire, { session_id: sessionId }: Key): Promise<unknown> {
  return sessions.service.change(sessionId, async (session) => {
    if ('purged' in session) throw new Error('The session is gone')
    return { session, save: { state: 'OPENED', progress: PROGRESS }, answer: undefined }
  })
}
const PROGRESS = newProgress('en')

/** As large as a sealed progress of this size. */
const SEALED = randomBytes(JSON.stringify(PROGRESS).length + 28)

function bareUpdate(today: Date, { tenant_id, created_at, session_id }: Key): pg.QueryConfig {
  const day = today.toISOString().slice(0, 10).replaceAll('-', '')
  const key = 'tenant_id = $1 and created_at = $2 and session_id = $3'
  return {
    name: 'bare',
    text: `with moved as (update sessions_${day} set state = $4, due_at = due_at where ${key})
      update session_secrets_${day} set progress = $5 where ${key}`,
    values: [tenant_id, created_at, session_id, 'OPENED', SEALED],
  }
}

async function addDay(client: pg.Client, day: Date): Promise<void> {
  const [from, to] = [day.toISOString(), new Date(day.getTime() + DAY_MS).toISOString()]
  for (const table of ['sessions', 'session_secrets']) {
    const name = `${table}_${from.slice(0, 10).replaceAll('-', '')}`
    await client.query(
      `create table ${name} partition of ${table} for values from ('${from}') to ('${to}') with (fillfactor = 70)`,
    )
  }
}

function raise(): never {
  throw new Error('There is no session')
}
