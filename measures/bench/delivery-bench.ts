import { fork } from 'node:child_process'
import { LANE_LIMITS, type Wire } from '@ostiary/server/measure'
import { createClient, type Host } from '@ostiary/testkit/measuring/sessions-load'
import { compareInTurns, type Runner } from '@ostiary/testkit/measuring/turns'
import { type Receivers, startFastReceivers } from '@ostiary/testkit/receivers'
import { ROOT, type Started, sleep, startWorker } from '@ostiary/testkit/run'

/** With this many receivers, and this many requests at once to each, neither side waits for an answer. */
const RECEIVERS = 8
const TURN_MS = 500
const WARM_UP_MS = 1_500
const BATCH = 500
/** Due webhooks at the beginning of a slice: more than either side can send in it. */
const STOCK = 12_000

interface Site {
  settings: Record<string, string>
  api: Started
  wire: Wire
  host: Host
  pairs: number
  running: { stop(): Promise<unknown> }[]
}

/**
 * One worker that takes due webhooks from the queue, sends them and records them, compared with a bare loop that only sends.
 * SIGSTOP pauses the worker while the bare loop runs.
 */
export async function compareDeliveries(site: Site, say: (line: string) => void): Promise<number> {
  const receivers = await startFastReceivers(RECEIVERS)
  site.running.push(receivers)
  const body = await sampleResult(site)
  const bare = await startPoster({
    urls: receivers.urls,
    body,
    key: site.host.key,
    perReceiver: LANE_LIMITS.perEndpoint,
  })
  site.running.push(bare)
  const worker = await startWorker({ env: site.settings, logName: 'bench-sessions-worker' })
  site.running.push({ stop: () => worker.stop('SIGKILL') })
  process.kill(worker.pid, 'SIGSTOP')
  const ours = workerRunner(site, { worker, receivers, body: Buffer.from(body) })
  for (const runner of [bare, ours]) await runner.run(WARM_UP_MS)
  return compareInTurns({ bare, ours }, { pairs: site.pairs, turnMs: TURN_MS }, say)
}

/** The bytes of a real result. */
async function sampleResult({ api, host }: Site): Promise<string> {
  const client = createClient(api.url, 1)
  const made = await client.create(host, { redirectUrl: 'https://host.example/checked', ageThreshold: 30 })
  await client.complete(host, made.sessionId)
  const bytes = await client.result(host, made.token)
  await client.close()
  return bytes.toString()
}

function workerRunner(
  { wire, host }: Site,
  { worker, receivers, body }: { worker: Started; receivers: Receivers; body: Buffer },
): Runner {
  let stock = 0

  async function fill(): Promise<void> {
    const db = wire.platform.cells.forId(host.tenantId)
    for (; stock < STOCK; stock += BATCH) {
      const now = new Date()
      const shared = {
        tenantId: host.tenantId,
        keyId: host.keyId,
        livemode: false,
        area: 'age' as const,
        sequence: 1,
        headers: {},
      }
      const messages = Array.from({ length: BATCH }, (_, n) => ({
        ...shared,
        event: 'age.session.completed',
        subjectId: wire.platform.ids.next(0),
        url: receivers.urls[n % RECEIVERS] ?? '',
        body,
        now,
        purgeAt: new Date(now.getTime() + 86_400_000),
      }))
      await wire.webhooks.service.enqueue(db, messages)
    }
  }

  return {
    async run(ms) {
      await fill()
      const before = (await receivers.count()).arrived
      process.kill(worker.pid, 'SIGCONT')
      await sleep(ms)
      process.kill(worker.pid, 'SIGSTOP')
      await sleep(SETTLE_MS)
      const sent = (await receivers.count()).arrived - before
      stock -= sent
      if (stock <= 0) throw new Error('The queue ran dry: more webhooks must be prepared')
      return sent
    },
  }
}
/** Time for the requests that were in flight when the worker was paused. */
const SETTLE_MS = 30

async function startPoster(posting: object): Promise<Runner & { stop(): Promise<void> }> {
  const child = fork(`${ROOT}measures/bench/bare-poster.ts`, {
    env: { PATH: process.env.PATH, POSTING: JSON.stringify(posting) },
  })
  const next = () =>
    new Promise<{ count?: number }>((resolve, reject) => {
      const onExit = () => reject(new Error('The bare poster ended'))
      child.once('exit', onExit)
      child.once('message', (message: { count?: number }) => {
        child.off('exit', onExit)
        resolve(message)
      })
    })
  await next()
  return {
    async run(ms) {
      const answer = next()
      child.send({ ms })
      return (await answer).count ?? 0
    },
    async stop() {
      child.kill('SIGKILL')
    },
  }
}
