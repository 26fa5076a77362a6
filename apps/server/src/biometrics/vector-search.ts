import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { NodeMetrics } from './metrics.ts'
import type { Neighbour, SpaceId } from './store.ts'
import { type Probe, type Searched, vectorStore } from './vector-store.ts'

interface Deps {
  cells: Cells
  clock: Clock
  metrics: NodeMetrics
}

/** The search of enrolments and predictions, measured. */
export function createVectorSearch({ cells, clock, metrics }: Deps) {
  return {
    async search(space: SpaceId, purpose: 'predict' | 'enroll', probe: Probe): Promise<Searched | undefined> {
      const started = clock.monotonicMs()
      const found = await vectorStore.search(cells.forId(space.tenantId), space, probe)
      const seconds = (clock.monotonicMs() - started) / 1000
      metrics.searches.observe(purpose, found?.hasCodes ? 'codes' : 'exact', seconds)
      return found
    },
    /** The nearest vector of one person. */
    async compare(
      space: SpaceId,
      probe: { embedding: Buffer; personId: string; seqs: readonly number[] },
    ): Promise<Neighbour | undefined> {
      const started = clock.monotonicMs()
      const found = await vectorStore.compare(cells.forId(space.tenantId), space, probe)
      metrics.searches.observe('compare', 'exact', (clock.monotonicMs() - started) / 1000)
      return found
    },
  }
}
export type VectorSearch = ReturnType<typeof createVectorSearch>
