import type pg from 'pg'
import type { Cell, Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import { codeFaces } from './face-codes.ts'
import type { GroupKeys } from './group-keys.ts'
import type { Groups } from './groups.ts'
import { isSharedPartition, type SpaceId } from './store.ts'
import { fromBytes, toHalfvec } from './vector.ts'
import type { Arrival, PlacedSpace, SpaceStats } from './vector-partition-store.ts'
import * as partitionStore from './vector-partition-store.ts'

const BATCH = 500
// A larger space is rebuilt in a partition of its own, so that its enrolments do not wait.
const SMALL_MAX = 10_000
// So many new vectors may be copied under the space's lock, while enrolments wait: a fraction of a second.
const FEW = 20
const MOVE_ROUNDS = 6

interface Filling {
  afterSeq: number
  onDone?: (done: number) => void
}

interface Deps {
  cells: Cells
  clock: Clock
  groups: Groups
}

export interface ReindexProgress {
  cell: string
  space: SpaceId
  done: number
  total: number
}

/** Manages the partitions: rebuilds search copies, drops and vacuums what is left of others. */
export function createVectorPartitions({ cells, clock, groups }: Deps) {
  /** Runs work under the cell's lock; returns `otherwise` when another process holds it. */
  function alone<T>(db: Db, otherwise: T, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return db.withDedicatedClient(async (client) =>
      (await partitionStore.lockPartitions(client)) ? work(client) : otherwise,
    )
  }

  /**
   * Brings a new partition up to date while searches and enrolments continue, and then moves the space there. Only the last few new
   * vectors are added under the lock. If there are too many, or a person was deleted at the same time, another round follows.
   */
  async function move(client: pg.ClientBase, space: PlacedSpace, partition: number, catchUp: Arrival['catchUp']) {
    for (let round = 1; ; round++) {
      let { count, lastSeq } = await partitionStore.countVectors(client, partition)
      for (;;) {
        const added = await catchUp(lastSeq)
        ;({ count, lastSeq } = await partitionStore.countVectors(client, partition))
        if (added <= FEW) break
      }
      count -= await partitionStore.dropDeleted(client, space, partition)
      try {
        const arrival = { partition, count, lastSeq, catchUp, thorough: round > MOVE_ROUNDS }
        if (await partitionStore.moveSpace(client, space, arrival, clock.now())) return
      } catch (error) {
        // A long query holds the lock on the table.
        if ((error as { code?: string }).code !== partitionStore.LOCK_NOT_AVAILABLE) throw error
      }
      if (round > MOVE_ROUNDS * 2) throw new Error('Another transaction keeps the partitions locked')
    }
  }

  /** Writes search copies from the sealed templates. Throws when one does not open: then nothing is replaced. */
  async function fill(client: pg.ClientBase, space: SpaceId, partition: number, from: Filling): Promise<number> {
    const keys = await keysOf(space)
    const rotate = keys.rotation(space.version)
    let done = 0
    for (let after = from.afterSeq; ; ) {
      const batch = await partitionStore.listTemplates(client, space, { after, limit: BATCH })
      for (const { seq, personId, enrollLevel, sealedVector, wrappedKey } of batch) {
        const place = { personId, version: space.version, seq }
        const vector = fromBytes(keys.openTemplate(wrappedKey, place, sealedVector))
        const embedding = toHalfvec(rotate(vector))
        await partitionStore.insertVector(client, space, partition, { seq, personId, enrollLevel, embedding })
        after = seq
      }
      done += batch.length
      from.onDone?.(done)
      if (batch.length < BATCH) return done
    }
  }

  async function rebuildLarge(client: pg.ClientBase, space: PlacedSpace, onDone: (done: number) => void) {
    const partition = await partitionStore.createPartition(client)
    await fill(client, space, partition, { afterSeq: 0, onDone })
    await partitionStore.closePartition(client, space, partition)
    await move(client, space, partition, (afterSeq) => fill(client, space, partition, { afterSeq }))
  }

  /** Rewrites a small space in one transaction while its enrolments wait. Returns the partition. */
  async function rebuildSmall(client: pg.ClientBase, space: SpaceId, onDone: (done: number) => void): Promise<number> {
    return partitionStore.inTransaction(client, async () => {
      const { partition } = await partitionStore.lockSpaceRow(client, space)
      await partitionStore.clearSpace(client, space, partition)
      const vectors = await fill(client, space, partition, { afterSeq: 0, onDone })
      await partitionStore.setSpace(client, space, { partition, vectors })
      return partition
    })
  }

  async function keysOf(space: SpaceId): Promise<GroupKeys> {
    const keys = await groups.find(space)
    if (!keys) throw new Error('The group of this space is gone')
    return keys
  }

  return {
    /** Drops partitions that no space uses. Returns how many. */
    dropUnused: (db: Db): Promise<number> => alone(db, 0, partitionStore.dropUnusedPartitions),

    /** Rebuilds the search copies of the chosen spaces from the sealed templates, and the codes with them. */
    async reindex(
      chosen: (space: SpaceId) => boolean,
      onProgress: (progress: ReindexProgress) => void,
    ): Promise<number> {
      let count = 0
      for (const { name: cell, db } of cells.all()) {
        count += await alone(db, -1, async (client) => {
          const spaces = (await partitionStore.listSpaces(client)).filter(chosen)
          const rewritten = new Set<number>()
          for (const space of spaces) {
            const onDone = (done: number) => onProgress({ cell, space, done, total: space.vectors })
            if (isSharedPartition(space.partition) && space.vectors <= SMALL_MAX)
              rewritten.add(await rebuildSmall(client, space, onDone))
            else await rebuildLarge(client, space, onDone)
            if (space.codedSeq > 0) await codeFaces(db, space)
          }
          for (const partition of rewritten) await partitionStore.vacuumPartition(client, partition)
          await partitionStore.dropUnusedPartitions(client)
          return spaces.length
        }).then((done) => {
          if (done < 0)
            throw new Error(`another process is rebuilding or dropping partitions of cell ${cell}; try again later`)
          return done
        })
      }
      return count
    },

    /** Vacuums what deleted people left in tables and indexes, as soon as no transaction can see it. */
    vacuumDeleted: (db: Db): Promise<number> =>
      db.withDedicatedClient(async (client) => {
        const due = await partitionStore.listVacuumsDue(client)
        for (const one of due) await partitionStore.vacuum(client, one)
        return due.length
      }),

    async stats(): Promise<(SpaceStats & { cell: string })[]> {
      const byCell = cells.all().map(async ({ name: cell, db }: Cell) => {
        const spaces = await db.withDedicatedClient(partitionStore.listStats)
        return spaces.map((space) => ({ ...space, cell }))
      })
      return (await Promise.all(byCell)).flat()
    },

    sizes: (db: Db) => db.withDedicatedClient(partitionStore.measureSizes),
  }
}
export type VectorPartitions = ReturnType<typeof createVectorPartitions>
