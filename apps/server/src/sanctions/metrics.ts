import { createLabelledCounter } from '../platform/hot-metrics.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { RowsAnswer } from './engine/rows.ts'

/** Counts screened rows and matches. A jump in their ratio after a new list needs a look. */
export function createSanctionsMetrics(metrics: Metrics) {
  const files = metrics.add(createLabelledCounter('ostiary_sanctions_files_total', 'Screened files', 'result'))
  const rows = metrics.add(createLabelledCounter('ostiary_sanctions_rows_total', 'Screened rows', 'result'))
  return {
    rows(total: number, answers: readonly RowsAnswer[]): void {
      const matched = answers.reduce((sum, answer) => sum + answer.matched, 0)
      files.count(matched > 0 ? 'matched' : 'clear')
      rows.count('matched', matched)
      rows.count('clear', total - matched)
    },
  }
}
export type SanctionsMetrics = ReturnType<typeof createSanctionsMetrics>
