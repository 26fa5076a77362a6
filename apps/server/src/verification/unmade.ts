import type { Recognition } from '../biometrics/index.ts'
import type { Db, Queryable } from '../platform/db.ts'
import { type UnmadePerson, verificationStore } from './store.ts'

const BATCH = 50

/**
 * Deletes a person whom an ENROLL made that came to nothing. Whether that is so is written down in the transaction that ended the
 * session, so it is known after a crash too; another ENROLL that has met the same face meanwhile strikes it out, and the person stays.
 * It holds the person while it does so: here that is asked, and the person deleted, while nobody holds them.
 */
export async function unmake(db: Db, recognition: Recognition, person: UnmadePerson): Promise<void> {
  const strikeOut = (tx: Queryable) => verificationStore.forgetUnmade(tx, person, person.personId)
  const deleted = await recognition.delete(person, person.personId, async (tx) => (await strikeOut(tx)) > 0)
  // Somebody who was never made, or is gone already.
  if (!deleted) await strikeOut(db)
}

/** What processes that died have left. Returns how many. */
export async function unmakeDue(db: Db, recognition: Recognition, now: Date): Promise<number> {
  let count = 0
  for (;;) {
    const due = await verificationStore.findUnmade(db, now, BATCH)
    for (const person of due) await unmake(db, recognition, person)
    count += due.length
    if (due.length < BATCH) return count
  }
}
