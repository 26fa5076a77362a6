import { BoundedMap } from '../platform/bounded-map.ts'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { bucketOf, type Ids } from '../platform/ids.ts'
import type { KeyVault, OnUnreadable } from '../platform/key-vault.ts'
import { createGroupKeys, type GroupId, type GroupKeys, groupKeyContext, newGroupKey } from './group-keys.ts'
import { faceStore } from './store.ts'

const MAX_OPEN = 2_000
const RESEAL_BATCH = 200
const BEFORE_ALL: GroupId = { tenantId: '00000000-0000-0000-0000-000000000000', livemode: false }

interface Deps {
  cells: Cells
  clock: Clock
  ids: Ids
  vault: KeyVault
}

/** The groups' keys, opened when first needed. A group's key never changes, so an opened key stays valid. */
export function createGroups({ cells, clock, ids, vault }: Deps) {
  const opened = new BoundedMap<string, GroupKeys>(MAX_OPEN)
  const nameOf = ({ tenantId, livemode }: GroupId) => `${tenantId}/${livemode}`

  async function find(id: GroupId, db: Queryable = cells.forId(id.tenantId)): Promise<GroupKeys | undefined> {
    const known = opened.get(nameOf(id))
    if (known) return known
    const row = await faceStore.findGroup(db, id)
    if (!row) return undefined
    const keys = createGroupKeys(id, row.guid, await vault.open(row, groupKeyContext(id)))
    opened.set(nameOf(id), keys)
    return keys
  }

  return {
    find,

    /** Two processes may create a group at once: the first row stays, and both use it. */
    async findOrCreate(id: GroupId): Promise<GroupKeys> {
      const known = await find(id)
      if (known) return known
      const sealed = await vault.seal(newGroupKey(), groupKeyContext(id))
      const guid = ids.next(bucketOf(id.tenantId))
      await faceStore.insertGroup(cells.forId(id.tenantId), id, { guid, ...sealed }, clock.now())
      const created = await find(id)
      if (!created) throw new Error('The group is gone')
      return created
    },

    /**
     * Reseals with the current master key what an older one sealed. Safe to interrupt and to run twice. A group that cannot be opened
     * is reported and passed over.
     */
    async reseal(onUnreadable: OnUnreadable = () => {}): Promise<number> {
      let done = 0
      for (const { db } of cells.all()) {
        for (let after: GroupId | undefined = BEFORE_ALL; after; ) {
          const place: GroupId = after
          const { resealed, last } = await db.transaction((tx) => resealBatch(tx, place, onUnreadable))
          done += resealed
          after = last
        }
      }
      return done
    },

    /** How many groups each master key has sealed. */
    async countByMasterKey(): Promise<Map<string, number>> {
      const counts = new Map<string, number>()
      for (const { db } of cells.all()) {
        for (const { masterKeyId, count } of await faceStore.countByMasterKey(db)) {
          counts.set(masterKeyId, (counts.get(masterKeyId) ?? 0) + count)
        }
      }
      return counts
    },
  }

  async function resealBatch(tx: Queryable, after: GroupId, onUnreadable: OnUnreadable) {
    const batch = await faceStore.lockSealedWithOther(tx, {
      masterKeyId: vault.currentKeyId,
      after,
      limit: RESEAL_BATCH,
    })
    let resealed = 0
    for (const row of batch) {
      const context = groupKeyContext(row)
      const opened = await vault.open(row, context).catch(() => undefined)
      if (opened) resealed += await faceStore.reseal(tx, row, await vault.seal(opened, context))
      else onUnreadable(`face_groups ${nameOf(row)}`)
    }
    return { resealed, last: batch.at(-1) }
  }
}
export type Groups = ReturnType<typeof createGroups>
