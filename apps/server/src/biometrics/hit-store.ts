import { type Queryable, sql } from '../platform/db.ts'
import type { GroupId } from './group-keys.ts'

const PERSON = 'tenant_id = $1 and livemode = $2 and person_id = $3'

// A crash of the database loses the newest half second of counts, which is not worth a disk flush. A person who was deleted meanwhile
// gets no row. The other slots are read in the same snapshot, which does not show the row that is being written.
const ADD_HITS = sql(
  'faces.add_hits',
  `with relaxed as (select set_config('synchronous_commit', 'off', true)),
   added as (
     insert into face_hits (tenant_id, livemode, person_id, slot, hits)
     select p.tenant_id, p.livemode, p.person_id, $4, $5 from face_persons p, relaxed
     where p.tenant_id = $1 and p.livemode = $2 and p.person_id = $3
     on conflict (tenant_id, livemode, person_id, slot) do update set hits = face_hits.hits + excluded.hits
     returning slot, hits)
   select slot, hits from added
   union all select slot, hits from face_hits where ${PERSON} and slot >= $6 and slot <> $4`,
)
const DELETE_HITS = sql('faces.delete_hits', `delete from face_hits where ${PERSON}`)
const PURGE_HITS = sql(
  'faces.purge_hits',
  `delete from face_hits where (tenant_id, livemode, person_id, slot) in (
     select tenant_id, livemode, person_id, slot from face_hits where slot < $1 order by slot limit $2 for update skip locked)`,
)

export const hitStore = {
  /** Adds to the count of a slot. Returns all slots since the oldest one that counts. */
  add: (
    db: Queryable,
    { tenantId, livemode }: GroupId,
    personId: string,
    added: { slot: Date; hits: number; oldest: Date },
  ): Promise<{ slot: Date; hits: number }[]> =>
    db.rows(ADD_HITS, [tenantId, livemode, personId, added.slot, added.hits, added.oldest]),
  deletePerson: (tx: Queryable, { tenantId, livemode }: GroupId, personId: string): Promise<number> =>
    tx.run(DELETE_HITS, [tenantId, livemode, personId]),
  purge: (db: Queryable, before: Date, limit: number): Promise<number> => db.run(PURGE_HITS, [before, limit]),
}
