import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { NodeMetrics } from './metrics.ts'
import { faceStore, isSharedShelf, type Searched, type SpaceId } from './store.ts'

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
  const hints = new Map<string, number>()
  const nameOf = ({ tenantId, livemode, version }: SpaceId) => `${tenantId}/${livemode}/${version}`

  async function shelfOf(space: SpaceId): Promise<number | undefined> {
    return hints.get(nameOf(space)) ?? (await faceStore.findSpace(cells.forId(space.tenantId), space))?.shelf
  }

  function remember(space: SpaceId, shelf: number): void {
    if (hints.size >= MAX_HINTS) hints.delete(hints.keys().next().value ?? '')
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
    /** The nearest vectors, nearest first. */
    search: (space: SpaceId, purpose: string, probe: { embedding: Buffer; limit: number }) =>
      ask(space, purpose, (shelf) => faceStore.search(cells.forId(space.tenantId), space, { ...probe, shelf })),
    /** The nearest vector of one person. */
    compare: (space: SpaceId, probe: { embedding: Buffer; personId: string; seqs: readonly number[] }) =>
      ask(space, 'compare', (shelf) => faceStore.compare(cells.forId(space.tenantId), space, { ...probe, shelf })),
  }
}
export type Gallery = ReturnType<typeof createGallery>

function sqlStateOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code
}
