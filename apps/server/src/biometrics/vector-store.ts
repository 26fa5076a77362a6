import { type Queryable, sql } from '../platform/db.ts'
import type { Neighbour, SpaceId } from './store.ts'

/** SQL for the search copies, whatever partition holds them. */

// A scan goes through pieces of a space, so that its plan is a look into the key. PostgreSQL plans it once for all spaces, and would read the whole
// table, with the vectors of everybody, if it believed that most spaces are large.
const PIECE = 1_000
const CODES_PIECE = 10_000

const SPACE = 'tenant_id = $1 and livemode = $2 and version = $3'
const VECTOR = `select v.person_id as "personId", v.enroll_level as "enrollLevel", -(v.embedding <#> $4::halfvec) as cosine`
const OF_SPACE = 'v.shelf = s.shelf and v.tenant_id = $1 and v.livemode = $2 and v.version = $3'

/**
 * In how many bits the codes of two vectors may differ that have at least this cosine: the mean and so many standard deviations. The middle is
 * what all vectors share; bits tell what differs from it. At exactly the cosine of a match one in 30,000 exceeds four, and at that of a near
 * miss, which the budget of hits counts, one in 40 exceeds two. Above it next to none does.
 */
const BITS_MAX = `select max(512 * share + deviations * sqrt(512 * share * (1 - share))) as bits_max
  from (values ($5::float8, 4), ($6::float8, 2)) as least_that_counts (cosine, deviations),
    lateral (select -(s.middle <#> s.middle) as shared) as of_middle,
    lateral (select acos(greatest(-1, least(1, (cosine - shared) / greatest(1 - shared, 0.01)))) / pi() as share) as angle`

/** The numbers of vectors whose codes are near that of the probe. */
const NEAR_CODES = `select near.seq from (${BITS_MAX}) as bound,
    lateral (select binary_quantize($4::halfvec - s.middle)::bit(512) as code offset 0) as probe,
    generate_series(0, s.coded_seq - 1, ${CODES_PIECE}) as piece (start),
    lateral (
      select c.seq from face_codes c
      where c.tenant_id = $1 and c.space = s.number and c.seq > piece.start and c.seq <= piece.start + ${CODES_PIECE}
        and c.code <~> probe.code <= bound.bits_max
      offset 0) as near`

/**
 * One snapshot: the space, the partition that it is in, and the nearest of all vectors. Vectors with a code are compared where the code is near, the
 * others all.
 */
const SEARCH = sql(
  'faces.search',
  `select s.last_seq::float8 as "lastSeq", s.coded_seq > 0 as "hasCodes", n.*
   from face_spaces s left join lateral (
     select wanted.code_of as "codeOf", v.* from (
       select seq - 1 as after, seq as up_to, seq as code_of from (${NEAR_CODES}) as near
       union all select start, start + ${PIECE}, null from generate_series(s.coded_seq, s.last_seq - 1, ${PIECE}) as piece (start)
     ) as wanted left join lateral (
       ${VECTOR} from face_vectors v
       where ${OF_SPACE} and v.seq > wanted.after and v.seq <= wanted.up_to offset 0
     ) as v on true
     order by v.cosine desc nulls last limit $7
   ) as n on true
   where ${SPACE}`,
)
const SEARCH_SINCE = sql(
  'faces.search_since',
  `select v.* from face_spaces s, generate_series($5::bigint, s.last_seq - 1, ${PIECE}) as piece (start), lateral (
     ${VECTOR} from face_vectors v where ${OF_SPACE} and v.seq > piece.start and v.seq <= piece.start + ${PIECE} offset 0) as v
   where ${SPACE} order by v.cosine desc limit 1`,
)
const COMPARE = sql(
  'faces.compare',
  `${VECTOR} from face_spaces s join face_vectors v on ${OF_SPACE} and v.seq = any($5) and v.person_id = $6
   where s.tenant_id = $1 and s.livemode = $2 and s.version = $3 order by cosine desc limit 1`,
)
const INSERT = sql(
  'faces.insert_vector',
  `insert into face_vectors (shelf, tenant_id, livemode, version, seq, person_id, enroll_level, embedding)
   values ($4, $1, $2, $3, $5, $6, $7, $8::halfvec)`,
)
const DELETE = sql('faces.delete_vectors', `delete from face_vectors where ${SPACE} and shelf = $4 and seq = any($5)`)

export interface Searched {
  /** The answer covers every vector up to this number. */
  lastSeq: number
  hasCodes: boolean
  neighbours: Neighbour[]
}

export interface Probe {
  embedding: Buffer
  limit: number
  /** The least cosines of a person who is recognised, and of a near miss. */
  enough: number
  near: number
}

type Found = Omit<Searched, 'neighbours'> & { codeOf: string | null } & {
  [K in keyof Neighbour]: Neighbour[K] | null
}

const space = ({ tenantId, livemode, version }: SpaceId) => [tenantId, livemode, version]

export const vectorStore = {
  /** The nearest vectors that count, nearest first; undefined when the space does not exist. There is one row with the space even if no vector was found. */
  async search(db: Queryable, id: SpaceId, probe: Probe): Promise<Searched | undefined> {
    const values = [...space(id), probe.embedding, probe.enough, probe.near, probe.limit]
    const rows = await db.rows<Found>(SEARCH, values)
    const [first] = rows
    if (!first) return undefined
    const neighbours = rows.flatMap(toNeighbour)
    // Every code has its vector in the same snapshot. If not, the search copy is damaged, or a process of the release before has moved the space to
    // a partition that this connection's plan does not have yet. Neither may look as if nobody were enrolled.
    if (neighbours.length === 0 && rows.some(({ codeOf }) => codeOf !== null)) throw new Error('A code has no vector')
    return { lastSeq: first.lastSeq, hasCodes: first.hasCodes, neighbours }
  },
  /** The nearest of the vectors after `afterSeq`. */
  async searchSince(
    db: Queryable,
    id: SpaceId,
    probe: { embedding: Buffer; afterSeq: number },
  ): Promise<Neighbour | undefined> {
    return (await db.rows<Neighbour>(SEARCH_SINCE, [...space(id), probe.embedding, probe.afterSeq]))[0]
  },
  /** The nearest vector of one person. */
  async compare(
    db: Queryable,
    id: SpaceId,
    probe: { embedding: Buffer; personId: string; seqs: readonly number[] },
  ): Promise<Neighbour | undefined> {
    return (await db.rows<Neighbour>(COMPARE, [...space(id), probe.embedding, probe.seqs, probe.personId]))[0]
  },
  insert: (
    tx: Queryable,
    id: SpaceId,
    { partition, personId, enrollLevel }: { partition: number; personId: string; enrollLevel: number },
    { seq, embedding }: { seq: number; embedding: Buffer },
  ): Promise<number> => tx.run(INSERT, [...space(id), partition, seq, personId, enrollLevel, embedding]),
  delete: (tx: Queryable, id: SpaceId, partition: number, seqs: readonly number[]): Promise<number> =>
    tx.run(DELETE, [...space(id), partition, seqs]),
}

function toNeighbour({ personId, enrollLevel, cosine }: Found): Neighbour[] {
  return personId === null || enrollLevel === null || cosine === null ? [] : [{ personId, enrollLevel, cosine }]
}
