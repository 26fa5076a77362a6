import { AREA_LETTERS, type PURGED, type SessionArea } from '@ostiary/contract'
import { columns } from '../platform/columns.ts'
import { dayOf, dayStatement, NO_DAY, onDay } from '../platform/day-statement.ts'
import { type Db, type Queryable, sql } from '../platform/db.ts'
import { PLAN_FOR_VALUES } from '../platform/plan-mode.ts'
import type { FinalState, SessionState } from './states.ts'

/** The clear part of a session. */
export interface SessionRow {
  tenantId: string
  createdAt: Date
  sessionId: string
  livemode: boolean
  area: SessionArea
  keyId: string
  state: SessionState
  tokenHash: Buffer
  expiresAt: Date
  dueAt: Date
  endedAt: Date | null
  purgeAt: Date | null
}

/** The sealed part; absent once the session is purged. */
export interface SecretsRow {
  sealedKey: Buffer | null
  masterKeyId: string | null
  request: Buffer | null
  progress: Buffer | null
  result: Buffer | null
  returnTicket: Buffer | null
}

/** A row has the state `PURGED` when it is a tombstone. */
export type StoredState = SessionState | typeof PURGED
export type StoredSession = Omit<SessionRow, 'state'> & { state: StoredState } & SecretsRow & Partial<SessionPlace>

/** Where a row was read, and what it was then. */
export interface SessionPlace {
  /** Ends the names of the partitions that have the row. */
  day: string
  /** Raised by every change of the row, also by those of the last release. */
  version: number
}
/** The whole primary key of a row, so that a statement reads one partition only. */
export type SessionKey = Pick<SessionRow, 'tenantId' | 'createdAt' | 'sessionId'>

export type SessionOwner = Pick<SessionRow, 'tenantId' | 'livemode' | 'area'>

// The column holds a letter, which is part of the primary key.
const AREA = `case s.area when '${AREA_LETTERS.age}' then 'age' when '${AREA_LETTERS.verification}' then 'verification' end as area`
export const CLEAR = `s.tenant_id as "tenantId", s.created_at as "createdAt", s.session_id as "sessionId", s.livemode, ${AREA},
  s.key_id as "keyId", s.state, s.token_hash as "tokenHash", s.expires_at as "expiresAt", s.due_at as "dueAt",
  s.ended_at as "endedAt", s.purge_at as "purgeAt"`
export const SEALED = `v.sealed_key as "sealedKey", v.master_key_id as "masterKeyId", v.request, v.progress, v.result, v.return_ticket as "returnTicket"`
/** What a list shows of the sealed part. A result may hold a picture. */
export const LISTED_SECRETS = `v.sealed_key as "sealedKey", v.master_key_id as "masterKeyId", v.request,
  null::bytea as progress, null::bytea as result, null::bytea as "returnTicket"`
const BY_ID = 's.session_id = $1 and s.created_at >= $2 and s.created_at < $3'
const KEY = 'tenant_id = $1 and created_at = $2 and session_id = $3'

