import { fork } from 'node:child_process'
import { LANE_LIMITS, type Wire } from '@ostiary/server/measure'
import { median } from '@ostiary/testkit/measuring/figure'
import { processorMs } from '@ostiary/testkit/measuring/processor-time'
import { createClient, type Host } from '@ostiary/testkit/measuring/sessions-load'
import { type Receivers, startFastReceivers } from '@ostiary/testkit/receivers'
import { ROOT, type Started, sleep, startWorker } from '@ostiary/testkit/run'
import pg from 'pg'

/** With this many receivers, and this many requests at once to each, neither side waits for an answer. */
const RECEIVERS = 8
/** Messages of one turn. Each side sends all of them, and ours records them, before the turn ends. */
const TURN = 5_000
const WARM_UP_TURNS = 3
const BATCH = 500
const LOOK_EVERY_MS = 3
const TURN_LIMIT_MS = 60_000

interface Site {
  settings: Record<string, string>
  databaseUrl: string
  api: Started
  wire: Wire
  host: Host
  pairs: number
  running: { stop(): Promise<unknown> }[]
}

/** What one turn took: from the first arrival to the last, and processor time of the sender and of its database connections. */
interface Turn {
  ms: number
  senderMs: number
  databaseMs: number
}

interface Sender {
  send(): Promise<Turn>
}

export interface Comparison {
  /** Messages per second, ours ÷ bare. */
  rate: number
  /** Processor time per message, worker and its PostgreSQL connections ÷ bare. */
  cpu: number
}

/**
 * One worker that takes due webhooks from the queue, sends them and records them, compared with a bare loop that only signs and sends
 * as many. SIGSTOP pauses the worker outside of its turns; each turn begins and ends with an empty queue, so that nothing
 * waits through a pause.
 */
export async function compareDeliveries(site: Site, say: (line: string) => void): Promise<Comparison> {
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
  const meter = await createDatabaseMeter(site.databaseUrl)
  site.running.push({ stop: meter.close })
  const ours = workerSender(site, { worker, receivers, meter, body: Buffer.from(body) })
  for (let turn = 0; turn < WARM_UP_TURNS; turn++) for (const sender of [bare, ours]) await sender.send()
  const comparison = await takeTurns({ bare, ours }, site.pairs, say)
  const idle = await idleSecond(worker, meter)
  say(
    `with nothing to send the worker uses ${idle.worker.toFixed(0)} ms and PostgreSQL ${idle.database.toFixed(0)} ms a second; both are in the times above`,
  )
  return comparison
}

/** What the worker's loops cost by themselves. On a busy machine a turn takes long, and they are much of it. */
async function idleSecond(worker: Started, meter: DatabaseMeter): Promise<{ worker: number; database: number }> {
  const before = { worker: processorMs(worker.pid), database: await meter.readMs() }
  process.kill(worker.pid, 'SIGCONT')
  await sleep(1_000)
  process.kill(worker.pid, 'SIGSTOP')
  return { worker: processorMs(worker.pid) - before.worker, database: (await meter.readMs()) - before.database }
}

async function takeTurns(
  senders: { bare: Sender; ours: Sender },
  pairs: number,
  say: (line: string) => void,
): Promise<Comparison> {
  const turns = { bare: [] as Turn[], ours: [] as Turn[] }
  for (let pair = 0; pair < pairs; pair++) {
    for (const name of pair % 2 === 0 ? (['bare', 'ours'] as const) : (['ours', 'bare'] as const))
      turns[name].push(await senders[name].send())
  }
  const [bare, ours] = [summaryOf(turns.bare), summaryOf(turns.ours)]
  const cpu = ours.cpu / bare.cpu
  const rates = turns.bare.map(({ ms }, pair) => ms / (turns.ours[pair]?.ms ?? Number.NaN))
  say(
    `${pairs} turns of ${TURN} messages: bare ${Math.round(bare.rate)}/s, ours ${Math.round(ours.rate)}/s (upper quartiles); median of the pairs' ratios ${median(rates).toFixed(3)}`,
  )
  say(
    `processor time per message, medians: bare ${bare.cpu.toFixed(1)} µs; ours ${ours.cpu.toFixed(1)} µs, worker ${ours.sender.toFixed(1)}, PostgreSQL ${ours.database.toFixed(1)}`,
  )
  return { rate: ours.rate / bare.rate, cpu }
}

