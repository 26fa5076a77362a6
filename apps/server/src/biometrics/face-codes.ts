import type { Db } from '../platform/db.ts'
import { faceCodeStore } from './face-code-store.ts'
import type { SpaceId } from './store.ts'

// So many vectors without a code are compared one by one in a few milliseconds.
const EXACT_MAX = 2_000
// Enrolments of the space wait for so many: a tenth of a second.
const BATCH = 5_000

/** Gives every vector of large spaces its code. Returns how many spaces lacked some. */
export async function codeAllFaces(db: Db): Promise<number> {
  const behind = await faceCodeStore.listBehind(db, EXACT_MAX)
  for (const space of behind) await codeFaces(db, space)
  return behind.length
}

/** Gives every vector of a space its code. Processes that do it side by side take turns at the row of the space. */
export async function codeFaces(db: Db, space: SpaceId): Promise<void> {
  while (await codeBatch(db, space));
}

/** False when every vector of the space has a code. */
function codeBatch(db: Db, space: SpaceId): Promise<boolean> {
  return db.transaction(async (tx) => {
    if ((await faceCodeStore.lock(tx, space)) === 0) return false
    await faceCodeStore.addCodes(tx, space, BATCH)
    return true
  })
}
