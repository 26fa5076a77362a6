import { BoundedMap } from '../platform/bounded-map.ts'
import type { Queryable } from '../platform/db.ts'
import { bucketOf } from '../platform/ids.ts'
import type { OnUnreadable } from '../platform/key-vault.ts'
import type { Platform } from '../platform/platform.ts'
import { countByMasterKey, resealAll } from '../platform/reseal.ts'
import { createGroupKeys, type GroupId, type GroupKeys, groupKeyContext, newGroupKey } from './group-keys.ts'
import { faceStore } from './store.ts'

const MAX_OPEN = 2_000
const RESEAL_BATCH = 200
const BEFORE_ALL: GroupId = { tenantId: '00000000-0000-0000-0000-000000000000', livemode: false }

type Deps = Pick<Platform, 'cells' | 'clock' | 'ids' | 'vault'>

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

    reseal: (onUnreadable: OnUnreadable): Promise<number> =>
      resealAll(
        cells,
        {
          first: BEFORE_ALL,
          lock: (tx, after) =>
            faceStore.lockSealedWithOther(tx, { masterKeyId: vault.currentKeyId, after, limit: RESEAL_BATCH }),
          open: (row) => vault.open(row, groupKeyContext(row)),
          save: async (tx, row, key) => faceStore.reseal(tx, row, await vault.seal(key, groupKeyContext(row))),
          nameOf: (row) => `face_groups ${nameOf(row)}`,
        },
        { onUnreadable },
      ),
    countByMasterKey: () => countByMasterKey(cells, faceStore.countByMasterKey),
  }
}
export type Groups = ReturnType<typeof createGroups>
