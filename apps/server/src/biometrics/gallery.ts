import { BoundedMap } from '../platform/bounded-map.ts'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { NodeMetrics } from './metrics.ts'
import { faceStore, isSharedShelf, type Searched, type SpaceId } from './store.ts'

// Up to so many vectors one look found every enrolled probe (docs/benchmarks.md).
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
 * Searches a space's vectors wherever they are. The shelf a space stands on is remembered as a hint only: every search reads
 * the true one in the same snapshot, and asks again when the space was moved meanwhile.
 */
export function createGallery({ cells, clock, metrics }: Deps) {
  const hints = new BoundedMap<string, number>(MAX_HINTS)
  const nameOf = ({ tenantId, livemode, version }: SpaceId) => `${tenantId}/${livemode}/${version}`

  async function shelfOf(space: SpaceId): Promise<number | undefined> {
    return hints.get(nameOf(space)) ?? (await faceStore.findSpace(cells.forId(space.tenantId), space))?.shelf
  }

  function remember(space: SpaceId, shelf: number): void {
    hints.set(nameOf(space), shelf)
  }

  /** Asks the shelf that the space stands on; undefined when there is no such space. */
  async function ask(
    space: SpaceId,
    purpose: string,
    question: (shelf: number) => Promise<Searched | undefined>,
  ): Promise<Searched | undefined> {
    for (let moves = 0; moves <= MAX_MOVES; moves++) {
      const shelf = await shelfOf(space)
      if (shelf === undefined) return undefined
      const started = clock.monotonicMs()
      const answer = await question(shelf).catch((error: unknown) => {
        // The shelf was replaced and taken away.
        if (sqlStateOf(error) === UNDEFINED_TABLE) return 'moved' as const
        throw error
      })
      if (answer !== 'moved') {
        metrics.searches.observe(
          purpose,
          isSharedShelf(shelf) ? 'exact' : 'hnsw',
          (clock.monotonicMs() - started) / 1000,
        )
        if (!answer || answer.shelf === shelf) {
          remember(space, shelf)
          return answer
        }
      }
      hints.delete(nameOf(space))
    }
    throw new Error('The space was moved again and again')
  }

  return {
    /**
     * The nearest vectors, nearest first. An index may miss the nearest; in a large space it does so for a few of a hundred
     * probes. There nobody is called unknown (nothing as near as `enough`) before a second look that is five times as wide.
     */
    async search(
      space: SpaceId,
      purpose: string,
      { enough, ...probe }: { embedding: Buffer; limit: number; enough: number },
    ): Promise<Searched | undefined> {
      const look = (wide: boolean) =>
        ask(space, wide ? `${purpose}-again` : purpose, (shelf) =>
          faceStore.search(cells.forId(space.tenantId), space, { ...probe, shelf, wide }),
        )
      const first = await look(false)
      const isSure = !first || isSharedShelf(first.shelf) || first.lastSeq <= SURE_UP_TO
      return isSure || (first.neighbours[0]?.cosine ?? -1) >= enough ? first : look(true)
    },
    /** The nearest vector of one person. */
    compare: (space: SpaceId, probe: { embedding: Buffer; personId: string; seqs: readonly number[] }) =>
      ask(space, 'compare', (shelf) => faceStore.compare(cells.forId(space.tenantId), space, { ...probe, shelf })),
  }
}
export type Gallery = ReturnType<typeof createGallery>

function sqlStateOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code
}
