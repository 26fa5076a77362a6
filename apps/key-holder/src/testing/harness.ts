/** The real service on a PostgreSQL database of its own, without a port and with a clock that tests move. Only tests of this app import this. */
import { readServiceKey, SERVICE_SIGNATURE_HEADER } from '@ostiary/crypto'
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import { loadConfig } from '../config.ts'
import { createLog } from '../platform/log.ts'
import { purge, purgePersons } from '../purge.ts'
import { createWire, type Parts } from '../wire.ts'
import { createCaller, newSeed, type Send } from './caller.ts'
import type { Subject } from './device.ts'
import { createManualClock } from './manual-clock.ts'

export type Harness = Awaited<ReturnType<typeof createHarness>>

export interface Counted {
  evaluations: number
  evaluationsThatDay: number
  attackEvents: number
  isFrozen: boolean
  failures: number
}

interface Options {
  judge?: Parts['judge']
  env?: Record<string, string>
  /** The service's way to the database, given its URL: through a proxy, for example. */
  through?: (databaseUrl: string) => string
}

export async function createHarness(options: Options = {}) {
  const cluster = process.env.OSTIARY_TEST_CLUSTER
  if (!cluster) throw new Error('OSTIARY_TEST_CLUSTER is not set: run the tests with npm test')
  const database = await createDatabase(cluster, 'key_holder')
  const seed = newSeed()
  const { publicKey } = await readServiceKey(seed)
  const url = options.through?.(database.url) ?? database.url
  const env: Record<string, string> = { ...testSettings(url), MATCHER_KEYS: publicKey, ...options.env }
  const clock = createManualClock()
  const lines: string[] = []
  const log = createLog('debug', { write: (line) => void lines.push(line) })
  const config = loadConfig(env)
  const wire = await createWire({
    config,
    clock,
    log,
    ...(options.judge && { judge: options.judge }),
  })
  const { app, db, metrics, keys } = wire
  const send = sendInto(app)
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  const query = (text: string, values: unknown[] = []) => pool.query(text, values)
  const caller = await createCaller({ send, seed, published: keys.published, nowMs: () => clock.now().getTime() })

  return {
    ...wire,
    config,
    env,
    clock,
    seed,
    send,
    sendInto,
    caller,
    query,
    logged: () => lines.join(''),
    async purge() {
      await purge({ db, clock, log, metrics })
      await purgePersons({ db, clock, log, metrics })
    },
    /** The value of a counter with these labels; 0 if it never counted. */
    async metric(name: string, labels: Record<string, string> = {}): Promise<number> {
      const found = await metrics.registry.getSingleMetric(`ostiary_key_holder_${name}`)?.get()
      const isWanted = (each: Record<string, unknown>) =>
        Object.entries(labels).every(([key, value]) => each[key] === value)
      return (found?.values ?? []).filter((each) => isWanted(each.labels)).reduce((sum, each) => sum + each.value, 0)
    },
    /** What is counted for a token and its person. */
    async countedFor({ realm, tokenId, account }: Subject): Promise<Counted> {
      const { rows } = await query(
        `select evaluations, evaluations_that_day as "evaluationsThatDay", attack_events as "attackEvents",
           frozen_at is not null as "isFrozen", coalesce(cardinality(p.failed_on), 0) as failures
         from key_shares left join persons as p using (realm, account) where realm = $1 and token_id = $2 and account = $3`,
        [realm, tokenId, account],
      )
      return rows[0]
    },
    async close() {
      await app.close()
      await wire.stopThreads()
      await db.close()
      await pool.end()
      await database.drop()
    },
  }
}

/** Into an app that listens on no port. */
function sendInto(app: FastifyInstance): Send {
  return async ({ method, path, headers, body }) => {
    const sent = method === 'POST' && { payload: Buffer.from(body) }
    const reply = await app.inject({ method, url: path, headers, ...sent })
    const signature = reply.headers[SERVICE_SIGNATURE_HEADER]
    return {
      status: reply.statusCode,
      body: reply.rawPayload,
      signature: typeof signature === 'string' ? signature : undefined,
    }
  }
}
