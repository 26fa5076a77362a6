import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client'
import type { Cells } from './cells.ts'
import { countLostLogLines } from './log-output.ts'
import type { RateLimiter } from './rate-limit.ts'

/** A metric of a room. Label values are our own constants, never values from a request. */
interface Own {
  metric: Metric
}
export interface LabelledCounter extends Own {
  count(label: string, by?: number): void
  get(label: string): Promise<number>
}
/** A counter with two labels. */
export interface PairCounter extends Own {
  count(first: string, second: string): void
}
export interface RequestTimer extends Own {
  /** The values of the two labels, and the duration. */
  observe(first: string, second: string | number, seconds: number): void
}

export function createLabelledCounter(name: string, help: string, label: string): LabelledCounter {
  const metric = new Counter({ name, help, labelNames: [label], registers: [] })
  return {
    metric,
    count: (value, by = 1) => metric.inc({ [label]: value }, by),
    get: async (value) => (await metric.get()).values.find(({ labels }) => labels[label] === value)?.value ?? 0,
  }
}

export function createPairCounter(name: string, help: string, labels: readonly [string, string]): PairCounter {
  const metric = new Counter({ name, help, labelNames: labels, registers: [] })
  return { metric, count: (first, second) => metric.inc({ [labels[0]]: first, [labels[1]]: second }) }
}

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

export function createTimer(name: string, help: string, labels: readonly [string, string]): RequestTimer {
  const metric = new Histogram({ name, help, labelNames: labels, buckets: BUCKETS, registers: [] })
  return {
    metric,
    observe: (first, second, seconds) => metric.observe({ [labels[0]]: first, [labels[1]]: second }, seconds),
  }
}

/** The process's own metrics, so that tests and two apps in one process do not share counters. */
export interface Metrics {
  registry: Registry
  requests: RequestTimer
  rateLimited: LabelledCounter
  idempotentReplays: LabelledCounter
  keyChecks: LabelledCounter
  /** Label: job and result, as in `purge-idempotency-keys done`. */
  jobs: LabelledCounter
  /** Adds a room's own metric. */
  add<M extends Own>(own: M): M
  /** Everything in the text format of Prometheus. */
  text(): Promise<string>
}

export function createMetrics(version: string, { processMetrics = true } = {}): Metrics {
  const registry = new Registry()
  if (processMetrics) collectDefaultMetrics({ register: registry })
  const labelNames = ['version']
  new Gauge({
    name: 'ostiary_build_info',
    help: 'Always 1; the label tells the version',
    labelNames,
    registers: [registry],
  }).set({ version }, 1)
  new Counter({
    name: 'ostiary_log_lines_lost_total',
    help: 'Log lines that could not be written: the reader of standard output is gone or does not keep up',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(countLostLogLines())
    },
  })
  const shared = {
    requests: createTimer(
      'ostiary_http_request_seconds',
      'Requests by operation and status; time from first byte in to last byte out',
      ['operation', 'status'],
    ),
    rateLimited: createLabelledCounter('ostiary_rate_limited_total', 'Requests refused by a rate limit', 'operation'),
    idempotentReplays: createLabelledCounter(
      'ostiary_idempotent_replays_total',
      'Creates answered from an earlier call',
      'operation',
    ),
    keyChecks: createLabelledCounter('ostiary_key_checks_total', 'API key checks: cached, loaded, rejected', 'result'),
    jobs: createLabelledCounter('ostiary_jobs_total', 'Background jobs run by the worker', 'job_result'),
  }
  function add<M extends Own>(own: M): M {
    registry.registerMetric(own.metric)
    return own
  }
  for (const own of Object.values(shared)) add(own)
  return { ...shared, registry, add, text: () => registry.metrics() }
}

export function watchLimiters(metrics: Metrics, limiters: Readonly<Record<string, RateLimiter>>): void {
  const labelNames = ['table']
  new Gauge({
    name: 'ostiary_rate_limit_callers',
    help: 'Callers in the tables of the rate limiter: keys, and addresses with whatever else strangers can make up. Each holds 50,000',
    labelNames,
    registers: [metrics.registry],
    collect() {
      for (const [table, limiter] of Object.entries(limiters)) this.set({ table }, limiter.sizes().callers)
    },
  })
  new Counter({
    name: 'ostiary_rate_limit_overflow_total',
    help: 'Requests counted in a shared slot, because the table of the rate limiter was full of callers that still owe',
    labelNames,
    registers: [metrics.registry],
    collect() {
      this.reset()
      for (const [table, limiter] of Object.entries(limiters)) this.inc({ table }, limiter.sizes().overflowed)
    },
  })
}

export function watchPools(metrics: Metrics, cells: Cells): void {
  new Gauge({
    name: 'ostiary_db_up',
    help: '1 while the database of the cell can be reached, else 0',
    labelNames: ['cell'],
    registers: [metrics.registry],
    collect() {
      for (const { name, db } of cells.all()) this.set({ cell: name }, db.isUp() ? 1 : 0)
    },
  })
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
