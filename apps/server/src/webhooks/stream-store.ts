import { AREA_LETTERS, type SessionArea } from '@ostiary/contract'
import { columns } from '../platform/columns.ts'
import { type Db, type Queryable, sql } from '../platform/db.ts'
import { timeOfId } from '../platform/ids.ts'
import type { Sealed } from '../platform/key-vault.ts'
import type { TenantData } from '../platform/tenant-data.ts'

/** SQL of the event stream. */

export interface NewStreamEvent extends TenantData {
  id: string
  area: SessionArea
  event: string
  subjectId: string
  sequence: number
  keyId: string
  sealed: Sealed
  purgeAt: Date
}

export interface StoredStreamEvent {
  id: string
  createdAt: Date
  area: SessionArea
  event: string
  subjectId: string
  sequence: number
  keyId: string
  masterKeyId: string
  blob: Buffer
  position: number
}

/** How far a stream is: the last place that was given, and whether committed events wait for one. */
export interface StreamState {
  last: number
  hasUnplaced: boolean
}

export interface StreamRange {
  after: number
  upTo: number
  areas: readonly SessionArea[]
  now: Date
}

const INSERT = sql(
  'stream.insert',
  `insert into stream_events (tenant_id, event_id, livemode, created_at, area, event, subject_id, sequence, key_id, sealed, master_key_id, purge_at)
   select * from unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::timestamptz[], $5::text[], $6::text[], $7::uuid[], $8::int[],
     $9::uuid[], $10::bytea[], $11::text[], $12::timestamptz[])`,
)

const MINE = 'tenant_id = $1 and livemode = $2'
// Positions are counts of events: far below the integers that a double can hold.
const LOOK = sql(
  'stream.look',
  `select coalesce((select last from stream_positions where ${MINE}), 0)::float8 as last,
     exists (select 1 from stream_events where ${MINE} and position is null) as "hasUnplaced"`,
)

const PLACE_BATCH = 1_000
const BEGIN_STREAM = sql(
  'stream.begin',
  'insert into stream_positions (tenant_id, livemode) values ($1, $2) on conflict do nothing',
)
const LOCK = sql('stream.lock', `select last::float8 as last from stream_positions where ${MINE} for update`)
// A statement of its own after the lock: it sees everything that was committed before the lock was granted. An event that is being erased or
// purged is passed over, because a purge locks events first and then this stream.
const PLACE = sql(
  'stream.place',
  `with fresh as materialized (
     select event_id, created_at from stream_events where ${MINE} and position is null
     order by created_at, event_id limit ${PLACE_BATCH} for update skip locked
   ), numbered as (
     select event_id, row_number() over (order by created_at, event_id) as number from fresh
   )
   update stream_events e set position = $3 + n.number from numbered n where e.tenant_id = $1 and e.event_id = n.event_id`,
)
const ADVANCE = sql('stream.advance', `update stream_positions set last = last + $3 where ${MINE}`)

const IN_RANGE = `${MINE} and position > $3 and position <= $4 and area = any($5::text[])`
const READ = sql(
  'stream.read',
  `select event_id as id, created_at as "createdAt", area, event, subject_id as "subjectId", sequence, key_id as "keyId",
     master_key_id as "masterKeyId", sealed as blob, position::float8 as position
   from stream_events where ${IN_RANGE} and purge_at > $6 order by position limit $7`,
)
const MISSED = sql(
  'stream.missed',
  `select exists (select 1 from stream_positions where ${MINE} and forgotten > $3)
     or exists (select 1 from stream_events where ${IN_RANGE} and purge_at <= $6) as missed`,
)

