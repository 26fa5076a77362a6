import { type Queryable, type Statement, sql } from '../platform/db.ts'
import { isSharedPartition, partitionTable, type Searched, type SpaceId, type SpaceRow } from './store.ts'
import { SEARCH_DIMENSION } from './vector.ts'

/** SQL for the codes of faces (face-codes.ts). Only spaces with a partition of their own have codes. */
export interface CodedSpace extends SpaceRow {
  vectors: number
  /** How many vectors of the space were ever deleted. */
  deleted: number
}

/** A comparison covers at most so many vectors that are newer than the codes. */
export const NEWER_MAX = 2_000
// The direction that all faces of a model share says nothing about a person. So many of the first vectors are enough to know it.
const MIDDLE_OF = 2_000

const SPACE = 'tenant_id = $1 and livemode = $2 and version = $3'
const COSINE = '-(v.embedding <#> $4::halfvec)'

const FIND_SPACES = sql(
  'faces.find_coded_spaces',
  `select s.tenant_id as "tenantId", s.livemode, s.version, s.shelf as "partition", s.last_seq::float8 as "lastSeq", s.vectors::float8 as vectors,
     (s.last_seq - s.vectors)::float8 as deleted
   from unnest($1::uuid[], $2::boolean[], $3::text[]) as asked (tenant_id, livemode, version), lateral (
     select * from face_spaces s
     where s.tenant_id = asked.tenant_id and s.livemode = asked.livemode and s.version = asked.version offset 0) s`,
)
// A number may occur a second time only after a repair of the space's count; then the newer deletion replaces the older.
const NOTE_DELETION = sql(
  'faces.note_deletion',
  `insert into face_deletions (tenant_id, livemode, version, deleted, seqs, deleted_at)
   select tenant_id, livemode, version, last_seq - vectors, $4, $5 from face_spaces where ${SPACE}
   on conflict (tenant_id, livemode, version, deleted) do update set seqs = excluded.seqs, deleted_at = excluded.deleted_at`,
)
const LIST_DELETIONS = sql(
  'faces.list_deletions',
  `select deleted::float8 as deleted, seqs::float8[] as seqs from face_deletions
   where ${SPACE} and deleted > $4 and deleted <= $5 order by deleted`,
)
const PURGE_DELETIONS = sql(
  'faces.purge_deletions',
  `delete from face_deletions where (tenant_id, livemode, version, deleted) in (
     select tenant_id, livemode, version, deleted from face_deletions where deleted_at < $1 order by deleted_at limit $2 for update skip locked)`,
)

/**
 * Compares candidates by primary key, and with them every vector that is newer than the codes, in one snapshot with the space's row. A
 * candidate that was deleted has no row and so does not count. `offset 0` keeps the plan at one look into the key for each.
 */
const comparisons = perPartition(
  'faces.compare_candidates',
  (table) =>
    `select s.shelf as "partition", s.last_seq::float8 as "lastSeq", n.* from face_spaces s left join lateral (
     select v.person_id as "personId", v.enroll_level as "enrollLevel", v.cosine from (
       select unnest($5::bigint[]) as seq
       union all select generate_series($6::bigint + 1, least(s.last_seq, $6::bigint + ${NEWER_MAX}))) c, lateral (
       select v.person_id, v.enroll_level, ${COSINE} as cosine from ${table} v
       where v.tenant_id = $1 and v.livemode = $2 and v.version = $3 and v.seq = c.seq offset 0) v
     order by v.cosine desc limit $7) n on true
   where s.tenant_id = $1 and s.livemode = $2 and s.version = $3`,
)
const middles = perPartition(
  'faces.find_middle',
  (table) =>
    `select avg(v.embedding)::text as middle from (
     select embedding from ${table} where ${SPACE} order by seq limit ${MIDDLE_OF}) v`,
)
// bit_send writes the number of bits in front, four bytes of it.
const records = perPartition(
  'faces.list_codes',
  (table) =>
    `select count(*)::int as count, coalesce(max(v.seq), 0)::float8 as "lastSeq",
     string_agg(int8send(v.seq) || substr(bit_send(binary_quantize(v.embedding - $4::halfvec)), 5), '' order by v.seq) as records
   from (select seq, embedding from ${table} where ${SPACE} and seq > $5 and seq <= $6 order by seq limit $7) v`,
)
const numbers = perPartition(
  'faces.list_coded_seqs',
  (table) =>
    `select count(*)::int as count, coalesce(max(v.seq), 0)::float8 as "lastSeq", string_agg(int8send(v.seq), '' order by v.seq) as seqs
   from (select seq from ${table} where ${SPACE} and seq > $4 and seq <= $5 order by seq limit $6) v`,
)

