import type { Clock } from '../platform/clock.ts'
import { DAY_MS } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import { partitionName } from '../platform/partitions.ts'
import { expiryStore } from './expiry-store.ts'

/** How often all partitions are looked at: a restored backup can bring open sessions of any day. */
const LOOK_AGAIN_MS = 30_000

interface Look {
  day: string
  untilMs: number
  partitions: Promise<readonly string[]>
}

/**
 * The partitions that can hold open sessions. A session is created in the partition of its day, so only today's gets new ones. A look at
 * all of them finds the others: sessions that live for days, and those that nobody could end.
 */
export function createOpenDays(clock: Clock) {
  const looks = new WeakMap<Db, Look>()

  async function look(db: Db, now: Date): Promise<readonly string[]> {
    const all = await expiryStore.listPartitions(db)
    // Yesterday's too: a session may be created by a clock that is a little behind.
    const recent = [now, new Date(now.getTime() - DAY_MS)].map((day) => partitionName('sessions', day))
    const isSure = (name: string) => name === 'sessions_default' || recent.includes(name)
    const open = await expiryStore.findOpenIn(
      db,
      all.filter((name) => !isSure(name)),
    )
    return [...all.filter(isSure), ...open]
  }

  return {
    of(db: Db): Promise<readonly string[]> {
      const now = clock.now()
      const day = partitionName('sessions', now)
      const nowMs = clock.monotonicMs()
      const known = looks.get(db)
      if (known && known.day === day && nowMs < known.untilMs) return known.partitions
      const partitions = look(db, now)
      partitions.catch(() => looks.delete(db))
      looks.set(db, { day, untilMs: nowMs + LOOK_AGAIN_MS, partitions })
      return partitions
    },
    /** A partition is gone: the next call looks again. */
    forget(db: Db): void {
      looks.delete(db)
    },
  }
}
