import type pg from 'pg'
import { FIRST_OWN_PARTITION, partitionTable, type SpaceId } from './store.ts'

/** SQL that fills, creates and drops partitions. It runs on a dedicated client, without a statement limit. */
type Client = Pick<pg.ClientBase, 'query'>

export interface PlacedSpace extends SpaceId {
  partition: number
  vectors: number
  lastSeq: number
  /** Vectors up to this number have codes. */
  codedSeq: number
}

export interface SpaceStats extends PlacedSpace {
  tenantName: string
  persons: number
  /** Bytes of the partition's rows and of its indexes; null in a shared partition. */
  rowBytes: number | null
  indexBytes: number | null
}

// An arbitrary constant that must be the same in every release.
const LOCK_KEY = 7_305_811_247
const LOCK_TIMEOUT = '3s'
export const LOCK_NOT_AVAILABLE = '55P03'

const SPACE = 'tenant_id = $1 and livemode = $2 and version = $3'
const SPACE_COLUMNS = `s.tenant_id as "tenantId", s.livemode, s.version, s.shelf as "partition", s.vectors::float8 as vectors, s.last_seq::float8 as "lastSeq", s.coded_seq::float8 as "codedSeq"`
const space = ({ tenantId, livemode, version }: SpaceId) => [tenantId, livemode, version]

/** Only one process at a time creates or drops partitions of a cell. The lock ends with the connection. */
export async function lockPartitions(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [LOCK_KEY])
  return rows[0]?.locked === true
}

export async function listSpaces(client: Client): Promise<PlacedSpace[]> {
  const text = `select ${SPACE_COLUMNS} from face_spaces s order by s.tenant_id, s.livemode, s.version`
  return (await client.query<PlacedSpace>(text)).rows
}

export async function listStats(client: Client): Promise<SpaceStats[]> {
  const text = `select ${SPACE_COLUMNS}, t.name as "tenantName",
      (select count(*) from face_persons p where p.tenant_id = s.tenant_id and p.livemode = s.livemode)::float8 as persons,
      pg_relation_size(c.oid)::float8 as "rowBytes", pg_indexes_size(c.oid)::float8 as "indexBytes"
    from face_spaces s join tenants t on t.tenant_id = s.tenant_id
    left join pg_class c on s.shelf >= ${FIRST_OWN_PARTITION} and c.oid = to_regclass('face_vectors_' || s.shelf)
    order by t.name, s.tenant_id, s.livemode, s.version`
  return (await client.query<SpaceStats>(text)).rows
}

/** Bytes of everything area E stores in this cell. */
export async function measureSizes(client: Client): Promise<Record<'vectors' | 'hnsw' | 'other', number>> {
  const { rows } = await client.query<{ vectors: number; hnsw: number; other: number }>(`
    with partitions as (select c.oid from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'face_vectors'::regclass),
    indexes as (select x.indexrelid, a.amname from pg_index x join pg_class c on c.oid = x.indexrelid join pg_am a on a.oid = c.relam
      where x.indrelid in (select oid from partitions)),
    others as (select inhrelid as oid from pg_inherits where inhparent = 'face_templates'::regclass
      union all select unnest(array['face_persons', 'face_codes']::regclass[]))
    select coalesce((select sum(pg_table_size(oid)) from partitions), 0)::float8 as vectors,
      coalesce((select sum(pg_relation_size(indexrelid)) from indexes where amname = 'hnsw'), 0)::float8 as hnsw,
      coalesce((select sum(pg_total_relation_size(oid)) from others), 0)::float8
        + coalesce((select sum(pg_relation_size(indexrelid)) from indexes where amname <> 'hnsw'), 0)::float8 as other`)
  return rows[0] ?? { vectors: 0, hnsw: 0, other: 0 }
}

/** Creates an empty table that is not attached as a partition yet. */
export async function createPartition(client: Client): Promise<number> {
  const { rows } = await client.query<{ partition: number }>(`select nextval('face_shelf_numbers')::int as "partition"`)
  const partition = rows[0]?.partition ?? 0
  await client.query(`create table ${partitionTable(partition)} (like face_vectors including defaults)`)
  return partition
}

/** Deletes from a new partition the vectors of people who were deleted since they were copied, that is, who have no template. Returns how many. */
export async function dropDeleted(client: Client, id: SpaceId, partition: number): Promise<number> {
  const { rowCount } = await client.query(
    `delete from ${partitionTable(partition)} v where not exists (
       select 1 from face_templates t where t.tenant_id = $1 and t.livemode = $2 and t.version = $3 and t.seq = v.seq)`,
    space(id),
  )
  return rowCount ?? 0
}

