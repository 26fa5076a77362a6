import type { Queryable } from '../platform/db.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { removePersonMarks } from './provisional-persons.ts'
import { verificationStore } from './store.ts'

/** Deletes what area D keeps of a person, in the transaction that deletes the person. */
export async function erasePerson(tx: Queryable, owner: TenantData, personId: string): Promise<void> {
  await verificationStore.deletePerson(tx, owner, personId)
  await removePersonMarks(tx, owner, personId)
}
