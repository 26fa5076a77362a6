import { allOf, changeJson } from './changes.ts'
import type { Screening } from './screening.ts'

/** The reply that the service would give for the whole file, with the run ids of all parts. */
export function toJson(screening: Screening): object {
  const { total, matched, truncated, dataset, version, scorerVersion, threshold, runIds, warnedRows, stale } = screening
  const { changes } = screening
  return {
    summary: {
      total,
      matched: { count: matched.length, records: matched, ...(truncated && { truncated }) },
      dataset,
      version,
      scorerVersion,
      scoreThreshold: threshold,
      runIds,
      warnings: warnedRows,
      stale,
    },
    results: screening.results ?? [],
    ...(screening.run && { run: screening.run }),
    ...(changes && {
      changes: { since: changes.since, notes: changes.notes, hits: allOf(changes).map(changeJson) },
    }),
  }
}
