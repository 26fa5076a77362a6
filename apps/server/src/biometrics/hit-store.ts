import { columns } from '../platform/columns.ts'
import { type Queryable, sql } from '../platform/db.ts'
import type { GroupId } from './group-keys.ts'

const PERSON = 'tenant_id = $1 and livemode = $2 and person_id = $3'

// A crash of the database loses the newest half second of counts, which is not worth a disk flush. A person who was deleted meanwhile
// gets no row. Ordered, so that two statements with the same people never deadlock. `offset 0` keeps the plan at one look into the index per
// person: a join that was planned while the table was small reads the whole table when it has grown (0.3 ms became 130 ms at 300,000 rows).
const ADD_HITS = sql(
  'faces.add_hits',
  `with relaxed as (select set_config('synchronous_commit', 'off', true))
   insert into face_hits (tenant_id, livemode, person_id, slot, hits)
   select asked.tenant_id, asked.livemode, asked.person_id, $5::timestamptz, asked.hits
   from relaxed, unnest($1::uuid[], $2::boolean[], $3::uuid[], $4::integer[]) as asked (tenant_id, livemode, person_id, hits), lateral (
     select from face_persons p
     where p.tenant_id = asked.tenant_id and p.livemode = asked.livemode and p.person_id = asked.person_id offset 0) known
   order by asked.tenant_id, asked.livemode, asked.person_id
   on conflict (tenant_id, livemode, person_id, slot) do update set hits = face_hits.hits + excluded.hits`,
)
const FIND_HITS = sql(
  'faces.find_hits',
  `select asked.tenant_id as "tenantId", asked.livemode, asked.person_id as "personId", stored.slot, stored.hits
   from unnest($1::uuid[], $2::boolean[], $3::uuid[]) as asked (tenant_id, livemode, person_id), lateral (
     select h.slot, h.hits from face_hits h
     where h.tenant_id = asked.tenant_id and h.livemode = asked.livemode and h.person_id = asked.person_id
       and h.slot >= $4::timestamptz offset 0) stored`,
)
const DELETE_HITS = sql('faces.delete_hits', `delete from face_hits where ${PERSON}`)
const PURGE_HITS = sql(
  'faces.purge_hits',
  `delete from face_hits where (tenant_id, livemode, person_id, slot) in (
     select tenant_id, livemode, person_id, slot from face_hits where slot < $1 order by slot limit $2 for update skip locked)`,
)

export interface AddedHits extends GroupId {
  personId: string
  hits: number
}

export const hitStore = {
  /** Adds to the counts of a slot. Each person may occur once only. */
  add: (db: Queryable, slot: Date, persons: readonly AddedHits[]): Promise<number> =>
    db.run(ADD_HITS, [...columns(persons, 'tenantId', 'livemode', 'personId', 'hits'), slot]),
  /** All slots of these people since the oldest one. */
  find: (
    db: Queryable,
    oldest: Date,
    persons: readonly AddedHits[],
  ): Promise<(GroupId & { personId: string; slot: Date; hits: number })[]> =>
    db.rows(FIND_HITS, [...columns(persons, 'tenantId', 'livemode', 'personId'), oldest]),
  deletePerson: (tx: Queryable, { tenantId, livemode }: GroupId, personId: string): Promise<number> =>
    tx.run(DELETE_HITS, [tenantId, livemode, personId]),
  purge: (db: Queryable, before: Date, limit: number): Promise<number> => db.run(PURGE_HITS, [before, limit]),
}
