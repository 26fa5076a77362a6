import type { ErasureBody } from '@ostiary/contract'
import type { Db, Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import { bucketOf } from '../platform/ids.ts'
import type { Platform } from '../platform/platform.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import type { KeyHolderClient } from './key-holder-client.ts'
import { realmOf } from './realm.ts'
import { type ErasureRow, tokenStore } from './store.ts'

interface Deps extends Pick<Platform, 'clock' | 'ids'> {
  keyHolder: KeyHolderClient
}

const BATCH = 50
const FIRST_WAIT_MS = 30_000
const LONGEST_WAIT_MS = 3_600_000
const PENDING_MS = 3_600_000
const PROBE_BYTES_MS = 3_600_000
export const PROBE_HASH_MS = 2 * 86_400_000
const FAILURE_DAYS_MS = 31 * 86_400_000

/** Deletes tokens here, and what belongs to them at the key holder: at once if it answers, otherwise as soon as it does. */
export function createErasures({ clock, ids, keyHolder }: Deps) {
  const askFor = (tx: Queryable, owner: TenantData, tokenId: Buffer, account: Buffer | null = null) =>
    tokenStore.insertErasure(tx, owner, {
      erasureId: ids.next(bucketOf(owner.tenantId)),
      tokenId,
      account,
      now: clock.now(),
    })

  /** Sends what is due. Returns how many the key holder has done. */
  async function sendDue(db: Db, now: Date): Promise<number> {
    let done = 0
    for (;;) {
      const again = new Date(now.getTime() + FIRST_WAIT_MS)
      const due = await tokenStore.takeErasures(db, { now, again, limit: BATCH })
      for (const erasure of due) {
        try {
          await keyHolder.erase(bodyOf(erasure))
          await tokenStore.deleteErasure(db, erasure)
          done++
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'KEY_HOLDER_UNAVAILABLE') throw error
          const waitMs = Math.min(FIRST_WAIT_MS * 2 ** Math.min(erasure.attempts - 1, 10), LONGEST_WAIT_MS)
          await tokenStore.delayErasure(db, erasure, new Date(now.getTime() + waitMs))
          // The key holder is away: the others wait too.
          return done
        }
      }
      if (due.length < BATCH) return done
    }
  }

  /** Deletes tokens of enrolments that failed, old probes and old counts. */
  async function purge(db: Db, now: Date): Promise<number> {
    const before = (ms: number) => new Date(now.getTime() - ms)
    let count = 0
    for (let last = BATCH; last === BATCH; ) {
      last = await db.transaction(async (tx) => {
        const pending = await tokenStore.deletePending(tx, before(PENDING_MS), BATCH)
        for (const { tokenId, ...owner } of pending) await askFor(tx, owner, tokenId)
        return pending.length
      })
      count += last
    }
    const steps = [
      (limit: number) => tokenStore.emptyProbes(db, before(PROBE_BYTES_MS), limit),
      (limit: number) => tokenStore.purgeProbes(db, before(PROBE_HASH_MS), limit),
      (limit: number) => tokenStore.purgeFailures(db, before(FAILURE_DAYS_MS).toISOString().slice(0, 10), limit),
    ]
    for (const step of steps) {
      for (let last = BATCH; last === BATCH; count += last) last = await step(BATCH)
    }
    return count
  }

  return {
    sendDue,
    purge,
    /** In the transaction that deletes the person. */
    async deletePerson(tx: Queryable, owner: TenantData, personId: string): Promise<number> {
      const deleted = await tokenStore.deleteOfPerson(tx, owner, personId)
      for (const { tokenId, account } of deleted) {
        await tokenStore.deleteFailures(tx, owner, account)
        await askFor(tx, owner, tokenId, account)
      }
      return deleted.length
    },
    /** A token that another one has replaced, in the transaction that does so. */
    async deleteToken(tx: Queryable, owner: TenantData, tokenId: string, personId: string): Promise<void> {
      const id = Buffer.from(tokenId, 'base64url')
      if (await tokenStore.delete(tx, owner, id, personId)) await askFor(tx, owner, id)
    },
    /** What the key holder has not deleted yet. */
    async waiting(db: Db): Promise<{ count: number; oldestSeconds: number }> {
      const { count, oldest } = await tokenStore.countErasures(db)
      return { count, oldestSeconds: oldest ? (clock.now().getTime() - oldest.getTime()) / 1000 : 0 }
    },
  }
}
/** A deleted person's failures are counted at the key holder too: they go with the account. */
function bodyOf({ tenantId, livemode, tokenId, account }: ErasureRow): ErasureBody {
  const realm = realmOf({ tenantId, livemode })
  if (account) return { realm, account: account.toString('base64url') }
  return { realm, tokenId: tokenId.toString('base64url') }
}

export type Erasures = ReturnType<typeof createErasures>