export async function countVectors(client: Client, partition: number): Promise<{ count: number; lastSeq: number }> {
  const { rows } = await client.query<{ count: number; lastSeq: number }>(
    `select count(*)::float8 as count, coalesce(max(seq), 0)::float8 as "lastSeq" from ${partitionTable(partition)}`,
  )
  return rows[0] ?? { count: 0, lastSeq: 0 }
}

/** Adds keys and statistics after the rows: many times faster than row by row. */
export async function closePartition(client: Client, id: SpaceId, partition: number): Promise<void> {
  const table = partitionTable(partition)
  const owner = `shelf = ${partition} and tenant_id = '${id.tenantId}' and livemode = ${id.livemode} and version = '${id.version}'`
  await client.query(`alter table ${table} add constraint ${table}_owner check (${owner})`)
  await client.query(`alter table ${table} add primary key (tenant_id, livemode, version, seq, shelf)`)
  await client.query(`analyze ${table}`)
}

/** What the new partition holds, and how to add the vectors that came later. */
export interface Arrival {
  partition: number
  count: number
  lastSeq: number
  /** The last resort: finish under the lock, however long it takes, and correct the space's count. */
  thorough: boolean
  /** Adds the vectors after `afterSeq`; returns how many. */
  catchUp(afterSeq: number): Promise<number>
}

/**
 * Moves a space to its new partition in one short transaction under the space's lock: adds the last new vectors and checks that the
 * partition holds exactly as many vectors as the space has. If it does not, a person was deleted at the same time: the
 * transaction is rolled back, and the result is false.
 */
