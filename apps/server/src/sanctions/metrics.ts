import { Gauge } from 'prom-client'
import type { Clock } from '../platform/clock.ts'
import { createLabelledCounter, type Metrics } from '../platform/metrics.ts'
import type { Library, ListFreshness } from './datasets/library.ts'
import type { RowsAnswer } from './engine/rows.ts'

const RESULT = { label: 'result', values: ['matched', 'clear'] } as const

/** Counts screened rows and matches. A jump in their ratio after a new list needs a look. */
export function createSanctionsMetrics(metrics: Metrics) {
  const files = metrics.add(createLabelledCounter('ostiary_sanctions_files_total', 'Screened files', RESULT))
  const rows = metrics.add(createLabelledCounter('ostiary_sanctions_rows_total', 'Screened rows', RESULT))
  const expansions = metrics.add(
    createLabelledCounter('ostiary_sanctions_expansions_total', 'Words expanded for a search', {
      label: 'source',
      values: ['prepared', 'cached', 'computed', 'evicted'] as string[],
    }),
  )
  return {
    rows(total: number, answers: readonly RowsAnswer[], isFile: boolean): void {
      const matched = answers.reduce((sum, answer) => sum + answer.matched, 0)
      if (isFile) files.count(matched > 0 ? 'matched' : 'clear')
      rows.count('matched', matched)
      rows.count('clear', total - matched)
      for (const answer of answers) {
        for (const [source, count] of Object.entries(answer.expansions)) expansions.count(source, count)
      }
    },
  }
}
export type SanctionsMetrics = ReturnType<typeof createSanctionsMetrics>

/** How fresh the shared lists are. Tenants' own lists have no publisher, and their names are the tenants' business. */
export function watchLists({ registry }: Metrics, library: Pick<Library, 'freshness'>, clock: Clock): void {
  const secondsSince = (time: Date) => Math.max(0, (clock.now().getTime() - time.getTime()) / 1000)
  const gauge = (name: string, help: string, measure: (list: ListFreshness) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['dataset'],
      registers: [registry],
      async collect() {
        this.reset()
        // A folder that cannot be read must not take the other metrics with it; screening reports it.
        const lists = await library.freshness().catch(() => [])
        for (const list of lists) this.set({ dataset: list.dataset }, measure(list))
      },
    })
  gauge('ostiary_sanctions_list_stale', '1 when the source was not checked with success for three periods', (list) =>
    list.isStale ? 1 : 0,
  )
  gauge('ostiary_sanctions_list_age_seconds', 'Time since the source confirmed the list, or it was imported', (list) =>
    secondsSince(list.checkedAt),
  )
  gauge('ostiary_sanctions_list_version_age_seconds', 'Time since the version in service was imported', (list) =>
    secondsSince(list.importedAt),
  )
}
