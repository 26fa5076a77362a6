import { RUN_LIMITS } from '@ostiary/contract'
import { type Queryable, sql } from '../platform/db.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import type { Hit } from './engine/hits.ts'

export interface StoredRun {
  id: string
  dataset: string
  series: string | null
  version: string | null
  scorerVersion: string | null
  threshold: number | null
  /** By number; null where a part is missing. */
  partRows: (number | null)[]
  hits: number
  startedAt: Date
  completedAt: Date | null
}

/** Runs that count: complete ones after the first moment, open ones after the second. */
export interface Kept {
  completeAfter: Date
  openAfter: Date
}

/** A hit of one run, or of two: what only one of them has is null for the other. */
export interface StoredHit {
  rowKey: Buffer
  entityKey: Buffer
  score: number | null
  earlierScore: number | null
}

export interface RunFilter {
  beforeId: string | undefined
  dataset: string | undefined
  series: string | undefined
  isComplete: boolean | undefined
  limit: number
}

export interface HitPosition {
  rowKey: Buffer
  entityKey: Buffer
}

// An array whose first element was set at 2 begins at 2: its missing parts are written out.
const PART_ROWS = `coalesce((select array_agg(part_rows[n] order by n) from generate_series(1, array_upper(part_rows, 1)) n), '{}')`
const COLUMNS = `run_id as id, dataset, series, list_version as version, scorer_version as "scorerVersion", threshold,
  ${PART_ROWS} as "partRows", hits, started_at as "startedAt", completed_at as "completedAt"`
const MINE = 'tenant_id = $1 and livemode = $2'
const KEPT = '(completed_at > $4 or (completed_at is null and started_at > $5))'

const INSERT = sql(
  'runs.insert',
  `insert into screening_runs (tenant_id, livemode, run_id, dataset, series, started_at) values ($1, $2, $3, $4, $5, $6)`,
)
const COUNT = sql('runs.count', `select count(*)::int as count from screening_runs where ${MINE}`)
const FIND = sql('runs.find', `select ${COLUMNS} from screening_runs where ${MINE} and run_id = $3 and ${KEPT}`)
const LOCK = sql('runs.lock', `select ${COLUMNS} from screening_runs where ${MINE} and run_id = $3 for update`)
const LIST = sql(
  'runs.list',
  `select ${COLUMNS} from screening_runs where ${MINE} and run_id < $3 and ${KEPT} and ($6::text is null or dataset = $6)
   and ($7::text is null or series = $7) and ($8::boolean is null or (completed_at is not null) = $8) order by run_id desc limit $9`,
)
const DELETE = sql('runs.delete', `delete from screening_runs where ${MINE} and run_id = $3`)
const COMPLETE = sql('runs.complete', `update screening_runs set completed_at = $4 where ${MINE} and run_id = $3`)
const FORGET_PART = sql('runs.forget_part', `delete from screening_hits where ${MINE} and run_id = $3 and part = $4`)
const ADD_HITS = sql(
  'runs.add_hits',
  `insert into screening_hits (tenant_id, livemode, run_id, part, row_key, entity_key, facts, score)
   select $1, $2, $3, $4, * from unnest($5::bytea[], $6::bytea[], $7::bytea[], $8::smallint[])
   on conflict (tenant_id, livemode, run_id, row_key, entity_key) do update
     set part = excluded.part, facts = excluded.facts, score = excluded.score where excluded.score > screening_hits.score`,
)
const ADD_PART = sql(
  'runs.add_part',
  `update screening_runs set part_rows[$4] = $5, list_version = $6, scorer_version = $7, threshold = $8,
     hits = (select count(*) from screening_hits where ${MINE} and run_id = $3)
   where ${MINE} and run_id = $3 returning hits`,
)
const HITS = sql(
  'runs.hits',
  `select row_key as "rowKey", entity_key as "entityKey", score, null as "earlierScore" from screening_hits
   where ${MINE} and run_id = $3 and (row_key, entity_key) > ($4, $5) order by row_key, entity_key limit $6`,
)
// Both runs in the order of their keys, so many hits of each. Where either has more, the comparison ends at the first of the two keys that were
// reached, because what the other run has behind it was not read.
const DIFFERENCES = sql(
  'runs.differences',
  `with now as (select row_key, entity_key, score, facts from screening_hits
       where ${MINE} and run_id = $3 and (row_key, entity_key) > ($4, $5) order by row_key, entity_key limit $8),
     earlier as (select row_key, entity_key, score, facts from screening_hits
       where ${MINE} and run_id = $7 and (row_key, entity_key) > ($4, $5) order by row_key, entity_key limit $8),
     cuts as ((select row_key, entity_key from now order by row_key, entity_key offset $8 - 1)
       union all (select row_key, entity_key from earlier order by row_key, entity_key offset $8 - 1)),
     reached as (select row_key, entity_key from cuts order by row_key, entity_key limit 1),
     changed as (select row_key, entity_key, now.score, earlier.score as earlier_score
       from now full join earlier using (row_key, entity_key)
       where (now.score is null or earlier.score is null or now.score <> earlier.score or now.facts <> earlier.facts)
         and (not exists (select from reached) or (row_key, entity_key) <= (select row_key, entity_key from reached))
       order by row_key, entity_key limit $6)
   select c.row_key as "rowKey", c.entity_key as "entityKey", c.score, c.earlier_score as "earlierScore",
     r.row_key as "reachedRowKey", r.entity_key as "reachedEntityKey"
   from (select) one left join changed c on true left join reached r on true order by c.row_key, c.entity_key`,
)
// Walks from tenant to tenant by the primary key instead of reading every run.
const LIST_TENANTS = sql(
  'runs.list_tenants',
  `with recursive walk as (
     (select tenant_id from screening_runs order by tenant_id limit 1)
     union all
     select (select r.tenant_id from screening_runs r where r.tenant_id > walk.tenant_id order by r.tenant_id limit 1)
     from walk where walk.tenant_id is not null)
   select tenant_id as "tenantId" from walk where tenant_id is not null`,
)
const PURGE = sql(
  'runs.purge',
  `delete from screening_runs where tenant_id = $1 and (livemode, run_id) in (
     select livemode, run_id from screening_runs
     where tenant_id = $1 and not (coalesce(completed_at > $2, false) or (completed_at is null and started_at > $3))
     limit $4 for update skip locked)`,
)

