import { Gauge } from 'prom-client'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { createLabelledCounter, createTimer, type Metrics } from '../platform/metrics.ts'
import { logFailure } from '../platform/reachability.ts'
import type { VectorPartitions } from './vector-partitions.ts'

export function createNodeMetrics(metrics: Metrics) {
  return {
    searches: metrics.add(
      createTimer('ostiary_node_search_seconds', 'Vector searches in the database', ['purpose', 'kind']),
    ),
    predictions: metrics.add(
      createLabelledCounter(
        'ostiary_node_predictions_total',
        'Predictions: recognised, not_enrolled, failed. Their ratio is the not-enrolled rate',
        'result',
      ),
    ),
    enrolments: metrics.add(
      createLabelledCounter('ostiary_node_enrolments_total', 'Enrolments: new, existing, refused, failed', 'result'),
    ),
    retries: metrics.add(
      createLabelledCounter('ostiary_node_enrolment_retries_total', 'Failed attempts of the enrolment job', 'attempt'),
    ),
    filtered: metrics.add(
      createLabelledCounter('ostiary_node_vectors_filtered_total', 'Embeddings judged bad at enrolment', 'reason'),
    ),
    deletions: metrics.add(createLabelledCounter('ostiary_node_deletions_total', 'Deleted users', 'result')),
    alarms: metrics.add(
      createLabelledCounter(
        'ostiary_node_probing_alarms_total',
        'Unrecognised predictions of one key beyond 1,000 an hour: someone may be probing the enrolled faces',
        'mode',
      ),
    ),
    hitAlarms: metrics.add(
      createLabelledCounter(
        'ostiary_node_hit_alarms_total',
        'Keys that came near one person too often: alarm (they get one band from then on), refuse (they get 429). Someone may be reading out a face',
        'level',
      ),
    ),
    replays: metrics.add(
      createLabelledCounter(
        'ostiary_node_replays_total',
        'Predictions and sign-ins with the enrolled vector itself, sent again',
        'mode',
      ),
    ),
  }
}
const SIZES_EVERY_MS = 60_000

/** Gauges of how much area E stores. Each scrape reads them, but they are measured at most once a minute. */
export function watchSizes(
  metrics: Metrics,
  { cells, clock, log, vectorPartitions }: { cells: Cells; clock: Clock; log: Log; vectorPartitions: VectorPartitions },
): void {
  let measuredMs = Number.NEGATIVE_INFINITY
  new Gauge({
    name: 'ostiary_node_bytes',
    help: 'Bytes of area E by cell and part: search copies, HNSW indexes that earlier releases built, everything else',
    labelNames: ['cell', 'part'],
    registers: [metrics.registry],
    async collect() {
      if (clock.monotonicMs() - measuredMs < SIZES_EVERY_MS) return
      measuredMs = clock.monotonicMs()
      for (const { name: cell, db } of cells.all()) {
        try {
          for (const [part, bytes] of Object.entries(await vectorPartitions.sizes(db))) this.set({ cell, part }, bytes)
        } catch (err) {
          // Do not fail the scrape: the other metrics are needed most while the database is away.
          logFailure(log, 'warn', { err, cell }, 'sizes of area E could not be measured')
        }
      }
    },
  })
}

export type NodeMetrics = ReturnType<typeof createNodeMetrics>

/** Measures a search of vectors while it runs. */
export async function timeSearch<T>(
  { clock, metrics }: { clock: Clock; metrics: NodeMetrics },
  purpose: 'predict' | 'enroll' | 'compare',
  search: Promise<T & ({ hasCodes?: boolean } | undefined)>,
): Promise<T> {
  const started = clock.monotonicMs()
  const found = await search
  metrics.searches.observe(purpose, found?.hasCodes ? 'codes' : 'exact', (clock.monotonicMs() - started) / 1000)
  return found
}
