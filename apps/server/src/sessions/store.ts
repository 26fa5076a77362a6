import { AREA_LETTERS, type PURGED, type SessionArea } from '@ostiary/contract'
import { type Queryable, type Statement, sql } from '../platform/db.ts'
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
export type StoredSession = Omit<SessionRow, 'state'> & { state: StoredState } & SecretsRow
/** The whole primary key of a row, so that a statement reads one partition only. */
export type SessionKey = Pick<SessionRow, 'tenantId' | 'createdAt' | 'sessionId'>

export type SessionOwner = Pick<SessionRow, 'tenantId' | 'livemode' | 'area'>

// The column holds a letter, which is part of the primary key.
const AREA = `case s.area when '${AREA_LETTERS.age}' then 'age' when '${AREA_LETTERS.verification}' then 'verification' end as area`
export const CLEAR = `s.tenant_id as "tenantId", s.created_at as "createdAt", s.session_id as "sessionId", s.livemode, ${AREA},
  s.key_id as "keyId", s.state, s.token_hash as "tokenHash", s.expires_at as "expiresAt", s.due_at as "dueAt",
  s.ended_at as "endedAt", s.purge_at as "purgeAt"`
export const SEALED = `v.sealed_key as "sealedKey", v.master_key_id as "masterKeyId", v.request, v.progress, v.result,
  v.return_ticket as "returnTicket"`
const JOINED = `sessions s left join session_secrets v
  on v.tenant_id = s.tenant_id and v.created_at = s.created_at and v.session_id = s.session_id`
const BY_ID = 's.session_id = $1 and s.created_at >= $2 and s.created_at < $3'
const KEY = 'tenant_id = $1 and created_at = $2 and session_id = $3'