export async function moveSpace(client: Client, from: PlacedSpace, arrival: Arrival, now: Date): Promise<boolean> {
  const { partition } = arrival
  return inTransaction(client, async () => {
    await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`)
    const current = await lockSpaceRow(client, from)
    if (current.partition !== from.partition) throw new Error('Another process has moved the space')
    const added = await arrival.catchUp(arrival.lastSeq)
    const dropped = arrival.thorough ? await dropDeleted(client, from, partition) : 0
    const vectors = arrival.count + added - dropped
    if (vectors !== current.vectors && !arrival.thorough) throw new NotYet()
    await client.query(
      `alter table face_vectors attach partition ${partitionTable(partition)} for values in (${partition})`,
    )
    await setSpace(client, from, { partition, vectors })
    // A partition that held only this space is dropped as a whole later.
    if (from.partition < FIRST_OWN_PARTITION) {
      await clearSpace(client, from, from.partition)
      await client.query(
        `insert into face_vacuums_due (table_name, deleted_by, since) values ($1, pg_current_xact_id()::xid, $2)
         on conflict (table_name) do update set deleted_by = excluded.deleted_by`,
        [partitionTable(from.partition), now],
      )
    }
    return true
  }).catch((error: unknown) => {
    if (error instanceof NotYet) return false
    throw error
  })
}

class NotYet extends Error {}

/** Drops partitions that no space uses: replaced ones, and incomplete ones of a killed worker. */
export async function dropUnusedPartitions(client: Client): Promise<number> {
  const { rows } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c where c.relkind = 'r' and c.relname ~ '^face_vectors_[0-9]{4,}$'
       and pg_table_is_visible(c.oid) and not exists (select 1 from face_spaces s where 'face_vectors_' || s.shelf = c.relname)`,
  )
  let dropped = 0
  for (const { name } of rows) if (await dropPartition(client, name)) dropped++
  return dropped
}

/** False when a query still reads the partition: the next run tries again. */
async function dropPartition(client: Client, table: string): Promise<boolean> {
  try {
    await inTransaction(client, async () => {
      await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`)
      await client.query(`drop table ${table}`)
      await client.query('delete from face_vacuums_due where table_name = $1', [table])
    })
    return true
  } catch (error) {
    if ((error as { code?: string }).code === LOCK_NOT_AVAILABLE) return false
    throw error
  }
}

/**
 * Tables whose deleted rows no transaction, replica or slot can see any more, because none is older than the deletion. Small tables
 * come first. After a vacuum a table is skipped for a second per 10 MB of its size, so that a few deletions at a time do not
 * keep the disk busy all the time.
 */
export async function listVacuumsDue(client: Client): Promise<{ table: string; deletedBy: string }[]> {
  const { rows } = await client.query<{ table: string; deletedBy: string }>(
    `with holders as (
       select unnest(array[backend_xid, backend_xmin]) as xid from pg_stat_activity
         where pid <> pg_backend_pid() and (datname = current_database() or datname is null)
       union all select unnest(array[xmin, catalog_xmin]) from pg_replication_slots
       union all select transaction from pg_prepared_xacts where database = current_database())
     select d.table_name as table, d.deleted_by::text as "deletedBy" from face_vacuums_due d
     left join pg_stat_user_tables s on s.relid = to_regclass(d.table_name)
     where not exists (select 1 from holders h where h.xid is not null and age(h.xid) >= age(d.deleted_by))
       and (s.last_vacuum is null
         or now() - s.last_vacuum >= make_interval(secs => pg_total_relation_size(s.relid) / 10000000.0))
     order by pg_total_relation_size(s.relid) nulls first`,
  )
  return rows
}

/** Removes deleted rows from a table and its indexes. By default PostgreSQL skips indexes with few of them. */
export async function vacuum(client: Client, due: { table: string; deletedBy: string }): Promise<void> {
  const { rows } = await client.query<{ name: string | null }>('select to_regclass($1)::text as name', [due.table])
  if (rows[0]?.name) await client.query(`vacuum (index_cleanup on) ${rows[0].name}`)
  await client.query('delete from face_vacuums_due where table_name = $1 and deleted_by = $2::xid', [
    due.table,
    due.deletedBy,
  ])
}

export async function vacuumPartition(client: Client, partition: number): Promise<void> {
  await client.query(`vacuum (index_cleanup on) ${partitionTable(partition)}`)
}

/** Deletes a space's rows from a partition, so that the same transaction can write them again. */
export async function clearSpace(client: Client, id: SpaceId, partition: number): Promise<void> {
  const { rows } = await client.query('select 1 where to_regclass($1) is not null', [partitionTable(partition)])
  // A partition that was lost has no rows to delete.
  if (rows.length > 0) await client.query(`delete from ${partitionTable(partition)} where ${SPACE}`, space(id))
}

export async function inTransaction<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

export interface SealedTemplate {
  seq: number
  personId: string
  enrollLevel: number
  sealedVector: Buffer
  wrappedKey: Buffer
}

/** The sealed templates in the order of their numbers. */
export async function listTemplates(client: Client, id: SpaceId, range: { after: number; limit: number }) {
  const { rows } = await client.query<SealedTemplate>(
    `select t.seq::float8 as seq, t.person_id as "personId", t.enroll_level as "enrollLevel", t.sealed_vector as "sealedVector",
       p.wrapped_key as "wrappedKey"
     from face_templates t
     join face_persons p on p.tenant_id = t.tenant_id and p.livemode = t.livemode and p.person_id = t.person_id
     where t.tenant_id = $1 and t.livemode = $2 and t.version = $3 and t.seq > $4 order by t.seq limit $5`,
    [...space(id), range.after, range.limit],
  )
  return rows
}

export async function insertVector(
  client: Client,
  id: SpaceId,
  partition: number,
  row: { seq: number; personId: string; enrollLevel: number; embedding: Buffer },
): Promise<void> {
  await client.query({
    name: `faces.fill_${partition}`,
    text: `insert into ${partitionTable(partition)} (shelf, tenant_id, livemode, version, seq, person_id, enroll_level, embedding)
      values (${partition}, $1, $2, $3, $4, $5, $6, $7::halfvec)`,
    values: [...space(id), row.seq, row.personId, row.enrollLevel, row.embedding],
  })
}

export async function lockSpaceRow(
  client: Client,
  id: SpaceId,
): Promise<{ partition: number; lastSeq: number; vectors: number }> {
  const { rows } = await client.query<{ partition: number; lastSeq: number; vectors: number }>(
    `select shelf as "partition", last_seq::float8 as "lastSeq", vectors::float8 as vectors from face_spaces where ${SPACE} for update`,
    space(id),
  )
  if (!rows[0]) throw new Error('The space is gone')
  return rows[0]
}

/** The space is rebuilt: its vectors get new codes, because a damaged search copy had none or wrong ones. */
export async function setSpace(client: Client, id: SpaceId, to: { partition: number; vectors: number }): Promise<void> {
  await client.query(
    `with space as (update face_spaces set shelf = $4, vectors = $5, coded_seq = 0, middle = null where ${SPACE} returning tenant_id, number)
     delete from face_codes c using space where c.tenant_id = space.tenant_id and c.space = space.number`,
    [...space(id), to.partition, to.vectors],
  )
}