/** A row of the comparison: what was reached, beside a difference if there is one. */
type Compared = { [Name in keyof StoredHit]: StoredHit[Name] | null } & {
  reachedRowKey: Buffer | null
  reachedEntityKey: Buffer | null
}

const AFTER_ALL = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const HITS_PER_STATEMENT = 5_000

export const runStore = {
  async insert(db: Queryable, owner: TenantData, run: Pick<StoredRun, 'id' | 'dataset' | 'series' | 'startedAt'>) {
    await db.run(INSERT, [owner.tenantId, owner.livemode, run.id, run.dataset, run.series, run.startedAt])
  },
  async count(db: Queryable, owner: TenantData): Promise<number> {
    return (await db.rows<{ count: number }>(COUNT, [owner.tenantId, owner.livemode]))[0]?.count ?? 0
  },
  async find(db: Queryable, owner: TenantData, id: string, kept: Kept): Promise<StoredRun | undefined> {
    const values = [owner.tenantId, owner.livemode, id, kept.completeAfter, kept.openAfter]
    return (await db.rows<StoredRun>(FIND, values))[0]
  },
  async lock(tx: Queryable, owner: TenantData, id: string): Promise<StoredRun | undefined> {
    return (await tx.rows<StoredRun>(LOCK, [owner.tenantId, owner.livemode, id]))[0]
  },
  /** Newest first, and whether more follow. */
  async list(
    db: Queryable,
    owner: TenantData,
    kept: Kept,
    filter: RunFilter,
  ): Promise<{ rows: StoredRun[]; more: boolean }> {
    const { beforeId = AFTER_ALL, dataset, series, isComplete, limit } = filter
    const found = await db.rows<StoredRun>(LIST, [
      ...[owner.tenantId, owner.livemode, beforeId, kept.completeAfter, kept.openAfter],
      ...[dataset ?? null, series ?? null, isComplete ?? null, limit + 1],
    ])
    return { rows: found.slice(0, limit), more: found.length > limit }
  },
  delete: (db: Queryable, owner: TenantData, id: string): Promise<number> =>
    db.run(DELETE, [owner.tenantId, owner.livemode, id]),
  complete: (tx: Queryable, owner: TenantData, id: string, at: Date): Promise<number> =>
    tx.run(COMPLETE, [owner.tenantId, owner.livemode, id, at]),
  /** Replaces what the part had stored before. Returns the hits of the whole run. */
  async storePart(
    tx: Queryable,
    owner: TenantData,
    part: {
      runId: string
      number: number
      rows: number
      version: string
      scorerVersion: string
      threshold: number
      hits: readonly Hit[]
    },
  ): Promise<number> {
    const run = [owner.tenantId, owner.livemode, part.runId, part.number]
    await tx.run(FORGET_PART, run)
    for (let at = 0; at < part.hits.length; at += HITS_PER_STATEMENT) {
      const some = part.hits.slice(at, at + HITS_PER_STATEMENT)
      const [rowKeys, entityKeys] = [some.map(({ rowKey }) => rowKey), some.map(({ entityKey }) => entityKey)]
      await tx.run(ADD_HITS, [
        ...[...run, rowKeys, entityKeys],
        ...[some.map(({ facts }) => facts), some.map(({ score }) => score)],
      ])
    }
    const values = [...run, part.rows, part.version, part.scorerVersion, part.threshold]
    return (await tx.rows<{ hits: number }>(ADD_PART, values))[0]?.hits ?? 0
  },
  hits(
    db: Queryable,
    owner: TenantData,
    { id, after, limit }: { id: string; after: HitPosition; limit: number },
  ): Promise<StoredHit[]> {
    return db.rows(HITS, [owner.tenantId, owner.livemode, id, after.rowKey, after.entityKey, limit])
  },
  /** What differs, and the key that was reached; null at the end of both runs. */
  async differences(
    db: Queryable,
    owner: TenantData,
    { id, since, after, limit }: { id: string; since: string; after: HitPosition; limit: number },
  ): Promise<{ hits: StoredHit[]; reached: HitPosition | null }> {
    const page = [after.rowKey, after.entityKey, limit]
    const values = [owner.tenantId, owner.livemode, id, ...page, since, RUN_LIMITS.hitsPerComparison]
    const rows = await db.rows<Compared>(DIFFERENCES, values)
    const { reachedRowKey: rowKey = null, reachedEntityKey: entityKey = null } = rows[0] ?? {}
    const hits = rows.filter((row): row is Compared & StoredHit => row.rowKey !== null)
    return { hits, reached: rowKey && entityKey && { rowKey, entityKey } }
  },
  async tenants(db: Queryable): Promise<string[]> {
    return (await db.rows<{ tenantId: string }>(LIST_TENANTS)).map(({ tenantId }) => tenantId)
  },
  purge: (db: Queryable, tenantId: string, { completeAfter, openAfter }: Kept, limit: number): Promise<number> =>
    db.run(PURGE, [tenantId, completeAfter, openAfter, limit]),
}