// For any number of rows: one round trip, and one write to the log of PostgreSQL. Tags come as text, because `unnest` would flatten arrays in an array.
const INSERT = sql(
  'sessions.insert',
  `with given as (
     select * from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::bool[], $5::text[], $6::uuid[], $7::text[], $8::bytea[],
         $9::timestamptz[], $10::text[], $11::bytea[], $12::text[], $13::bytea[])
       as g(tenant_id, created_at, session_id, livemode, area, key_id, state, token_hash, expires_at, tags, sealed_key, master_key_id, request)
   ), made as (
     insert into sessions (tenant_id, created_at, session_id, livemode, area, key_id, state, token_hash, expires_at, due_at, metadata_tags)
     select tenant_id, created_at, session_id, livemode, area, key_id, state, token_hash, expires_at, expires_at, tags::bigint[] from given
   )
   insert into session_secrets (tenant_id, created_at, session_id, sealed_key, master_key_id, request)
   select tenant_id, created_at, session_id, sealed_key, master_key_id, request from given`,
)
/** Sessions that one statement may insert. */
export const MOST_INSERTED = 16
// LIMIT makes PostgreSQL look up the sealed row by its key. A join that is planned before the day has rows, as every midnight, would read all of the
// day. The bounds are repeated for both tables, so that one partition of each is read where the day has none of its own.
const FIND = dayStatement(
  'sessions.find',
  (day) => `select ${CLEAR}, ${SEALED}, '${day}' as day, s.version
   from sessions${day} s left join lateral (
     select v.* from session_secrets${day} v
     where v.tenant_id = s.tenant_id and v.created_at = s.created_at and v.session_id = s.session_id and v.created_at >= $2 and v.created_at < $3 limit 1
   ) v on true
   where ${BY_ID}`,
)
// The sealed row is read by the next statement: one that has waited for this lock would show it as it was before.
const LOCK = dayStatement(
  'sessions.lock',
  (day) => `select ${CLEAR}, '${day}' as day, s.version from sessions${day} s where ${BY_ID} for update`,
)
const LOCK_VERSION = dayStatement(
  'sessions.lock_version',
  (day) => `select 1 from sessions${day} where ${KEY} and version = $4 for update`,
)
const SECRETS = dayStatement('sessions.secrets', (day) => `select ${SEALED} from session_secrets${day} v where ${KEY}`)
const SAVE = dayStatement(
  'sessions.save',
  (day) => `with moved as (
     update sessions${day} set state = $4, due_at = $5, expires_at = coalesce($7, expires_at) where ${KEY} returning 1
   )
   update session_secrets${day} set progress = $6 where ${KEY} and exists (select from moved)`,
)
// Only if nobody has written the row since it was read. A row that somebody holds is as good as written: sessions that are saved together
// must not wait for one of them.
const SAVE_VERSION = dayStatement(
  'sessions.save_version',
  (day) => `with held as (
     select 1 from sessions${day} where ${KEY} and version = $8 for update skip locked
   ), moved as (
     update sessions${day} set state = $4, due_at = $5, expires_at = coalesce($7, expires_at) where ${KEY} and exists (select from held) returning 1
   )
   update session_secrets${day} set progress = $6 where ${KEY} and exists (select from moved)`,
)
// Writes the clear row too, so that a transaction that waits for its lock sees that the sealed row has changed (LOCK).
const SAVE_TICKET = dayStatement(
  'sessions.save_ticket',
  (day) => `with touched as (update sessions${day} set due_at = due_at where ${KEY})
   update session_secrets${day} set return_ticket = $4 where ${KEY}`,
)
const FIND_STATE = dayStatement(
  'sessions.find_state',
  (day) => `select state, version from sessions${day} s where ${BY_ID}`,
)
const FIND_OWNER = dayStatement(
  'sessions.find_owner',
  (day) => `select s.tenant_id as "tenantId", s.livemode, ${AREA} from sessions${day} s where ${BY_ID}`,
)
const END = dayStatement(
  'sessions.end',
  (day) => `with ended as (
     update sessions${day} set state = $4, ended_at = $5, purge_at = $6, due_at = $5 where ${KEY} and ended_at is null
     returning session_id
   ), kept as (
     update session_secrets${day} set result = $7, progress = null, purge_at = $6, return_ticket = $8
     where ${KEY} and exists (select from ended)
   )
   select count(*)::int as count from ended`,
)
// All results are sent as one value and cut apart here: an array would be text of twice the size.
const END_MANY = sql(
  'sessions.end_many',
  `with given as (
     select tenant_id, created_at, session_id, purge_at, substring($5::bytea from cut_at for length) as result, return_ticket
     from unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::timestamptz[], $10::int[], $11::int[], $12::bytea[])
       as g(tenant_id, created_at, session_id, purge_at, cut_at, length, return_ticket)
   ), ended as (
     update sessions s set state = $6, ended_at = $7, purge_at = g.purge_at from given g
     where s.tenant_id = g.tenant_id and s.created_at = g.created_at and s.session_id = g.session_id
       and s.created_at >= $8 and s.created_at <= $9
   )
   update session_secrets v set result = g.result, progress = null, purge_at = g.purge_at, return_ticket = g.return_ticket
   from given g
   where v.tenant_id = g.tenant_id and v.created_at = g.created_at and v.session_id = g.session_id
     and v.created_at >= $8 and v.created_at <= $9`,
)
const POSTPONE = sql(
  'sessions.postpone',
  `update sessions s set due_at = $4 from unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) as g(tenant_id, created_at, session_id)
   where s.tenant_id = g.tenant_id and s.created_at = g.created_at and s.session_id = g.session_id`,
)
// Test tenants can let time pass: this moves every date of a session back.
const SHIFT = sql(
  'sessions.shift',
  `with secrets as (
     update session_secrets v set purge_at = v.purge_at - $2 * interval '1 millisecond' from sessions s
     where s.tenant_id = $1 and not s.livemode and v.tenant_id = $1 and v.created_at = s.created_at
       and v.session_id = s.session_id and v.purge_at is not null
   )
   update sessions set expires_at = expires_at - $2 * interval '1 millisecond', due_at = due_at - $2 * interval '1 millisecond',
     purge_at = purge_at - $2 * interval '1 millisecond'
   where tenant_id = $1 and not livemode`,
)
const BACKLOG = sql(
  'sessions.backlog',
  `select count(*)::int as open, coalesce(extract(epoch from $1 - min(due_at)), 0)::float8 as "overdueSeconds"
   from (select due_at from sessions where ended_at is null and due_at <= $1 order by due_at limit 10000) as due`,
)
export interface NewRow extends Omit<SessionRow, 'dueAt' | 'endedAt' | 'purgeAt'> {
  tags: readonly string[] | null
  sealedKey: Buffer
  masterKeyId: string
  request: Buffer
}