/** Few spaces have codes, so their statements are prepared. */
function perPartition(name: string, make: (table: string) => string) {
  const made = new Map<number, Statement>()
  return (partition: number): Statement => {
    const statement = made.get(partition) ?? sql(`${name}_${partition}`, make(partitionTable(partition)))
    made.set(partition, statement)
    return statement
  }
}

const space = ({ tenantId, livemode, version }: SpaceId) => [tenantId, livemode, version]

type Found = SpaceRow & { personId: string | null; enrollLevel: number | null; cosine: number | null }

interface Range {
  after: number
  upTo: number
  limit: number
}

export const codeStore = {
  /** The spaces of a cell as they are now; one that is gone has no row. */
  findSpaces: (db: Queryable, ids: readonly SpaceId[]): Promise<(SpaceId & CodedSpace)[]> =>
    db.rows(FIND_SPACES, [
      ids.map(({ tenantId }) => tenantId),
      ids.map(({ livemode }) => livemode),
      ids.map(({ version }) => version),
    ]),

  /** In the transaction that deletes the vectors, after the space's count was lowered. */
  async noteDeletion(
    tx: Queryable,
    id: SpaceId,
    { partition, seqs }: { partition: number; seqs: readonly number[] },
    now: Date,
  ): Promise<void> {
    if (!isSharedPartition(partition)) await tx.run(NOTE_DELETION, [...space(id), seqs, now])
  },
  listDeletions: (
    db: Queryable,
    id: SpaceId,
    { after, upTo }: Omit<Range, 'limit'>,
  ): Promise<{ deleted: number; seqs: number[] }[]> => db.rows(LIST_DELETIONS, [...space(id), after, upTo]),
  purgeDeletions: (db: Queryable, before: Date, limit: number): Promise<number> =>
    db.run(PURGE_DELETIONS, [before, limit]),

  /** The nearest of the candidates and of the vectors after `upTo`; undefined when the space does not exist. */
  async compare(
    db: Queryable,
    id: SpaceId,
    probe: { partition: number; embedding: Buffer; limit: number; seqs: readonly number[]; upTo: number },
  ): Promise<Searched | undefined> {
    const values = [...space(id), probe.embedding, probe.seqs, probe.upTo, probe.limit]
    const rows = await db.rows<Found>(comparisons(probe.partition), values)
    const [first] = rows
    return first && { partition: first.partition, lastSeq: first.lastSeq, neighbours: rows.flatMap(toNeighbour) }
  },

  /** The middle of a space's vectors, as PostgreSQL writes it. */
  async findMiddle(db: Queryable, id: SpaceId, partition: number): Promise<string> {
    const [row] = await db.rows<{ middle: string | null }>(middles(partition), space(id))
    return row?.middle ?? `[${Array.from({ length: SEARCH_DIMENSION }, () => 0).join()}]`
  },
  /** Numbers and codes one after the other, as code-pool.ts reads them. */
  async listCodes(
    db: Queryable,
    id: SpaceId,
    { partition, middle, after, upTo, limit }: Range & { partition: number; middle: string },
  ): Promise<{ count: number; lastSeq: number; records: Buffer }> {
    const values = [...space(id), middle, after, upTo, limit]
    const [row] = await db.rows<{ count: number; lastSeq: number; records: Buffer | null }>(records(partition), values)
    return { count: row?.count ?? 0, lastSeq: row?.lastSeq ?? 0, records: row?.records ?? Buffer.of() }
  },
  async listSeqs(
    db: Queryable,
    id: SpaceId,
    { partition, after, upTo, limit }: Range & { partition: number },
  ): Promise<{ count: number; lastSeq: number; seqs: number[] }> {
    const values = [...space(id), after, upTo, limit]
    const [row] = await db.rows<{ count: number; lastSeq: number; seqs: Buffer | null }>(numbers(partition), values)
    const bytes = row?.seqs ?? Buffer.of()
    const seqs = Array.from({ length: bytes.length / 8 }, (_, n) => Number(bytes.readBigUInt64BE(n * 8)))
    return { count: row?.count ?? 0, lastSeq: row?.lastSeq ?? 0, seqs }
  },
}

/** There is one row with the space even if no vector was found. */
function toNeighbour({ personId, enrollLevel, cosine }: Found) {
  return personId === null || enrollLevel === null || cosine === null ? [] : [{ personId, enrollLevel, cosine }]
}
