import { OPERATIONS } from '@ostiary/contract'
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client'
import type { Cells } from './cells.ts'
import { countLostLogLines } from './log-output.ts'
import type { RateLimiter } from './rate-limit.ts'

/** A metric of a room. Label values are our own constants, never values from a request. */
interface Own {
  metric: Metric
}
/** Its series exist at 0 from the start: a rule sees the first event only as a rise from 0. */
export interface LabelledCounter<V extends string = string> extends Own {
  count(value: V, by?: number): void
  get(value: V): Promise<number>
}
/** A counter with two labels. */
export interface PairCounter<F extends string = string, S extends string = string> extends Own {
  count(first: F, second: S, by?: number): void
  get(first: F, second: S): Promise<number>
  /** Makes the series of further values of the first label. */
  expect(firsts: readonly F[]): void
}
export interface RequestTimer extends Own {
  /** The values of the two labels, and the duration. */
  observe(first: string, second: string | number, seconds: number): void
}

const readValue = async (metric: Counter, wanted: Readonly<Record<string, string>>) => {
  const isWanted = (labels: Partial<Record<string, string | number>>) =>
    Object.entries(wanted).every(([name, value]) => labels[name] === value)
  return (await metric.get()).values.find(({ labels }) => isWanted(labels))?.value ?? 0
}

export function createLabelledCounter<const V extends string>(
  name: string,
  help: string,
  { label, values }: { label: string; values: readonly V[] },
): LabelledCounter<V> {
  const metric = new Counter({ name, help, labelNames: [label], registers: [] })
  for (const value of values) metric.inc({ [label]: value }, 0)
  return {
    metric,
    count: (value, by = 1) => metric.inc({ [label]: value }, by),
    get: (value) => readValue(metric, { [label]: value }),
  }
}

interface Pair<F extends string, S extends string> {
  labels: readonly [string, string]
  firsts: readonly F[]
  seconds: readonly S[]
  /** The label with both values, by which the rules of the last release select. It goes with the next release. */
  both?: string
}

export function createPairCounter<const F extends string, const S extends string>(
  name: string,
  help: string,
  { labels, firsts, seconds, both }: Pair<F, S>,
): PairCounter<F, S> {
  const labelNames = [...labels, ...(both ? [both] : [])]
  const metric = new Counter({ name, help, labelNames, registers: [] })
  const labelled = (first: F, second: S) => ({
    [labels[0]]: first,
    [labels[1]]: second,
    ...(both && { [both]: `${first} ${second}` }),
  })
  const expect = (expected: readonly F[]) => {
    for (const first of expected) for (const second of seconds) metric.inc(labelled(first, second), 0)
  }
  expect(firsts)
  return {
    metric,
    expect,
    count: (first, second, by = 1) => metric.inc(labelled(first, second), by),
    get: (first, second) => readValue(metric, labelled(first, second)),
  }
}

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

export function createTimer(name: string, help: string, labels: readonly [string, string]): RequestTimer {
  const metric = new Histogram({ name, help, labelNames: labels, buckets: BUCKETS, registers: [] })
  return {
    metric,
    observe: (first, second, seconds) => metric.observe({ [labels[0]]: first, [labels[1]]: second }, seconds),
  }
}

const KEY_CHECKS = ['cached', 'loaded', 'rejected', 'refused'] as const
type KeyCheck = (typeof KEY_CHECKS)[number]

/** The labels of counters that tell test keys from live ones. */
export const MODES = ['live', 'test'] as const

/** Gauges that the library of the metrics names like counters. */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`)

/** The process's own metrics, so that tests and two apps in one process do not share counters. */
export interface Metrics {
  registry: Registry
  requests: RequestTimer
  rateLimited: LabelledCounter
  idempotentReplays: LabelledCounter
  keyChecks: LabelledCounter<KeyCheck>
  /** The queue expects the tasks that it runs. */
  jobs: PairCounter<string, 'done' | 'failed'>
  taskSuccess: Gauge
  poolWait: Histogram
  /** Adds a room's own metric. */
  add<M extends Own>(own: M): M
  /** Everything in the text format of Prometheus. */
  text(): Promise<string>
}

export function createMetrics(version: string, { processMetrics = true } = {}): Metrics {
  const registry = new Registry()
  if (processMetrics) {
    collectDefaultMetrics({ register: registry })
    for (const name of MISNAMED) registry.removeSingleMetric(name)
  }
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
    rateLimited: createLabelledCounter('ostiary_rate_limited_total', 'Requests refused by a rate limit', {
      label: 'operation',
      values: OPERATIONS.map(({ operationId }) => operationId),
    }),
    idempotentReplays: createLabelledCounter(
      'ostiary_idempotent_replays_total',
      'Creates answered from an earlier call',
      {
        label: 'operation',
        values: OPERATIONS.filter(({ idempotent }) => idempotent).map(({ operationId }) => operationId),
      },
    ),
    keyChecks: createLabelledCounter(
      'ostiary_key_checks_total',
      'API key checks: cached, loaded, rejected, refused (too many wrong ones)',
      { label: 'result', values: KEY_CHECKS },
    ),
    jobs: createPairCounter('ostiary_jobs_total', 'Tasks run by the worker', {
      labels: ['task', 'result'],
      firsts: [] as string[],
      seconds: ['done', 'failed'],
      both: 'job_result',
    }),
  }
  const taskSuccess = new Gauge({
    name: 'ostiary_task_last_success_timestamp_seconds',
    help: 'When the task last ended well in the cell, as this worker knows; take the latest over all workers',
    labelNames: ['task', 'cell'],
    registers: [registry],
  })
  const poolWait = new Histogram({
    name: 'ostiary_db_pool_wait_seconds',
    help: 'How long work waited for a connection of the pool',
    labelNames: ['cell'],
    buckets: BUCKETS,
    registers: [registry],
  })
  function add<M extends Own>(own: M): M {
    registry.registerMetric(own.metric)
    return own
  }
  for (const own of Object.values(shared)) add(own)
  return { ...shared, taskSuccess, poolWait, registry, add, text: () => registry.metrics() }
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
    help: '1 while the database of the cell stores what it is given, as far as this process knows, else 0',
    labelNames: ['cell'],
    registers: [metrics.registry],
    async collect() {
      // An idle process finds out here.
      await Promise.all(cells.all().map(({ db }) => db.look()))
      for (const { name, db } of cells.all()) this.set({ cell: name }, db.outage() === undefined ? 1 : 0)
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
