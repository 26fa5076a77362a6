import type { Recognition } from '../biometrics/index.ts'
import { DAY_MS } from '../platform/clock.ts'
import type { Db, Queryable } from '../platform/db.ts'
import { timeOfId } from '../platform/ids.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { type ProvisionalPerson, verificationStore } from './store.ts'

const BATCH = 50
/** Longer than any session that could have created the person stays open, even where no worker runs to expire it. */
const CONFIRMED_MS = 70 * DAY_MS

/**
 * A session reports this person to the host. Another open ENROLL may have created the person: mark them as confirmed, so that the
 * failure of that ENROLL does not delete them. A person who is older than any open session needs no mark.
 */
export async function confirmPerson(tx: Queryable, owner: TenantData, personId: string, now: Date): Promise<void> {
  const until = new Date(timeOfId(personId).getTime() + CONFIRMED_MS)
  if (until > now) await verificationStore.confirmPerson(tx, owner, personId, until)
  else await verificationStore.deleteDiscardMark(tx, owner, personId)
}

/** Deletes what area D keeps of a person, in the transaction that deletes the person. */
export async function erasePerson(tx: Queryable, owner: TenantData, personId: string): Promise<void> {
  await verificationStore.deletePerson(tx, owner, personId)
  await verificationStore.deletePersonMarks(tx, owner, personId)
}

/**
 * Deletes a person whose ENROLL failed. The transaction that ended the session wrote the discard mark, so the mark survives a crash.
 * A session that reports the same person to the host replaces the mark by a confirmation, and locks the person while it does so.
 * `recognition.delete` waits for that lock and then checks the mark, so a confirmed person stays.
 */
export async function discardPerson(db: Db, recognition: Recognition, person: ProvisionalPerson): Promise<void> {
  const deleteMark = (tx: Queryable) => verificationStore.deleteDiscardMark(tx, person, person.personId)
  const deleted = await recognition.delete(person, person.personId, async (tx) => (await deleteMark(tx)) > 0)
  // The enrolment never stored the person, or the person is deleted already: only the mark is left.
  if (!deleted) await deleteMark(db)
}

/** Deletes the people that failed enrolments of crashed processes left behind. Returns how many. */
export async function discardOrphanedEnrolments(db: Db, recognition: Recognition, now: Date): Promise<number> {
  let count = 0
  while ((await verificationStore.purgeConfirmations(db, now, BATCH)) === BATCH);
  for (;;) {
    const due = await verificationStore.findDiscardable(db, now, BATCH)
    for (const person of due) await discardPerson(db, recognition, person)
    count += due.length
    if (due.length < BATCH) return count
  }
}
