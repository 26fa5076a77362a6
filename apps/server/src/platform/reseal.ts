import type { Cells } from './cells.ts'
import type { Db, Queryable } from './db.ts'
import type { OnUnreadable } from './key-vault.ts'

/** Rows that a master key has sealed. */
interface SealedRows<Place, Row extends Place, Opened> {
  /** Comes before every row. */
  first: Place
  /** Locks the next rows that another master key has sealed. */
  lock(tx: Queryable, after: Place): Promise<readonly Row[]>
  open(row: Row): Promise<Opened>
  /** Seals a row with the current master key. Returns how many rows that changed. */
  save(tx: Queryable, row: Row, opened: Opened): Promise<number>
  nameOf(row: Row): string
}

/**
 * Seals with the current master key what an older one sealed, a batch in each transaction. Safe to interrupt and to run twice. A row
 * that cannot be opened is reported and passed over.
 */
export async function resealAll<Place, Row extends Place, Opened>(
  cells: Cells,
  { first, lock, open, save, nameOf }: SealedRows<Place, Row, Opened>,
  { onUnreadable, onProgress }: { onUnreadable: OnUnreadable; onProgress?: (done: number) => void },
): Promise<number> {
  async function resealBatch(tx: Queryable, after: Place) {
    const batch = await lock(tx, after)
    let resealed = 0
    for (const row of batch) {
      const opened = await open(row).catch(() => undefined)
      if (opened === undefined) onUnreadable(nameOf(row))
      else resealed += await save(tx, row, opened)
    }
    return { resealed, last: batch.at(-1) }
  }

  let done = 0
  for (const { db } of cells.all()) {
    for (let after: Place | undefined = first; after !== undefined; ) {
      const place: Place = after
      const { resealed, last } = await db.transaction((tx) => resealBatch(tx, place))
      done += resealed
      onProgress?.(done)
      after = last
    }
  }
  return done
}

type KeyCounts = readonly { masterKeyId: string; count: number }[]

/** How many rows each master key has sealed, in all cells. */
export async function countByMasterKey(
  cells: Cells,
  countIn: (db: Db) => Promise<KeyCounts>,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const { db } of cells.all()) {
    for (const { masterKeyId, count } of await countIn(db))
      counts.set(masterKeyId, (counts.get(masterKeyId) ?? 0) + count)
  }
  return counts
}
