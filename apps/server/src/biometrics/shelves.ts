import type pg from 'pg'
import type { Cell, Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import { bucketOf } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { GroupKeys } from './group-keys.ts'
import type { Groups } from './groups.ts'
import * as shelfStore from './shelf-store.ts'
import type { Arrival, ShelvedSpace, SpaceStats } from './shelf-store.ts'
import { isSharedShelf, SHARED_SHELVES, type SpaceId } from './store.ts'
import { fromBytes, toHalfvec } from './vector.ts'

const BATCH = 500
// So many newcomers may be added while enrolments wait: a fraction of a second.
const FEW = 20
const MOVE_ROUNDS = 6

interface Filling {
  afterSeq: number
  onDone?: (done: number) => void
}

interface Deps {
  cells: Cells
  clock: Clock
  log: Log
  groups: Groups
  /** A space with more vectors gets a shelf and an index of its own. */
  exactMax: number
  indexMemoryMb: number
}

export interface ReindexProgress {
  cell: string
  space: SpaceId
  done: number
  total: number
}

/** Where vectors stand: moving spaces that have grown, rebuilding search copies, removing what is left of deleted ones. */
export function createShelves({ cells, clock, log, groups, exactMax, indexMemoryMb }: Deps) {
  /** Runs alone in its cell; returns `otherwise` when someone else is at work there. */
  function alone<T>(db: Db, otherwise: T, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return db.withDedicatedClient(async (client) => ((await shelfStore.lockShelves(client)) ? work(client) : otherwise))
  }

  /**
   * Brings a new shelf up to date while everybody goes on, and then moves the space there. Only the last few newcomers are
   * added under the lock; until they are few, and whenever someone was deleted meanwhile, another round is made.
   */
  async function move(client: pg.ClientBase, space: ShelvedSpace, shelf: number, catchUp: Arrival['catchUp']) {
    for (let round = 1; ; round++) {
      let { count, lastSeq } = await shelfStore.countVectors(client, shelf)
      for (;;) {
        const added = await catchUp(lastSeq)
        ;({ count, lastSeq } = await shelfStore.countVectors(client, shelf))
        if (added <= FEW) break
      }
      count -= await shelfStore.dropDeleted(client, space, shelf)
      try {
        const arrival = { shelf, count, lastSeq, catchUp, thorough: round > MOVE_ROUNDS }
        if (await shelfStore.moveSpace(client, space, arrival, clock.now())) return
      } catch (error) {
        // Someone's long query holds the lock that is needed.
        if ((error as { code?: string }).code !== shelfStore.LOCK_NOT_AVAILABLE) throw error
      }
      if (round > MOVE_ROUNDS * 2) throw new Error('The shelves stay locked by someone else')
    }
  }

  /** A shelf of its own for a space that has outgrown the shared one. Searches and enrolments go on meanwhile. */
  async function promote(client: pg.ClientBase, space: ShelvedSpace): Promise<void> {
    const shelf = await shelfStore.createShelf(client)
    const catchUp = (afterSeq: number) => shelfStore.copyVectors(client, space, shelf, afterSeq)
    await catchUp(0)
    await shelfStore.indexShelf(client, space, shelf, indexMemoryMb)
    await move(client, space, shelf, catchUp)
  }

  /** Writes search copies from the authoritative ones. Throws when one does not open: then nothing is replaced. */
  async function fill(client: pg.ClientBase, space: SpaceId, shelf: number, from: Filling): Promise<number> {
    const keys = await keysOf(space)
    const rotate = keys.rotation(space.version)
    let done = 0
    for (let after = from.afterSeq; ; ) {
      const batch = await shelfStore.listTemplates(client, space, { after, limit: BATCH })
      for (const { seq, personId, enrollLevel, sealedVector, wrappedKey } of batch) {
        const place = { personId, version: space.version, seq }
        const vector = fromBytes(keys.openTemplate(wrappedKey, place, sealedVector))
        const embedding = toHalfvec(rotate(vector))
        await shelfStore.insertVector(client, space, shelf, { seq, personId, enrollLevel, embedding })
        after = seq
      }
      done += batch.length
      from.onDone?.(done)
      if (batch.length < BATCH) return done
    }
  }

  async function rebuildLarge(client: pg.ClientBase, space: ShelvedSpace, onDone: (done: number) => void) {
    const shelf = await shelfStore.createShelf(client)
    await fill(client, space, shelf, { afterSeq: 0, onDone })
    await shelfStore.indexShelf(client, space, shelf, indexMemoryMb)
    await move(client, space, shelf, (afterSeq) => fill(client, space, shelf, { afterSeq }))
  }

  /** Small spaces are written anew in one go while their enrolments wait. Returns the shelf. */
  async function rebuildSmall(client: pg.ClientBase, space: SpaceId, onDone: (done: number) => void): Promise<number> {
    return shelfStore.inTransaction(client, async () => {
      const { shelf: old } = await shelfStore.lockSpaceRow(client, space)
      const shelf = isSharedShelf(old) ? old : bucketOf(space.tenantId) % SHARED_SHELVES
      await shelfStore.clearSpace(client, space, old)
      const vectors = await fill(client, space, shelf, { afterSeq: 0, onDone })
      await shelfStore.setSpace(client, space, { shelf, vectors })
      return shelf
    })
  }

  async function keysOf(space: SpaceId): Promise<GroupKeys> {
    const keys = await groups.find(space)
    if (!keys) throw new Error('The group of this space is gone')
    return keys
  }

  return {
    /** Moves spaces that have outgrown their shared shelf, and clears away unused shelves. Returns how many it dealt with. */
    arrange: (db: Db): Promise<number> =>
      alone(db, 0, async (client) => {
        const dropped = await shelfStore.dropUnusedShelves(client)
        const outgrown = await shelfStore.listOutgrown(client, exactMax)
        let failure: unknown
        for (const space of outgrown) {
          // One that fails (a full disk, too little shared memory) must not keep the others waiting.
          await promote(client, space).catch((err: unknown) => {
            failure = err
            log.error({ err, tenantId: space.tenantId }, 'a space could not be moved to a shelf of its own')
          })
        }
        if (failure) throw failure
        return dropped + outgrown.length
      }),

    /** Rebuilds the search copy of the chosen spaces from the authoritative one, and with it the index. */
    async reindex(
      chosen: (space: SpaceId) => boolean,
      onProgress: (progress: ReindexProgress) => void,
    ): Promise<number> {
      let count = 0
      for (const { name: cell, db } of cells.all()) {
        count += await alone(db, -1, async (client) => {
          const spaces = (await shelfStore.listSpaces(client)).filter(chosen)
          const rewritten = new Set<number>()
          for (const space of spaces) {
            const onDone = (done: number) => onProgress({ cell, space, done, total: space.vectors })
            if (space.vectors > exactMax) await rebuildLarge(client, space, onDone)
            else rewritten.add(await rebuildSmall(client, space, onDone))
          }
          for (const shelf of rewritten) await shelfStore.vacuumShelf(client, shelf)
          await shelfStore.dropUnusedShelves(client)
          return spaces.length
        }).then((done) => {
          if (done < 0) throw new Error(`the worker is arranging the shelves of cell ${cell}; try again later`)
          return done
        })
      }
      return count
    },

    /** Frees what deleted people left in tables and indexes, as soon as nobody can see it any more. */
    vacuumDeleted: (db: Db): Promise<number> =>
      db.withDedicatedClient(async (client) => {
        const due = await shelfStore.listVacuumsDue(client)
        for (const one of due) await shelfStore.vacuum(client, one)
        return due.length
      }),

    async stats(): Promise<(SpaceStats & { cell: string })[]> {
      const byCell = cells.all().map(async ({ name: cell, db }: Cell) => {
        const spaces = await db.withDedicatedClient(shelfStore.listStats)
        return spaces.map((space) => ({ ...space, cell }))
      })
      return (await Promise.all(byCell)).flat()
    },

    sizes: (db: Db) => db.withDedicatedClient(shelfStore.measureSizes),
  }
}
export type Shelves = ReturnType<typeof createShelves>
