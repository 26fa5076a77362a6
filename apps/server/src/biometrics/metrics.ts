import { NODE_LIMITS } from '@ostiary/contract'
import { watchCells } from '../platform/cell-gauges.ts'
import type { Db, Queryable } from '../platform/db.ts'
import { createLabelledCounter, createTimer, type Metrics, MODES } from '../platform/metrics.ts'
import type { Platform } from '../platform/platform.ts'
import type { HitLevel } from './hit-budget.ts'
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
        { label: 'result', values: ['recognised', 'not_enrolled', 'failed'] },
      ),
    ),
    enrolments: metrics.add(
      createLabelledCounter('ostiary_node_enrolments_total', 'Enrolments: new, existing, refused, failed', {
        label: 'result',
        values: ['new', 'existing', 'refused', 'failed'],
      }),
    ),
    retries: metrics.add(
      createLabelledCounter('ostiary_node_enrolment_retries_total', 'Failed attempts of the enrolment job', {
        label: 'attempt',
        values: Array.from({ length: NODE_LIMITS.enrolAttempts }, (_, index) => String(index + 1)),
      }),
    ),
    filtered: metrics.add(
      createLabelledCounter('ostiary_node_vectors_filtered_total', 'Embeddings judged bad at enrolment', {
        label: 'reason',
        values: ['flat', 'disagrees'],
      }),
    ),
    deletions: metrics.add(
      createLabelledCounter('ostiary_node_deletions_total', 'Deleted users', {
        label: 'result',
        values: ['deleted', 'not_found'],
      }),
    ),
    alarms: metrics.add(
      createLabelledCounter(
        'ostiary_node_probing_alarms_total',
        'Unrecognised predictions of one key beyond 1,000 an hour: someone may be probing the enrolled faces',
        { label: 'mode', values: MODES },
      ),
    ),
    hitAlarms: metrics.add(
      createLabelledCounter(
        'ostiary_node_hit_alarms_total',
        'Keys that came near one person too often: alarm (they get one band from then on), refuse (they get 429). Someone may be reading out a face',
        { label: 'level', values: ['alarm', 'refuse'] as HitLevel[] },
      ),
    ),
    replays: metrics.add(
      createLabelledCounter(
        'ostiary_node_replays_total',
        'Predictions and sign-ins with the enrolled vector itself, sent again',
        { label: 'mode', values: MODES },
      ),
    ),
  }
}
const SIZES_EVERY_MS = 60_000

/** Gauges of how much area E stores. */
export function watchSizes(platform: Platform, vectorPartitions: VectorPartitions): void {
  watchCells(platform, {
    everyMs: SIZES_EVERY_MS,
    measure: ({ db }) => vectorPartitions.sizes(db),
    gauges: [
      {
        name: 'ostiary_node_bytes',
        help: 'Bytes of area E by cell and part: search copies, HNSW indexes that earlier releases built, everything else',
        label: 'part',
        read: (sizes) => sizes,
      },
    ],
  })
}

export type NodeMetrics = ReturnType<typeof createNodeMetrics>

/**
 * Takes the time of a search from the budget of the caller, without its wait for a connection: others may have caused that. It stands for the
 * processor time of PostgreSQL, which does not tell it.
 */
export type Spend = (ms: number) => void

interface TimedSearch<T> {
  purpose: 'predict' | 'enroll' | 'compare'
  db: Db
  search(on: Queryable): Promise<T & ({ hasCodes?: boolean } | undefined)>
  spend?: Spend | undefined
}

/** Runs and measures a search of vectors. */
export async function timeSearch<T>(metrics: NodeMetrics, { purpose, db, search, spend }: TimedSearch<T>): Promise<T> {
  let tookMs = 0
  const note = (ms: number) => {
    tookMs = ms
    spend?.(ms)
  }
  const found = await db.timed(note, search)
  metrics.searches.observe(purpose, found?.hasCodes ? 'codes' : 'exact', tookMs / 1000)
  return found
}