/** Rates are upper quartiles: other load can only slow a turn down. Processor time is in µs per message. */
function summaryOf(turns: readonly Turn[]): { rate: number; cpu: number; sender: number; database: number } {
  const perMessage = (read: (turn: Turn) => number) => median(turns.map((turn) => (read(turn) * 1000) / TURN))
  const rates = turns.map(({ ms }) => (TURN * 1000) / ms).toSorted((a, b) => a - b)
  return {
    rate: rates[Math.floor(rates.length * 0.75)] ?? Number.NaN,
    cpu: perMessage(({ senderMs, databaseMs }) => senderMs + databaseMs),
    sender: perMessage(({ senderMs }) => senderMs),
    database: perMessage(({ databaseMs }) => databaseMs),
  }
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

interface DatabaseMeter {
  /** Processor time that the worker's connections have used so far. */
  readMs(): Promise<number>
  isQueueEmpty(): Promise<boolean>
  close(): Promise<void>
}

async function createDatabaseMeter(databaseUrl: string): Promise<DatabaseMeter> {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  return {
    async readMs() {
      const { rows } = await client.query<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and application_name like 'ostiary-worker-%'`,
      )
      return rows.reduce((sum, { pid }) => sum + processorMs(pid), 0)
    },
    async isQueueEmpty() {
      const { rows } = await client.query<{ found: boolean }>('select exists (select from webhook_queue) as found')
      return rows[0]?.found === false
    },
    close: () => client.end(),
  }
}

function workerSender(
  { wire, host }: Site,
  { worker, receivers, meter, body }: { worker: Started; receivers: Receivers; meter: DatabaseMeter; body: Buffer },
): Sender {
  async function fill(): Promise<void> {
    const db = wire.platform.cells.forId(host.tenantId)
    for (let queued = 0; queued < TURN; queued += BATCH) {
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
    async send() {
      await fill()
      const before = (await receivers.count()).arrived
      const [senderMs, databaseMs] = [processorMs(worker.pid), await meter.readMs()]
      process.kill(worker.pid, 'SIGCONT')
      try {
        // A worker that had nothing to do looks again after a pause, which says nothing about its rate.
        await until(async () => (await receivers.count()).arrived > before)
        const started = performance.now()
        await until(async () => (await receivers.count()).arrived - before >= TURN)
        const ms = performance.now() - started
        await until(meter.isQueueEmpty)
        return {
          ms,
          senderMs: processorMs(worker.pid) - senderMs,
          databaseMs: (await meter.readMs()) - databaseMs,
        }
      } finally {
        process.kill(worker.pid, 'SIGSTOP')
      }
    },
  }
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  const giveUpMs = performance.now() + TURN_LIMIT_MS
  while (!(await isDone())) {
    if (performance.now() > giveUpMs) throw new Error('The worker does not get done')
    await sleep(LOOK_EVERY_MS)
  }
}

async function startPoster(posting: object): Promise<Sender & { stop(): Promise<void> }> {
  const child = fork(`${ROOT}measures/bench/bare-poster.ts`, {
    env: { PATH: process.env.PATH, POSTING: JSON.stringify(posting) },
  })
  const next = () =>
    new Promise<{ ms?: number }>((resolve, reject) => {
      const onExit = () => reject(new Error('The bare poster ended'))
      child.once('exit', onExit)
      child.once('message', (message: { ms?: number }) => {
        child.off('exit', onExit)
        resolve(message)
      })
    })
  await next()
  const pid = child.pid ?? 0
  return {
    async send() {
      const senderMs = processorMs(pid)
      const answer = next()
      child.send({ count: TURN })
      const { ms = Number.NaN } = await answer
      return { ms, senderMs: processorMs(pid) - senderMs, databaseMs: 0 }
    },
    async stop() {
      child.kill('SIGKILL')
    },
  }
}