const INSERT = sql(
  'sessions.insert',
  `with made as (
     insert into sessions (tenant_id, created_at, session_id, livemode, area, key_id, state, token_hash, expires_at, due_at, metadata_tags)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10)
   )
   insert into session_secrets (tenant_id, created_at, session_id, sealed_key, master_key_id, request)
   values ($1, $2, $3, $11, $12, $13)`,
)
/** Sessions that one statement may insert. */
export const MOST_INSERTED = 16
/** One statement for many rows: one round trip, and one write to the log of PostgreSQL. */
const INSERT_TYPES = [
  'uuid',
  'timestamptz',
  'uuid',
  'bool',
  'text',
  'uuid',
  'text',
  'bytea',
  'timestamptz',
  'bigint[]',
].concat(['bytea', 'text', 'bytea'])
function insertOf(rows: number): Statement {
  const places = Array.from({ length: rows }, (_, row) => {
    const place = (type: string, index: number) =>
      `$${row * INSERT_TYPES.length + index + 1}${row === 0 ? `::${type}` : ''}`
    return `(${INSERT_TYPES.map(place).join(', ')})`
  })
  return sql(
    `sessions.insert_${rows}`,
    `with given (tenant_id, created_at, session_id, livemode, area, key_id, state, token_hash, expires_at, tags, sealed_key, master_key_id, request) as (
       values ${places.join(', ')}
     ), made as (
       insert into sessions (tenant_id, created_at, session_id, livemode, area, key_id, state, token_hash, expires_at, due_at, metadata_tags)
       select tenant_id, created_at, session_id, livemode, area, key_id, state, token_hash, expires_at, expires_at, tags from given
     )
     insert into session_secrets (tenant_id, created_at, session_id, sealed_key, master_key_id, request)
     select tenant_id, created_at, session_id, sealed_key, master_key_id, request from given`,
  )
}
const INSERT_MANY = Array.from({ length: MOST_INSERTED }, (_, index) => (index === 0 ? INSERT : insertOf(index + 1)))
// The bounds are repeated for both tables, so that PostgreSQL reads one partition of each.
const FIND = sql(
  'sessions.find',
  `select ${CLEAR}, ${SEALED} from ${JOINED} and v.created_at >= $2 and v.created_at < $3 where ${BY_ID}`,
)
// A transaction that has waited for the lock sees the clear row as it is now and the sealed row as it was before. Both are written by the
// same transaction, except when only times are moved: where the writers differ, the sealed row is read again.
const LOCK = sql(
  'sessions.lock',
  `select ${CLEAR}, ${SEALED}, s.xmin = v.xmin as "isWhole"
   from ${JOINED} and v.created_at >= $2 and v.created_at < $3 where ${BY_ID} for update of s`,
)
const SECRETS = sql('sessions.secrets', `select ${SEALED} from session_secrets v where ${KEY}`)
const SAVE = sql(
  'sessions.save',
  `with moved as (update sessions set state = $4, due_at = $5 where ${KEY})
   update session_secrets set progress = $6 where ${KEY}`,
)
const SAVE_EXTENDED = sql(
  'sessions.save_extended',
  `with moved as (update sessions set state = $4, due_at = $5, expires_at = $7 where ${KEY})
   update session_secrets set progress = $6 where ${KEY}`,
)
// Writes the clear row too, so that a transaction that waits for its lock sees that the sealed row has changed (LOCK).
const SAVE_TICKET = sql(
  'sessions.save_ticket',
  `with touched as (update sessions set due_at = due_at where ${KEY})
   update session_secrets set return_ticket = $4 where ${KEY}`,
)
const FIND_STATE = sql('sessions.find_state', `select state, xmin::text as version from sessions s where ${BY_ID}`)
const FIND_OWNER = sql(
  'sessions.find_owner',
  `select s.tenant_id as "tenantId", s.livemode, ${AREA} from sessions s where ${BY_ID}`,
)
const END = sql(
  'sessions.end',
  `with ended as (
     update sessions set state = $4, ended_at = $5, purge_at = $6, due_at = $5 where ${KEY} and ended_at is null
     returning session_id
   ), kept as (
     update session_secrets set result = $7, progress = null, purge_at = $6, return_ticket = $8
     where ${KEY} and exists (select from ended)
   )
   select count(*)::int as count from ended`,
)
// This locks the row only: in a join, PostgreSQL would read the sealed part before it has the lock.
const LOCK_DUE = sql(
  'sessions.lock_due',
  `select ${CLEAR}, ${SEALED} from (
     select * from sessions where ended_at is null and due_at <= $1 and area = $3 order by due_at limit $2 for update skip locked
   ) s left join session_secrets v
     on v.tenant_id = s.tenant_id and v.created_at = s.created_at and v.session_id = s.session_id`,
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
const FIND_TAG_KEY = sql(
  'sessions.find_tag_key',
  `select sealed_key as blob, master_key_id as "masterKeyId" from session_tag_keys where tenant_id = $1`,
)
const INSERT_TAG_KEY = sql(
  'sessions.insert_tag_key',
  'insert into session_tag_keys (tenant_id, sealed_key, master_key_id) values ($1, $2, $3) on conflict do nothing',
)

export interface NewRow extends Omit<SessionRow, 'dueAt' | 'endedAt' | 'purgeAt'> {
  tags: readonly string[] | null
  sealedKey: Buffer
  masterKeyId: string
  request: Buffer
}

/** Every write of a session makes a new version: a state that was left and reached again between two looks has changed too. */
export interface VersionedState {
  state: StoredState
  version: string
}

interface Hour {
  from: Date
  to: Date
}

export const keyOf = ({ tenantId, createdAt, sessionId }: SessionKey) => [tenantId, createdAt, sessionId] as const

function newValues(row: NewRow): unknown[] {
  return [
    ...keyOf(row),
    row.livemode,
    AREA_LETTERS[row.area],
    row.keyId,
    row.state,
    row.tokenHash,
    row.expiresAt,
    row.tags,
    row.sealedKey,
    row.masterKeyId,
    row.request,
  ]
}

export const sessionStore = {
  async insert(db: Queryable, row: NewRow): Promise<void> {
    await db.run(INSERT, newValues(row))
  },
  /** All or none of them. */
  async insertMany(db: Queryable, rows: readonly NewRow[]): Promise<undefined[]> {
    const statement = INSERT_MANY[rows.length - 1]
    if (!statement) throw new RangeError(`${rows.length} rows at once`)
    await db.run(statement, rows.flatMap(newValues))
    return rows.map(() => undefined)
  },
  async find(db: Queryable, sessionId: string, { from, to }: Hour): Promise<StoredSession | undefined> {
    return (await db.rows<StoredSession>(FIND, [sessionId, from, to]))[0]
  },
  /** The state alone, for callers that wait for a change. */
  async findState(db: Queryable, sessionId: string, { from, to }: Hour): Promise<VersionedState | undefined> {
    return (await db.rows<VersionedState>(FIND_STATE, [sessionId, from, to]))[0]
  },
  /** The owner, and nothing that is sealed. */
  async findOwner(db: Queryable, sessionId: string, { from, to }: Hour): Promise<SessionOwner | undefined> {
    return (await db.rows<SessionOwner>(FIND_OWNER, [sessionId, from, to]))[0]
  },
  /** The session, held by this transaction until it ends. */
  async lock(tx: Queryable, sessionId: string, { from, to }: Hour): Promise<StoredSession | undefined> {
    const [locked] = await tx.rows<StoredSession & { isWhole: boolean | null }>(LOCK, [sessionId, from, to])
    if (!locked) return undefined
    const { isWhole, ...row } = locked
    if (isWhole) return row
    const [secrets = NO_SECRETS] = await tx.rows<SecretsRow>(SECRETS, [...keyOf(row)])
    return { ...row, ...secrets }
  },
  async save(
    tx: Queryable,
    key: SessionKey,
    { state, dueAt, progress, expiresAt }: { state: SessionState; dueAt: Date; progress: Buffer; expiresAt?: Date },
  ): Promise<void> {
    const values = [...keyOf(key), state, dueAt, progress]
    if (expiresAt) await tx.run(SAVE_EXTENDED, [...values, expiresAt])
    else await tx.run(SAVE, values)
  },
  /** Ends the session. Returns whether it was open until now. */
  async end(
    tx: Queryable,
    key: SessionKey,
    ended: { state: FinalState; endedAt: Date; purgeAt: Date; result: Buffer; returnTicket: Buffer | null },
  ): Promise<boolean> {
    const { state, endedAt, purgeAt, result, returnTicket } = ended
    const [row] = await tx.rows<{ count: number }>(END, [
      ...keyOf(key),
      ...[state, endedAt, purgeAt, result, returnTicket],
    ])
    return row?.count === 1
  },
  saveTicket: (tx: Queryable, key: SessionKey, returnTicket: Buffer): Promise<number> =>
    tx.run(SAVE_TICKET, [...keyOf(key), returnTicket]),
  lockDue: (tx: Queryable, area: SessionArea, now: Date, limit: number): Promise<StoredSession[]> =>
    tx.rows<StoredSession>(LOCK_DUE, [now, limit, AREA_LETTERS[area]]),
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
    await tx.run(END_MANY, [
      ended.map(({ tenantId }) => tenantId),
      ended.map(({ createdAt }) => createdAt),
      ended.map(({ sessionId }) => sessionId),
      ended.map(({ purgeAt }) => purgeAt),
      Buffer.concat(ended.map(({ result }) => result)),
      state,
      endedAt,
      new Date(Math.min(...times)),
      new Date(Math.max(...times)),
      cuts.map(({ at }) => at),
      cuts.map(({ length }) => length),
      // Few and small: as an array they are text of twice the size.
      ended.map(({ returnTicket }) => returnTicket),
    ])
  },
  /** Postpones sessions that cannot be ended now, so that they do not block the others. */
  postpone: (tx: Queryable, keys: readonly SessionKey[], until: Date): Promise<number> =>
    tx.run(POSTPONE, [
      keys.map(({ tenantId }) => tenantId),
      keys.map(({ createdAt }) => createdAt),
      keys.map(({ sessionId }) => sessionId),
      until,
    ]),
  shift: (db: Queryable, tenantId: string, ms: number): Promise<number> => db.run(SHIFT, [tenantId, ms]),
  async backlog(db: Queryable, now: Date): Promise<{ open: number; overdueSeconds: number }> {
    return (
      (await db.rows<{ open: number; overdueSeconds: number }>(BACKLOG, [now]))[0] ?? { open: 0, overdueSeconds: 0 }
    )
  },
  async findTagKey(db: Queryable, tenantId: string): Promise<{ blob: Buffer; masterKeyId: string } | undefined> {
    return (await db.rows<{ blob: Buffer; masterKeyId: string }>(FIND_TAG_KEY, [tenantId]))[0]
  },
  insertTagKey: (db: Queryable, tenantId: string, sealed: { blob: Buffer; masterKeyId: string }): Promise<number> =>
    db.run(INSERT_TAG_KEY, [tenantId, sealed.blob, sealed.masterKeyId]),
}

const NO_SECRETS: SecretsRow = {
  sealedKey: null,
  masterKeyId: null,
  request: null,
  progress: null,
  result: null,
  returnTicket: null,
}
