import { BoundedMap } from '../platform/bounded-map.ts'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import { codeStore, NEWER_MAX } from './code-store.ts'
import type { FaceCodes } from './face-codes.ts'
import type { NodeMetrics } from './metrics.ts'
import { faceStore, isSharedPartition, type Searched, type SpaceId } from './store.ts'

// Up to so many vectors one search found every enrolled probe (docs/benchmarks.md).
const SURE_UP_TO = 100_000
// At cosine 0.5 two vectors differ in 171 ± 11 of 512 bits, strangers in 256 ± 11: among a million the 50 nearest codes reach to 212.
const CANDIDATES_MIN = 50
const CANDIDATES_PER_NEIGHBOUR = 4
// Where one neighbour is wanted: what differs in 64 bits (six standard deviations) more than the nearest code cannot be nearer.
const BITS_FROM_NEAREST = 64
const ALL_BITS = 512
const MAX_HINTS = 20_000
const MAX_MOVES = 4
const UNDEFINED_TABLE = '42P01'

interface Deps {
  cells: Cells
  clock: Clock
  metrics: NodeMetrics
  codes: FaceCodes
}

interface Probe {
  embedding: Buffer
  limit: number
}

/** The least cosines of a person who is recognised, and of a near miss. */
interface Enough {
  enough: number
  near: number
}

/**
 * Searches the vectors of a space in the partition that holds them. The cached partition is only a hint: every search reads
 * the true one in the same snapshot, and is repeated if the space has moved.
 */
export function createVectorSearch({ cells, clock, metrics, codes }: Deps) {
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

  /**
   * Scans all codes of a large space, and compares the nearest with the table. Undefined when this process has no codes of the space, or
   * when the answer would not cover every vector that the table has.
   */
  async function searchCodes(space: SpaceId, purpose: string, probe: Probe & Enough): Promise<Searched | undefined> {
    const partition = await partitionOf(space)
    if (partition === undefined || isSharedPartition(partition)) return undefined
    const started = clock.monotonicMs()
    const wanted = Math.max(CANDIDATES_MIN, probe.limit * CANDIDATES_PER_NEIGHBOUR)
    const within = probe.limit === 1 ? BITS_FROM_NEAREST : ALL_BITS
    const near = await codes.find(space, {
      partition,
      embedding: probe.embedding,
      enough: probe.enough,
      near: probe.near,
      wanted,
      within,
    })
    if (!near) return undefined
    const found = await codeStore
      .compare(cells.forId(space.tenantId), space, { ...probe, ...near, partition })
      .catch((error: unknown) => {
        if (sqlStateOf(error) === UNDEFINED_TABLE) return undefined
        throw error
      })
    if (found?.partition !== partition) {
      hints.delete(nameOf(space))
      return undefined
    }
    if (!isCovered(found.lastSeq, near.upTo)) {
      metrics.codeFallbacks.count('behind')
      return undefined
    }
    metrics.searches.observe(purpose, 'codes', (clock.monotonicMs() - started) / 1000)
    remember(space, partition)
    return found
  }

  /**
   * An index may miss the nearest vector; in a large space it does so for a few of a hundred probes. So in a large space, when nothing is
   * as near as `enough`, a second search five times as wide decides.
   */
  async function searchIndex(space: SpaceId, purpose: string, probe: Probe, enough: number) {
    const look = (wide: boolean) =>
      ask(space, wide ? `${purpose}-again` : purpose, (partition) =>
        faceStore.search(cells.forId(space.tenantId), space, { ...probe, partition, wide }),
      )
    const first = await look(false)
    const isSure = !first || isSharedPartition(first.partition) || first.lastSeq <= SURE_UP_TO
    return isSure || (first.neighbours[0]?.cosine ?? -1) >= enough ? first : look(true)
  }

  return {
    /** The nearest vectors, nearest first, by the codes in memory or else by the database alone. */
    async search(
      space: SpaceId,
      purpose: string,
      { enough, near, ...probe }: Probe & Enough,
    ): Promise<Searched | undefined> {
      return (
        (await searchCodes(space, purpose, { ...probe, enough, near })) ?? searchIndex(space, purpose, probe, enough)
      )
    },
    /** The nearest vector of one person. */
    compare: (space: SpaceId, probe: { embedding: Buffer; personId: string; seqs: readonly number[] }) =>
      ask(space, 'compare', (partition) =>
        faceStore.compare(cells.forId(space.tenantId), space, { ...probe, partition }),
      ),
  }
}
export type VectorSearch = ReturnType<typeof createVectorSearch>

/**
 * Whether codes up to a number, and the vectors after it that are compared with them, are all that the space has. Fewer vectors than
 * codes means that the database was restored.
 */
export function isCovered(lastSeq: number, upTo: number): boolean {
  return upTo <= lastSeq && lastSeq <= upTo + NEWER_MAX
}

function sqlStateOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code
}
