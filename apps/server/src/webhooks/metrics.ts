import { Gauge } from 'prom-client'
import type { Cell, Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Leases } from '../platform/leases.ts'
import type { Log } from '../platform/log.ts'
import { createLabelledCounter, createTimer, type Metrics } from '../platform/metrics.ts'
import { logFailure } from '../platform/reachability.ts'
import { queueStore } from './queue-store.ts'

export function createWebhookMetrics(metrics: Metrics) {
  let count = () => 0
  new Gauge({
    name: 'ostiary_webhook_in_flight',
    help: 'Webhooks that were sent and not answered yet',
    registers: [metrics.registry],
    collect() {
      this.set(count())
    },
  })
  return {
    attempts: metrics.add(
      createTimer('ostiary_webhook_attempt_seconds', 'Attempts to deliver a webhook, by outcome and mode', [
        'outcome',
        'mode',
      ]),
    ),
    deliveries: metrics.add(
      createLabelledCounter(
        'ostiary_webhook_deliveries_total',
        'Webhooks that need no further attempt: delivered, or dead and why (exhausted, gone, forbidden, retention, key_removed)',
        'result',
      ),
    ),
    /** Sets the function that counts the running attempts. */
    inFlight(ask: () => number): void {
      count = ask
    },
  }
}
export type WebhookMetrics = ReturnType<typeof createWebhookMetrics>

const STATE_EVERY_MS = 10_000

interface Measured {
  cell: string
  due: number
  oldestSeconds: number
  resting: number
}

/** Gauges of the queues of the cells that this worker serves. Each scrape reads them, but at most every ten seconds. */
export function watchWebhookQueue(
  metrics: Metrics,
  { cells, clock, log, leases }: { cells: Cells; clock: Clock; log: Log; leases: Leases },
): void {
  let askedMs = Number.NEGATIVE_INFINITY
  let answer: Promise<Measured[]> = Promise.resolve([])

  async function measure({ name: cell, db }: Cell): Promise<Measured[]> {
    try {
      const now = clock.now()
      const { due, oldestDue, resting } = await queueStore.state(db, now)
      return [{ cell, due, resting, oldestSeconds: oldestDue ? (now.getTime() - oldestDue.getTime()) / 1000 : 0 }]
    } catch (err) {
      // Do not fail the scrape: the other metrics are needed most while the database is away.
      logFailure(log, 'warn', { err, cell }, 'the queue of webhooks could not be measured')
      return []
    }
  }

  /** The three gauges are read at the same time and share one measurement. */
  function latest(): Promise<Measured[]> {
    if (clock.monotonicMs() - askedMs >= STATE_EVERY_MS) {
      askedMs = clock.monotonicMs()
      const served = cells.all().filter((cell) => leases.of(cell).isOn())
      answer = Promise.all(served.map(measure)).then((found) => found.flat())
    }
    return answer
  }

  function gauge(name: string, help: string, read: (measured: Measured) => number): void {
    new Gauge({
      name,
      help,
      labelNames: ['cell'],
      registers: [metrics.registry],
      async collect() {
        const all = await latest()
        this.reset()
        for (const measured of all) this.set({ cell: measured.cell }, read(measured))
      },
    })
  }
  gauge('ostiary_webhook_due', 'Webhooks that are due, also to resting receivers; stops at 100,000', ({ due }) => due)
  gauge('ostiary_webhook_resting_receivers', 'Receivers that failed and are given a rest', ({ resting }) => resting)
  gauge(
    'ostiary_webhook_oldest_due_seconds',
    'How long the oldest due webhook has been due; those to resting receivers do not count',
    ({ oldestSeconds }) => oldestSeconds,
  )
}
