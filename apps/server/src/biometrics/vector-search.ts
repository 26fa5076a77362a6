import { BoundedMap } from '../platform/bounded-map.ts'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { NodeMetrics } from './metrics.ts'
import { faceStore, isSharedPartition, type Searched, type SpaceId } from './store.ts'

// Up to so many vectors one search found every enrolled probe (docs/benchmarks.md).
const SURE_UP_TO = 100_000
const MAX_HINTS = 20_000
const MAX_MOVES = 4
const UNDEFINED_TABLE = '42P01'

interface Deps {
  cells: Cells
  clock: Clock
  metrics: NodeMetrics
}

/**
 * Searches the vectors of a space in the partition that holds them. The cached partition is only a hint: every search reads
 * the true one in the same snapshot, and is repeated if the space has moved.
 */
export function createVectorSearch({ cells, clock, metrics }: Deps) {
  const hints = new BoundedMap<string, number>(MAX_HINTS)
  const nameOf = ({ tenantId, livemode, version }: SpaceId) => `${tenantId}/${livemode}/${version}`

  async function partitionOf(space: SpaceId): Promise<number | undefined> {
    return hints.get(nameOf(space)) ?? (await faceStore.findSpace(cells.forId(space.tenantId), space))?.partition
  }

  function remember(space: SpaceId, partition: number): void {
    hints.set(nameOf(space), partition)
  }

  /** Runs a query in the partition that holds the space; undefined when there is no such space. */
  async function ask(
    space: SpaceId,
    purpose: string,
    question: (partition: number) => Promise<Searched | undefined>,
  ): Promise<Searched | undefined> {
    for (let moves = 0; moves <= MAX_MOVES; moves++) {
      const partition = await partitionOf(space)
      if (partition === undefined) return undefined
      const started = clock.monotonicMs()
      const answer = await question(partition).catch((error: unknown) => {
        // The space has moved, and its old partition was dropped.
        if (sqlStateOf(error) === UNDEFINED_TABLE) return 'moved' as const
        throw error
      })
      if (answer !== 'moved') {
        metrics.searches.observe(
          purpose,
          isSharedPartition(partition) ? 'exact' : 'hnsw',
          (clock.monotonicMs() - started) / 1000,
        )
        if (!answer || answer.partition === partition) {
          remember(space, partition)
          return answer
        }
      }
      hints.delete(nameOf(space))
    }
    throw new Error('The space moved during every search')
  }

  return {
    /**
     * The nearest vectors, nearest first. An index may miss the nearest one; in a large space it does so for a few of a hundred
     * probes. So in a large space, when nothing is as near as `enough`, a second search five times as wide decides.
     */
    async search(
      space: SpaceId,
      purpose: string,
      { enough, ...probe }: { embedding: Buffer; limit: number; enough: number },
    ): Promise<Searched | undefined> {
      const look = (wide: boolean) =>
        ask(space, wide ? `${purpose}-again` : purpose, (partition) =>
          faceStore.search(cells.forId(space.tenantId), space, { ...probe, partition, wide }),
        )
      const first = await look(false)
      const isSure = !first || isSharedPartition(first.partition) || first.lastSeq <= SURE_UP_TO
      return isSure || (first.neighbours[0]?.cosine ?? -1) >= enough ? first : look(true)
    },
    /** The nearest vector of one person. */
    compare: (space: SpaceId, probe: { embedding: Buffer; personId: string; seqs: readonly number[] }) =>
      ask(space, 'compare', (partition) =>
        faceStore.compare(cells.forId(space.tenantId), space, { ...probe, partition }),
      ),
  }
}
export type VectorSearch = ReturnType<typeof createVectorSearch>

function sqlStateOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code
}
