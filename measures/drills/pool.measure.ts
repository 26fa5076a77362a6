/**
 * Four connections per process and cell suffice: two installations, with a pool of 4 and of 10, take turns under as many sessions at once as a
 * busy machine can bear. Devices play whole flows, and other sessions end by the sandbox's one call; results are read, webhooks arrive. No call may
 * fail, and no turn may hang: transactions that each wait for a second connection would.
 */
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Measure } from '@ostiary/testkit/measuring/figure'
import { processorMs } from '@ostiary/testkit/measuring/processor-time'
import { createClient, createHost, openWire, playDevice } from '@ostiary/testkit/measuring/sessions-load'
import { startReceivers } from '@ostiary/testkit/receivers'
import { startApi, startServices, startWorker } from '@ostiary/testkit/run'

const POOLS = [4, 10] as const
const AT_ONCE = 32
const TURNS = { short: { pairs: 2, ms: 4_000 }, full: { pairs: 6, ms: 20_000 } }
/** A machine that does much else makes single turns slower by this much. */
const RATIO_LEAST = 0.9

export const measure: Measure = async ({ full, say }) => {
  const { pairs, ms } = TURNS[full ? 'full' : 'short']
  const cluster = startServices()
  const sites = await Promise.all(POOLS.map((pool) => startSite(cluster, pool)))
  try {
    const [few, many] = sites
    if (!few || !many) throw new Error('There are two pools')
    // New processes compile for a while.
    for (const site of sites) await site.run(ms / 2)
    const counts = new Map(sites.map((site) => [site, 0]))
    for (let pair = 0; pair < pairs; pair++) {
      for (const site of pair % 2 === 0 ? sites : sites.toReversed()) {
        const [count, usedMs] = [await site.run(ms), site.lastUsedMs()]
        counts.set(site, (counts.get(site) ?? 0) + count)
        say(
          `pool ${site.pool}: ${(count / (ms / 1000)).toFixed(1)} sessions/s, API ${(usedMs / count).toFixed(1)} ms each, ${site.failures()} failed so far`,
        )
      }
    }
    const [ofFew = 0, ofMany = 0] = sites.map((site) => counts.get(site) ?? 0)
    return [
      { name: 'pool.rate-4-to-10', value: ofFew / ofMany, floor: RATIO_LEAST, is: 'least', load: true },
      { name: 'pool.failed-calls', value: few.failures() + many.failures(), floor: 0, is: 'most' },
    ]
  } finally {
    await Promise.all(sites.map((site) => site.stop()))
  }
}

async function startSite(cluster: string, pool: number) {
  const database = await createDatabase(cluster, 'drill')
  const env = {
    ...testSettings(database.url),
    DATABASE_POOL_MAX: String(pool),
    OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8',
    TRUST_PROXY: '127.0.0.1',
  }
  const api = await startApi({ env, logName: `drill-pool-${pool}-api` })
  const worker = await startWorker({ env, logName: `drill-pool-${pool}-worker` })
  const wire = openWire(env)
  const host = await createHost(wire, `Pool ${pool}`)
  await wire.close()
  const receivers = await startReceivers([host.key])
  const client = createClient(api.url, AT_ONCE)
  let started = 0
  let failed = 0
  let usedMs = 0

  async function playOne(index: number): Promise<void> {
    const body = {
      redirectUrl: 'https://host.example/checked',
      ageThreshold: 30,
      callback: { url: receivers.urls[0] ?? '' },
    }
    const { sessionId, token } = await client.create(host, body)
    if (index % 2 === 0) await client.complete(host, sessionId)
    else if (!(await playDevice(api.url, sessionId, index))) throw new Error('The device’s flow did not end')
    await client.result(host, token)
  }

  return {
    pool,
    failures: () => failed + client.failures(),
    lastUsedMs: () => usedMs,
    /** Plays sessions for so long, and returns how many ended in that time. */
    async run(ms: number): Promise<number> {
      const [until, before] = [performance.now() + ms, processorMs(api.pid)]
      let ended = 0
      const loop = async () => {
        while (performance.now() < until) {
          await playOne(started++).catch(() => failed++)
          if (performance.now() <= until) ended++
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, loop))
      usedMs = processorMs(api.pid) - before
      return ended
    },
    async stop(): Promise<void> {
      await Promise.all([api.stop('SIGKILL'), worker.stop('SIGKILL'), client.close(), receivers.stop()])
      await database.drop()
    },
  }
}
