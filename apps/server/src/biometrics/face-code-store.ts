import { type Queryable, sql } from '../platform/db.ts'
import type { SpaceId } from './store.ts'

/** SQL that gives vectors their codes (vector-store.ts searches them). */

// The direction that all faces of a model share says nothing about a person. So many vectors are enough to know it.
const MIDDLE_OF = 2_000

const SPACE = 'tenant_id = $1 and livemode = $2 and version = $3'
const OF_SPACE = 'v.shelf = s.shelf and v.tenant_id = s.tenant_id and v.livemode = s.livemode and v.version = s.version'

const LIST_BEHIND = sql(
  'faces.list_without_codes',
  `select tenant_id as "tenantId", livemode, version from face_spaces where last_seq - coded_seq > $1`,
)
const LOCK = sql(
  'faces.lock_for_codes',
  `select (last_seq - coded_seq)::float8 as "without" from face_spaces where ${SPACE} for update`,
)
const SET_MIDDLE = sql(
  'faces.set_middle',
  `update face_spaces s set middle = (
     select avg(first.embedding)::halfvec from (
       select v.embedding from face_vectors v where ${OF_SPACE} and v.seq > s.coded_seq order by v.seq limit ${MIDDLE_OF}) first)
   where ${SPACE} and middle is null`,
)
const ADD_CODES = sql(
  'faces.add_codes',
  `insert into face_codes (tenant_id, space, seq, code)
   select s.tenant_id, s.number, v.seq, binary_quantize(v.embedding - s.middle)::bit(512)
   from face_spaces s join face_vectors v on ${OF_SPACE} and v.seq > s.coded_seq and v.seq <= s.coded_seq + $4
   where s.tenant_id = $1 and s.livemode = $2 and s.version = $3`,
)
const NOTE_CODED = sql(
  'faces.note_coded',
  `update face_spaces set coded_seq = least(last_seq, coded_seq + $4) where ${SPACE}`,
)

const space = ({ tenantId, livemode, version }: SpaceId) => [tenantId, livemode, version]

export const faceCodeStore = {
  /** The spaces with more than so many vectors that have no code. */
  listBehind: (db: Queryable, without: number): Promise<SpaceId[]> => db.rows(LIST_BEHIND, [without]),
  /** How many vectors of the space have no code. Its enrolments and deletions wait until the transaction ends. */
  async lock(tx: Queryable, id: SpaceId): Promise<number> {
    return (await tx.rows<{ without: number }>(LOCK, space(id)))[0]?.without ?? 0
  },
  /** Codes for the next vectors of a space, and the middle if it has none. */
  async addCodes(tx: Queryable, id: SpaceId, most: number): Promise<void> {
    await tx.run(SET_MIDDLE, space(id))
    await tx.run(ADD_CODES, [...space(id), most])
    await tx.run(NOTE_CODED, [...space(id), most])
  },
}
