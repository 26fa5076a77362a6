import type { Recognition } from '../biometrics/index.ts'
import type { Db, Queryable } from '../platform/db.ts'
import { timeOfId } from '../platform/ids.ts'
import { type KeyOwner, type UnmadePerson, verificationStore } from './store.ts'

const BATCH = 50
/** Far longer than any session lives that could have made somebody, also where no worker ran to end it. */
const KEEP_MS = 70 * 86_400_000

/**
 * A session names somebody to the host. Whom another session made, that has not ended yet and may come to nothing, must not go with it:
 * so that is written down of everybody who is not older than such a session can be.
 */
export async function keepNamed(tx: Queryable, owner: KeyOwner, personId: string, now: Date): Promise<void> {
  const until = new Date(timeOfId(personId).getTime() + KEEP_MS)
  if (until > now) await verificationStore.keepPerson(tx, owner, personId, until)
  else await verificationStore.forgetUnmade(tx, owner, personId)
}

/** The person is being deleted, by whomever: nothing is noted of them any longer. In the transaction that deletes them. */
export async function forgetErased(tx: Queryable, owner: KeyOwner, personId: string): Promise<void> {
  await verificationStore.dropUnmade(tx, owner, personId)
}

/**
 * Deletes a person whom an ENROLL made that came to nothing. Whether that is so is written down in the transaction that ended the
 * session, so it is known after a crash too; a session that has named the same person to the host, before or since, has noted that they
 * stay. It holds the person while it does so: here that is asked, and the person deleted, while nobody holds them.
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
  while ((await verificationStore.purgeKept(db, now, BATCH)) === BATCH);
  for (;;) {
    const due = await verificationStore.findUnmade(db, now, BATCH)
    for (const person of due) await unmake(db, recognition, person)
    count += due.length
    if (due.length < BATCH) return count
  }
}