const PURGE_BATCH = 1_000
// Readers learn that they missed something: the stream remembers the last place that was purged. Events that never got a place take one.
const PURGE = sql(
  'stream.purge',
  `with old as materialized (
     select tenant_id, event_id from stream_events where purge_at <= $1 order by purge_at limit ${PURGE_BATCH} for update skip locked
   ), gone as (
     delete from stream_events e using old o where e.tenant_id = o.tenant_id and e.event_id = o.event_id
     returning e.tenant_id, e.livemode, e.position
   ), ends as (
     select tenant_id, livemode, coalesce(max(position), 0) as highest, bool_or(position is null) as unplaced from gone group by 1, 2
     order by 1, 2
   ), noted as (
     update stream_positions p set last = p.last + e.unplaced::int,
       forgotten = case when e.unplaced then p.last + 1 else greatest(p.forgotten, e.highest) end
     from ends e where p.tenant_id = e.tenant_id and p.livemode = e.livemode
   )
   select count(*)::int as removed from gone`,
)
const ERASE = sql('stream.erase', `delete from stream_events where ${MINE} and subject_id = $3`)
const SHIFT = sql(
  'stream.shift',
  `update stream_events set purge_at = purge_at - $2 * interval '1 ms' where tenant_id = $1 and not livemode`,
)
const COUNT_BY_MASTER_KEY = sql(
  'stream.count_by_master_key',
  'select master_key_id as "masterKeyId", count(*)::int as count from stream_events group by master_key_id',
)

export const streamStore = {
  async insert(db: Queryable, events: readonly NewStreamEvent[]): Promise<void> {
    await db.run(INSERT, [
      ...columns(events, 'tenantId', 'id', 'livemode'),
      events.map(({ id }) => timeOfId(id).toISOString()),
      events.map(({ area }) => AREA_LETTERS[area]),
      ...columns(events, 'event', 'subjectId', 'sequence', 'keyId'),
      events.map(({ sealed }) => sealed.blob),
      events.map(({ sealed }) => sealed.masterKeyId),
      events.map(({ purgeAt }) => purgeAt.toISOString()),
    ])
  },

  async look(db: Queryable, { tenantId, livemode }: TenantData): Promise<StreamState> {
    const [found] = await db.rows<StreamState>(LOOK, [tenantId, livemode])
    return found ?? { last: 0, hasUnplaced: false }
  },

  /** Gives places to committed events, in the order of their creation. Returns the last place. Readers of one stream take turns. */
  place: (db: Db, { tenantId, livemode }: TenantData): Promise<number> =>
    db.transaction(async (tx) => {
      const owner = [tenantId, livemode]
      await tx.run(BEGIN_STREAM, owner)
      let last = (await tx.rows<{ last: number }>(LOCK, owner))[0]?.last ?? 0
      for (let placed = PLACE_BATCH; placed === PLACE_BATCH; ) {
        placed = await tx.run(PLACE, [...owner, last])
        if (placed > 0) await tx.run(ADVANCE, [...owner, placed])
        last += placed
      }
      return last
    }),

  async read(db: Queryable, owner: TenantData, range: StreamRange, limit: number): Promise<StoredStreamEvent[]> {
    type Row = Omit<StoredStreamEvent, 'area'> & { area: string }
    const rows = await db.rows<Row>(READ, [...valuesOf(owner, range), limit])
    return rows.map((row) => ({ ...row, area: row.area === AREA_LETTERS.age ? 'age' : 'verification' }))
  },
  /** Whether events of this range were deleted by retention before they were read. */
  async hasMissed(db: Queryable, owner: TenantData, range: StreamRange): Promise<boolean> {
    return (await db.rows<{ missed: boolean }>(MISSED, valuesOf(owner, range)))[0]?.missed === true
  },

  purgeBatch: PURGE_BATCH,
  async purge(db: Queryable, now: Date): Promise<number> {
    return (await db.rows<{ removed: number }>(PURGE, [now]))[0]?.removed ?? 0
  },
  /** In the caller's transaction. */
  erase: (tx: Queryable, { tenantId, livemode }: TenantData, subjectId: string): Promise<number> =>
    tx.run(ERASE, [tenantId, livemode, subjectId]),
  shift: (db: Queryable, tenantId: string, ms: number): Promise<number> => db.run(SHIFT, [tenantId, ms]),
  countByMasterKey: (db: Queryable): Promise<{ masterKeyId: string; count: number }[]> => db.rows(COUNT_BY_MASTER_KEY),
}

function valuesOf({ tenantId, livemode }: TenantData, { after, upTo, areas, now }: StreamRange): unknown[] {
  return [tenantId, livemode, after, upTo, areas.map((area) => AREA_LETTERS[area]), now]
}
