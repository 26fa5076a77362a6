import { Gauge } from 'prom-client'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import { createLabelledCounter, createTimer } from '../platform/hot-metrics.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
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
    codeFallbacks: metrics.add(
      createLabelledCounter(
        'ostiary_node_codes_missing_total',
        'Searches of large spaces that went through the index instead: the codes were loading, behind, lost or busy, or NODE_CODES_MEMORY_MB is too little (memory)',
        'reason',
      ),
    ),
    codeComparisons: metrics.add(
      createLabelledCounter(
        'ostiary_node_codes_compared_total',
        'How often all codes of a space were compared with the table, because a deletion was not noted',
        'what',
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
    help: 'Bytes of area E by cell and part: search copies, their HNSW indexes, everything else',
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

export interface CodeStats {
  codes: number
  bytes: number
  behind: number
  followedMs: number
}

/** Gauges of the codes that this process holds. */
export function watchCodes(metrics: Metrics, codes: { stats(): CodeStats }): void {
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers: [metrics.registry],
      collect() {
        this.set(value())
      },
    })
  gauge('ostiary_node_codes', 'Codes of faces in the memory of this process', () => codes.stats().codes)
  gauge('ostiary_node_codes_bytes', 'Bytes that hold codes of faces', () => codes.stats().bytes)
  gauge('ostiary_node_codes_behind', 'Vectors that have no code yet, in the space that lacks most', () => {
    return codes.stats().behind
  })
  gauge('ostiary_node_codes_followed_seconds', 'Since the codes last followed deletions, in the oldest space', () => {
    return codes.stats().followedMs / 1000
  })
}

export type NodeMetrics = ReturnType<typeof createNodeMetrics>
