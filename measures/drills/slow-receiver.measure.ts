/**
 * 50 healthy receivers get webhooks at a steady rate, beside one that gets as many as all of them together: first it is healthy
 * too, then it hangs. The load is the same, so what differs is the hanging. What the 50 get must not come much later for it: the ratio
 * of the two p99, from the end of a session to the arrival.
 * With --full also beside one that answers after 9 seconds: it never fails, so no circuit breaker helps.
 */
import { createDatabase, testSettings } from '@ostiary/testkit/databases'
import type { Figure, Measure } from '@ostiary/testkit/measuring/figure'
import { percentile } from '@ostiary/testkit/measuring/node-bench'
import { atRate } from '@ostiary/testkit/measuring/pace'
import { type Client, createClient, createHost, type Host, openWire } from '@ostiary/testkit/measuring/sessions-load'
import { type Behaviour, type Receivers, startReceivers } from '@ostiary/testkit/receivers'
import { sleep, startApi, startServices, startWorker } from '@ostiary/testkit/run'
import { inParallel } from './enrols.ts'

const HEALTHY = 50
/** Webhooks a second to the healthy ones together. */
const RATE = 40
const CREATORS = 8
const RATIO_MOST = 3

export const measure: Measure = async ({ full, say }) => {
  const seconds = full ? 40 : 10
  const database = await createDatabase(startServices(), 'drill')
  const settings = { ...testSettings(database.url), OUTBOUND_ALLOW_NETWORKS: '127.0.0.0/8' }
  const running: { stop(): Promise<unknown> }[] = []
  try {
    const api = await startApi({ env: settings, logName: 'drill-slow-api' })
    running.push(api)
    running.push(await startWorker({ env: settings, logName: 'drill-slow-worker' }))
    const wire = openWire(settings)
    const host = await createHost(wire, 'Slow')
    await wire.close()
    // All belong to one tenant: not even its own receivers may feel it.
    const receivers = await startReceivers(Array.from({ length: HEALTHY + 1 }, () => host.key))
    running.push(receivers)
    const client = createClient(api.url)
    running.push({ stop: () => client.close() })
    const scene = { client, host, receivers }

    await runPhase(scene, { count: RATE * 3, beside: 'ok' })
    const alone = await runPhase(scene, { count: RATE * seconds, beside: 'ok' })
    say(`${HEALTHY} healthy receivers beside a healthy one: ${describe(alone)}`)
    const figures: Figure[] = []
    for (const beside of full ? (['hang', 'slow'] as const) : (['hang'] as const)) {
      const late = await runPhase(scene, { count: RATE * seconds, beside })
      if (full) await settle(scene)
      say(`beside one that ${beside === 'hang' ? 'hangs' : 'answers after 9 s'}: ${describe(late)}`)
      const value = percentile(late.delaysMs, 0.99) / percentile(alone.delaysMs, 0.99)
      figures.push(
        { name: `slow-receiver.${beside}.p99-ratio`, value, floor: RATIO_MOST, is: 'most', load: true },
        { name: `slow-receiver.${beside}.missing`, value: late.missing, floor: 0, is: 'most' },
        { name: `slow-receiver.${beside}.slow-calls`, value: late.slowCalls, floor: 1, is: 'least' },
      )
    }
    return figures
  } finally {
    await Promise.all(running.map((one) => one.stop()))
    await database.drop()
  }
}

interface Scene {
  client: Client
  host: Host
  receivers: Receivers
}

interface Phase {
  /** From the end of the session to the arrival at a healthy receiver. */
  delaysMs: number[]
  /** Webhooks that a healthy receiver did not get. */
  missing: number
  /** Requests that the other one got. */
  slowCalls: number
}

function describe({ delaysMs, slowCalls }: Phase): string {
  const [p50, p99] = [percentile(delaysMs, 0.5), percentile(delaysMs, 0.99)]
  return `p50 ${p50} ms, p99 ${p99} ms of ${delaysMs.length}${slowCalls > 0 ? `; ${slowCalls} calls to it` : ''}`
}

/** Ends so many sessions for the healthy receivers at the steady rate, and as many for the one beside them. */
async function runPhase(
  { client, host, receivers }: Scene,
  { count, beside }: { count: number; beside: Behaviour },
): Promise<Phase> {
  const receiverOf = (index: number) => (index % 2 === 1 ? HEALTHY : (index / 2) % HEALTHY)
  await receivers.behave(HEALTHY, beside)
  // Created in advance, so that only their end is measured.
  const sessionIds: string[] = []
  await inParallel(count * 2, CREATORS, async (index) => {
    const callback = { url: receivers.urls[receiverOf(index)] ?? '' }
    const body = { redirectUrl: 'https://host.example/checked', ageThreshold: 30, callback }
    sessionIds[index] = (await client.create(host, body)).sessionId
  })
  await receivers.take()
  await atRate(RATE * 2, count * 2, (index) => client.complete(host, sessionIds[index] ?? ''))
  await sleep(AFTER_MS)
  const arrivals = await receivers.take()
  const healthy = arrivals.filter(({ receiver }) => receiver !== HEALTHY)
  return {
    delaysMs: healthy.map(({ atMs, endedAtMs }) => atMs - endedAtMs),
    missing: count - new Set(healthy.map(({ sessionId }) => sessionId)).size,
    slowCalls: arrivals.length - healthy.length,
  }
}
/** For the last ones to arrive. */
const AFTER_MS = 2_000

/** Lets the slow receiver recover and get what waited for it, so that the next phase begins with an empty queue. */
async function settle({ client, host, receivers }: Scene): Promise<void> {
  await receivers.behave(HEALTHY, 'ok')
  for (let tries = 0; tries < 60; tries++) {
    const { count } = await client.read<{ count: number }>(host, '/webhooks/deliveries?state=pending&limit=1')
    if (count === 0) return
    await client.advance(host, 60)
    await sleep(1_000)
  }
  throw new Error('Webhooks still wait after a minute')
}
