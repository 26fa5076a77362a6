import type pg from 'pg'
import type { Cell, Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import { bucketOf } from '../platform/ids.ts'
import type { GroupKeys } from './group-keys.ts'
import type { Groups } from './groups.ts'
import * as shelfStore from './shelf-store.ts'
import type { ShelvedSpace, SpaceStats } from './shelf-store.ts'
import { isSharedShelf, SHARED_SHELVES, type SpaceId, shelfTable } from './store.ts'
import { fromBytes, toHalfvec } from './vector.ts'

const BATCH = 500
const MOVE_TRIES = 5

interface Deps {
  cells: Cells
  clock: Clock
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
export function createShelves({ cells, clock, groups, exactMax, indexMemoryMb }: Deps) {
  /** Runs alone in its cell; returns `otherwise` when someone else is at work there. */
  function alone<T>(db: Db, otherwise: T, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
    return db.withPatientClient(async (client) => ((await shelfStore.lockShelves(client)) ? work(client) : otherwise))
  }

  /** The last step is quick but needs a lock that a long query may hold: it is tried again. */
  async function move(client: pg.ClientBase, space: ShelvedSpace, toShelf: number): Promise<void> {
    for (let tried = 1; ; tried++) {
      try {
        if (!(await shelfStore.moveSpace(client, space, toShelf, clock.now()))) throw new Error('The space was moved')
        return
      } catch (error) {
        if (tried >= MOVE_TRIES || (error as { code?: string }).code !== shelfStore.LOCK_NOT_AVAILABLE) throw error
      }
    }
  }

  /** A shelf of its own for a space that has outgrown the shared one. Searches and enrolments go on meanwhile. */
  async function promote(client: pg.ClientBase, space: ShelvedSpace): Promise<void> {
    const shelf = await shelfStore.createShelf(client)
    await shelfStore.copyVectors(client, space, shelf, { after: 0 })
    const copied = { ...space, lastSeq: await highestSeq(client, shelf) }
    await shelfStore.indexShelf(client, space, shelf, indexMemoryMb)
    await move(client, copied, shelf)
  }

  /** Writes search copies from the authoritative ones. Throws when one does not open: then nothing is replaced. */
  async function fill(
    client: pg.ClientBase,
    space: SpaceId,
    to: { shelf: number; upTo: number },
    onDone: (done: number) => void,
  ): Promise<number> {
    const keys = await keysOf(space)
    const rotate = keys.rotation(space.version)
    let done = 0
    for (let after = 0; ; ) {
      const batch = await shelfStore.listTemplates(client, space, { after, upTo: to.upTo, limit: BATCH })
      for (const { seq, personId, enrollLevel, sealedVector, wrappedKey } of batch) {
        const place = { personId, version: space.version, seq }
        const vector = fromBytes(keys.openTemplate(wrappedKey, place, sealedVector))
        const embedding = toHalfvec(rotate(vector))
        await shelfStore.insertVector(client, space, to.shelf, { seq, personId, enrollLevel, embedding })
        after = seq
      }
      done += batch.length
      onDone(done)
      if (batch.length < BATCH) return done
    }
  }

  async function rebuildLarge(client: pg.ClientBase, space: ShelvedSpace, onDone: (done: number) => void) {
    const shelf = await shelfStore.createShelf(client)
    await shelfStore.inTransaction(client, () => fill(client, space, { shelf, upTo: space.lastSeq }, onDone))
    await shelfStore.indexShelf(client, space, shelf, indexMemoryMb)
    await move(client, space, shelf)
  }

  /** Small spaces are written anew in one go while their enrolments wait. */
  async function rebuildSmall(client: pg.ClientBase, space: SpaceId, onDone: (done: number) => void) {
    await shelfStore.inTransaction(client, async () => {
      const { shelf: old, lastSeq } = await shelfStore.lockSpaceRow(client, space)
      const shelf = isSharedShelf(old) ? old : bucketOf(space.tenantId) % SHARED_SHELVES
      await shelfStore.clearSpace(client, space, old)
      const vectors = await fill(client, space, { shelf, upTo: lastSeq }, onDone)
      await shelfStore.setSpace(client, space, { shelf, vectors })
    })
    await client.query(`vacuum (index_cleanup on) ${shelfTable(bucketOf(space.tenantId) % SHARED_SHELVES)}`)
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
        for (const space of outgrown) await promote(client, space)
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
          for (const space of spaces) {
            const onDone = (done: number) => onProgress({ cell, space, done, total: space.vectors })
            if (space.vectors > exactMax) await rebuildLarge(client, space, onDone)
            else await rebuildSmall(client, space, onDone)
          }
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
      db.withPatientClient(async (client) => {
        const due = await shelfStore.listVacuumsDue(client)
        for (const one of due) await shelfStore.vacuum(client, one)
        return due.length
      }),

    async stats(): Promise<(SpaceStats & { cell: string })[]> {
      const byCell = cells.all().map(async ({ name: cell, db }: Cell) => {
        const spaces = await db.withPatientClient(shelfStore.listStats)
        return spaces.map((space) => ({ ...space, cell }))
      })
      return (await Promise.all(byCell)).flat()
    },

    sizes: (db: Db) => db.withPatientClient(shelfStore.measureSizes),
  }
}
export type Shelves = ReturnType<typeof createShelves>

/** What was really copied: enrolments go on while the rows are being read. */
async function highestSeq(client: pg.ClientBase, shelf: number): Promise<number> {
  const { rows } = await client.query<{ seq: number }>(
    `select coalesce(max(seq), 0)::float8 as seq from ${shelfTable(shelf)}`,
  )
  return rows[0]?.seq ?? 0
}
