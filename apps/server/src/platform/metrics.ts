import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Cells } from './cells.ts'

/** The process's own registry, so that tests and two apps in one process do not share counters. */
export interface Metrics {
  registry: Registry
  requests: Counter<'operation' | 'status'>
  requestSeconds: Histogram<'operation'>
  rateLimited: Counter<'operation'>
  idempotentReplays: Counter<'operation'>
  keyChecks: Counter<'result'>
  jobs: Counter<'job' | 'result'>
}

export function createMetrics(version: string, { processMetrics = true } = {}): Metrics {
  const registry = new Registry()
  const registers = [registry]
  if (processMetrics) collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'ostiary_build_info',
    help: 'Always 1; the label tells the version',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1)
  return {
    registry,
    requests: new Counter({
      name: 'ostiary_http_requests_total',
      help: 'Requests by operation and HTTP status',
      labelNames: ['operation', 'status'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'ostiary_http_request_seconds',
      help: 'Time from first byte in to last byte out',
      labelNames: ['operation'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    rateLimited: new Counter({
      name: 'ostiary_rate_limited_total',
      help: 'Requests refused by a rate limit',
      labelNames: ['operation'],
      registers,
    }),
    idempotentReplays: new Counter({
      name: 'ostiary_idempotent_replays_total',
      help: 'Creates answered from an earlier call',
      labelNames: ['operation'],
      registers,
    }),
    keyChecks: new Counter({
      name: 'ostiary_key_checks_total',
      help: 'API key checks: cached, loaded, rejected',
      labelNames: ['result'],
      registers,
    }),
    jobs: new Counter({
      name: 'ostiary_jobs_total',
      help: 'Background jobs run by the worker',
      labelNames: ['job', 'result'],
      registers,
    }),
  }
}

export function watchPools(metrics: Metrics, cells: Cells): void {
  new Gauge({
    name: 'ostiary_db_connections',
    help: 'Connections of the pool by cell and state; waiting counts requests without one',
    labelNames: ['cell', 'state'],
    registers: [metrics.registry],
    collect() {
      for (const { name, db } of cells.all()) {
        for (const [state, count] of Object.entries(db.stats())) this.set({ cell: name, state }, count)
      }
    },
  })
}
