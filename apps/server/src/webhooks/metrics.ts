import { DEAD_REASONS } from '@ostiary/contract'
import { Gauge } from 'prom-client'
import { watchCells } from '../platform/cell-gauges.ts'
import { createLabelledCounter, createTimer, type Metrics } from '../platform/metrics.ts'
import type { Platform } from '../platform/platform.ts'
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
        { label: 'result', values: ['delivered', ...DEAD_REASONS] },
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

/** Gauges of the queues of the cells that this worker serves. */
export function watchWebhookQueue(platform: Pick<Platform, 'metrics' | 'cells' | 'clock' | 'log' | 'leases'>): void {
  const { clock, leases } = platform
  watchCells(platform, {
    everyMs: STATE_EVERY_MS,
    isWatched: (cell) => leases.of(cell).isOn(),
    async measure({ db }) {
      const now = clock.now()
      const { due, oldestDue, resting } = await queueStore.state(db, now)
      return { due, resting, oldestSeconds: oldestDue ? (now.getTime() - oldestDue.getTime()) / 1000 : 0 }
    },
    gauges: [
      {
        name: 'ostiary_webhook_due',
        help: 'Webhooks that are due, also to resting receivers; stops at 100,000',
        read: ({ due }) => due,
      },
      {
        name: 'ostiary_webhook_resting_receivers',
        help: 'Receivers that failed and are given a rest',
        read: ({ resting }) => resting,
      },
      {
        name: 'ostiary_webhook_oldest_due_seconds',
        help: 'How long the oldest due webhook has been due; those to resting receivers do not count',
        read: ({ oldestSeconds }) => oldestSeconds,
      },
    ],
  })
}