/** A state that was left and reached again between two looks has another version. */
export interface VersionedState {
  state: StoredState
  version: number
}

interface Hour {
  from: Date
  to: Date
}

/** A session by its id, which names the hour. */
export interface SessionInHour {
  sessionId: string
  hour: Hour
}

export interface Change {
  state: SessionState
  dueAt: Date
  progress: Buffer
  expiresAt?: Date
}

/** Sessions that one round trip may change. */
export const MOST_AT_ONCE = 16

export const keyOf = ({ tenantId, createdAt, sessionId }: SessionKey) => [tenantId, createdAt, sessionId] as const

function saveValues(row: SessionKey, { state, dueAt, progress, expiresAt }: Change): unknown[] {
  return [...keyOf(row), state, dueAt, progress, expiresAt ?? null]
}

export const sessionStore = {
  /** All or none of them. */
  async insertMany(db: Queryable, rows: readonly NewRow[]): Promise<undefined[]> {
    await db.run(INSERT, [
      ...columns(rows, 'tenantId', 'createdAt', 'sessionId', 'livemode'),
      rows.map(({ area }) => AREA_LETTERS[area]),
      ...columns(rows, 'keyId', 'state', 'tokenHash', 'expiresAt'),
      rows.map(({ tags }) => tags && `{${tags.join(',')}}`),
      ...columns(rows, 'sealedKey', 'masterKeyId', 'request'),
    ])
    return rows.map(() => undefined)
  },
  /** The session as it is. Nobody holds it. */
  async find(db: Queryable, { sessionId, hour }: SessionInHour): Promise<StoredSession | undefined> {
    const values = [sessionId, hour.from, hour.to]
    return (await onDay(db, dayOf(hour.from), (day) => db.rows<StoredSession>(FIND.on(day), values)))[0]
  },
  /** The state alone, for callers that wait for a change. */
  async findState(db: Queryable, { sessionId, hour }: SessionInHour): Promise<VersionedState | undefined> {
    const values = [sessionId, hour.from, hour.to]
    return (await onDay(db, dayOf(hour.from), (day) => db.rows<VersionedState>(FIND_STATE.on(day), values)))[0]
  },
  /** The owner, and nothing that is sealed. */
  async findOwner(db: Queryable, { sessionId, hour }: SessionInHour): Promise<SessionOwner | undefined> {
    const values = [sessionId, hour.from, hour.to]
    return (await onDay(db, dayOf(hour.from), (day) => db.rows<SessionOwner>(FIND_OWNER.on(day), values)))[0]
  },
  /** Runs `work` with the session, which its transaction holds until it ends. */
  whileLocked<T>(
    db: Db,
    { sessionId, hour }: SessionInHour,
    work: (tx: Queryable, row: StoredSession | undefined) => Promise<T>,
  ): Promise<T> {
    const lockAndRun = (day: string) =>
      db.transaction(async (tx) => {
        const values = [sessionId, hour.from, hour.to]
        const [row] = await tx.rows<StoredSession>(LOCK.on(day), values)
        if (!row) return work(tx, undefined)
        const [secrets = NO_SECRETS] = await tx.rows<SecretsRow>(SECRETS.on(day), [...keyOf(row)])
        return work(tx, { ...row, ...secrets })
      })
    return onDay(db, dayOf(hour.from), lockAndRun)
  },
  /** Holds the session until the transaction ends. Returns whether it still is what was read. */
  async lockVersion(tx: Queryable, row: SessionKey & SessionPlace): Promise<boolean> {
    return (await tx.rows(LOCK_VERSION.on(row.day), [...keyOf(row), row.version])).length === 1
  },
  /** Saves a session that the transaction holds. */
  async save(tx: Queryable, row: SessionKey & Partial<SessionPlace>, change: Change): Promise<void> {
    await tx.run(SAVE.on(row.day ?? NO_DAY), saveValues(row, change))
  },
  /** Saves sessions that nobody holds. Returns for each whether it still was what was read; otherwise nothing of it is saved. */
  async saveMany(db: Db, changes: readonly { row: SessionKey & SessionPlace; change: Change }[]): Promise<boolean[]> {
    const saved = new Set<string>()
    for (const [day, some] of Map.groupBy(changes, ({ row }) => row.day)) {
      const lists = some.map(({ row, change }) => [...saveValues(row, change), row.version])
      const outcomes = await db.repeat(SAVE_VERSION.on(day), lists)
      for (const [at, { row }] of some.entries()) if (outcomes[at]?.count === 1) saved.add(row.sessionId)
    }
    return changes.map(({ row }) => saved.has(row.sessionId))
  },
  /** Ends the session. Returns whether it was open until now. */
  async end(
    tx: Queryable,
    key: SessionKey & Partial<SessionPlace>,
    ended: { state: FinalState; endedAt: Date; purgeAt: Date; result: Buffer; returnTicket: Buffer | null },
  ): Promise<boolean> {
    const { state, endedAt, purgeAt, result, returnTicket } = ended
    const [row] = await tx.rows<{ count: number }>(END.on(key.day ?? NO_DAY), [
      ...keyOf(key),
      ...[state, endedAt, purgeAt, result, returnTicket],
    ])
    return row?.count === 1
  },
  saveTicket: (tx: Queryable, key: SessionKey & Partial<SessionPlace>, returnTicket: Buffer): Promise<number> =>
    tx.run(SAVE_TICKET.on(key.day ?? NO_DAY), [...keyOf(key), returnTicket]),
  async endMany(
    tx: Queryable,
    ended: readonly (SessionKey & { purgeAt: Date; result: Buffer; returnTicket: Buffer | null })[],
    state: FinalState,
    endedAt: Date,
  ): Promise<void> {
    const times = ended.map(({ createdAt }) => createdAt.getTime())
    let end = 1
    const cuts = ended.map(({ result }) => {
      const cut = { at: end, length: result.length }
      end += result.length
      return cut
    })
    await tx.rows(PLAN_FOR_VALUES)
    await tx.run(END_MANY, [
      ...columns(ended, 'tenantId', 'createdAt', 'sessionId', 'purgeAt'),
      Buffer.concat(ended.map(({ result }) => result)),
      state,
      endedAt,
      new Date(Math.min(...times)),
      new Date(Math.max(...times)),
      ...columns(cuts, 'at', 'length'),
      // Few and small: as an array they are text of twice the size.
      ended.map(({ returnTicket }) => returnTicket),
    ])
  },
  /** Postpones sessions that cannot be ended now, so that they do not block the others. */
  postpone: (tx: Queryable, keys: readonly SessionKey[], until: Date): Promise<number> =>
    tx.run(POSTPONE, [...columns(keys, 'tenantId', 'createdAt', 'sessionId'), until]),
  shift: (db: Queryable, tenantId: string, ms: number): Promise<number> => db.run(SHIFT, [tenantId, ms]),
  async backlog(db: Queryable, now: Date): Promise<{ open: number; overdueSeconds: number }> {
    return (
      (await db.rows<{ open: number; overdueSeconds: number }>(BACKLOG, [now]))[0] ?? { open: 0, overdueSeconds: 0 }
    )
  },
}

/** What is left of the sealed part once the session is purged. */
export const NO_SECRETS: SecretsRow = {
  sealedKey: null,
  masterKeyId: null,
  request: null,
  progress: null,
  result: null,
  returnTicket: null,
}
