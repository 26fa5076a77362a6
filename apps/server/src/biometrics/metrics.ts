import { createLabelledCounter, createTimer } from '../platform/hot-metrics.ts'
import type { Metrics } from '../platform/metrics.ts'

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
        'Unrecognised predictions of one key beyond 1,000 an hour: someone may be probing the gallery',
        'mode',
      ),
    ),
  }
}
export type NodeMetrics = ReturnType<typeof createNodeMetrics>
