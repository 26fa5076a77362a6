import { columns } from '../platform/columns.ts'
import { type Queryable, sql } from '../platform/db.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import type { LockState } from './lockout.ts'

export interface LocalKeyRow {
  personId: string
  /** x and y. */
  publicKey: Buffer
}

interface LockRow extends LockState {
  subject: Buffer
  [column: string]: unknown
}

/** A person that an ENROLL may have created before it failed. */
export interface ProvisionalPerson extends TenantData {
  personId: string
}

const OWNER = 'tenant_id = $1 and livemode = $2'

const FIND_LOCAL_KEY = sql(
  'verification.find_local_key',
  `select person_id as "personId", public_key as "publicKey" from local_keys where ${OWNER} and thumbprint = $3`,
)
const INSERT_LOCAL_KEY = sql(
  'verification.insert_local_key',
  `insert into local_keys (tenant_id, livemode, thumbprint, person_id, public_key, last_used_on)
   values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
)
const DROP_OLD_KEYS = sql(
  'verification.drop_old_keys',
  `delete from local_keys where ${OWNER} and person_id = $3 and thumbprint in (
     select thumbprint from local_keys where ${OWNER} and person_id = $3
     order by last_used_on desc, thumbprint = $4 desc offset $5)`,
)
const USE_LOCAL_KEY = sql(
  'verification.use_local_key',
  `update local_keys set last_used_on = $4 where ${OWNER} and thumbprint = $3 and last_used_on < $4`,
)
const DELETE_PERSON = sql('verification.delete_person', `delete from local_keys where ${OWNER} and person_id = $3`)
const PURGE_LOCAL_KEYS = sql(
  'verification.purge_local_keys',
  `delete from local_keys where ctid = any(array(
     select ctid from local_keys where last_used_on < $1 limit $2 for update skip locked))`,
)
const LOCK_STATES = `subject, failures, since, locked_until as "lockedUntil"`
const FIND_LOCKOUTS = sql(
  'verification.find_lockouts',
  `select ${LOCK_STATES} from sign_in_lockouts where ${OWNER} and subject = any($3::bytea[])`,
)
// Ordered, so that two failures of the same person and network never deadlock.
const LOCK_LOCKOUTS = sql(
  'verification.lock_lockouts',
  `select ${LOCK_STATES} from sign_in_lockouts where ${OWNER} and subject = any($3::bytea[]) order by subject for update`,
)
// A row must exist before it can be locked: otherwise two first failures at once would both count as the first.
const BEGIN_LOCKOUTS = sql(
  'verification.begin_lockouts',
  `insert into sign_in_lockouts (tenant_id, livemode, subject, failures, since, purge_at)
   select $1, $2, given.subject, 0, $4, $5 from unnest($3::bytea[]) as given(subject) order by given.subject
   on conflict do nothing`,
)
const PUT_LOCKOUT = sql(
  'verification.put_lockout',
  `update sign_in_lockouts set failures = $4, since = $5, locked_until = $6, purge_at = $7 where ${OWNER} and subject = $3`,
)
const CLEAR_LOCKOUTS = sql(
  'verification.clear_lockouts',
  `delete from sign_in_lockouts where ${OWNER} and subject = any($3::bytea[])`,
)
const TAKE_BACK_FAILURE = sql(
  'verification.take_back_failure',
  `update sign_in_lockouts set failures = failures - 1 where ${OWNER} and subject = any($3::bytea[]) and failures > 0`,
)
// Test tenants can let time pass: this moves every date back.
const SHIFT_LOCKOUTS = sql(
  'verification.shift_lockouts',
  `update sign_in_lockouts set since = since - $2 * interval '1 millisecond',
     locked_until = locked_until - $2 * interval '1 millisecond', purge_at = purge_at - $2 * interval '1 millisecond'
   where tenant_id = $1 and not livemode`,
)
const PURGE_LOCKOUTS = sql(
  'verification.purge_lockouts',
  `delete from sign_in_lockouts where ctid = any(array(
     select ctid from sign_in_lockouts where purge_at <= $1 limit $2 for update skip locked))`,
)

// An ENROLL that failed marks the person that it may have created: `discard-orphaned-enrolments` deletes them when the mark is due.
const MARK_FOR_DISCARD = sql(
  'verification.mark_for_discard',
  `insert into provisional_persons (tenant_id, livemode, person_id, due_at)
   select * from unnest($1::uuid[], $2::boolean[], $3::uuid[], $4::timestamptz[]) on conflict do nothing`,
)
// A confirmation (keep_until) stays: it outlives the ENROLL that fails.
const DELETE_DISCARD_MARK = sql(
  'verification.delete_discard_mark',
  `delete from provisional_persons where ${OWNER} and person_id = $3 and keep_until is null`,
)
const DELETE_PERSON_MARKS = sql(
  'verification.delete_person_marks',
  `delete from provisional_persons where ${OWNER} and person_id = $3`,
)
const CONFIRM_PERSON = sql(
  'verification.confirm_person',
  `insert into provisional_persons as known (tenant_id, livemode, person_id, due_at, keep_until) values ($1, $2, $3, $4, $4)
   on conflict (tenant_id, livemode, person_id) do update set due_at = excluded.due_at, keep_until = excluded.keep_until
   where known.keep_until is null`,
)
const PURGE_CONFIRMATIONS = sql(
  'verification.purge_confirmations',
  `delete from provisional_persons where ctid = any(array(
     select ctid from provisional_persons where due_at <= $1 and keep_until is not null limit $2 for update skip locked))`,
)
const FIND_DISCARDABLE = sql(
  'verification.find_discardable',
  `select tenant_id as "tenantId", livemode, person_id as "personId" from provisional_persons
   where due_at <= $1 and keep_until is null order by due_at limit $2`,
)

const by = ({ tenantId, livemode }: TenantData) => [tenantId, livemode] as const

export const verificationStore = {
  async findLocalKey(db: Queryable, owner: TenantData, thumbprint: Buffer): Promise<LocalKeyRow | undefined> {
    const rows = await db.rows<LocalKeyRow>(FIND_LOCAL_KEY, [...by(owner), thumbprint])
    return rows[0]
  },
  /** Keeps the newest: a person who enrols in one browser after another loses the token that was used longest ago. */
  async insertLocalKey(
    tx: Queryable,
    owner: TenantData,
    key: LocalKeyRow & { thumbprint: Buffer },
    { day, most }: { day: string; most: number },
  ): Promise<void> {
    const { thumbprint, personId, publicKey } = key
    await tx.run(INSERT_LOCAL_KEY, [...by(owner), thumbprint, personId, publicKey, day])
    await tx.run(DROP_OLD_KEYS, [...by(owner), personId, thumbprint, most])
  },
  useLocalKey: (tx: Queryable, owner: TenantData, thumbprint: Buffer, day: string): Promise<number> =>
    tx.run(USE_LOCAL_KEY, [...by(owner), thumbprint, day]),
  deletePerson: (tx: Queryable, owner: TenantData, personId: string): Promise<number> =>
    tx.run(DELETE_PERSON, [...by(owner), personId]),
  purgeLocalKeys: (db: Queryable, unusedSince: string, limit: number): Promise<number> =>
    db.run(PURGE_LOCAL_KEYS, [unusedSince, limit]),
  findLockouts: (db: Queryable, owner: TenantData, subjects: readonly Buffer[]): Promise<LockRow[]> =>
    db.rows<LockRow>(FIND_LOCKOUTS, [...by(owner), subjects]),
  /** The existing rows, locked by this transaction. */
  lockLockoutRows: (tx: Queryable, owner: TenantData, subjects: readonly Buffer[]): Promise<LockRow[]> =>
    tx.rows<LockRow>(LOCK_LOCKOUTS, [...by(owner), subjects]),
  /** One row for each subject, locked by this transaction; new rows begin now, without a failure. */
  async createAndLockLockoutRows(
    tx: Queryable,
    owner: TenantData,
    subjects: readonly Buffer[],
    { now, purgeAt }: { now: Date; purgeAt: Date },
  ): Promise<LockRow[]> {
    await tx.run(BEGIN_LOCKOUTS, [...by(owner), subjects, now, purgeAt])
    return tx.rows<LockRow>(LOCK_LOCKOUTS, [...by(owner), subjects])
  },
  async putLockout(
    tx: Queryable,
    owner: TenantData,
    { subject, failures, since, lockedUntil }: LockState & { subject: Buffer },
    purgeAt: Date,
  ): Promise<void> {
    await tx.run(PUT_LOCKOUT, [...by(owner), subject, failures, since, lockedUntil, purgeAt])
  },
  clearLockouts: (tx: Queryable, owner: TenantData, subjects: readonly Buffer[]): Promise<number> =>
    tx.run(CLEAR_LOCKOUTS, [...by(owner), subjects]),
  shiftLockouts: (tx: Queryable, tenantId: string, ms: number): Promise<number> =>
    tx.run(SHIFT_LOCKOUTS, [tenantId, ms]),
  /** Takes one failure back from each. */
  takeBackFailure: (tx: Queryable, owner: TenantData, subjects: readonly Buffer[]): Promise<number> =>
    tx.run(TAKE_BACK_FAILURE, [...by(owner), subjects]),
  markForDiscard: (tx: Queryable, persons: readonly ProvisionalPerson[], dueAt: Date): Promise<number> =>
    tx.run(MARK_FOR_DISCARD, [...columns(persons, 'tenantId', 'livemode', 'personId'), persons.map(() => dueAt)]),
  deleteDiscardMark: (tx: Queryable, owner: TenantData, personId: string): Promise<number> =>
    tx.run(DELETE_DISCARD_MARK, [...by(owner), personId]),
  deletePersonMarks: (tx: Queryable, owner: TenantData, personId: string): Promise<number> =>
    tx.run(DELETE_PERSON_MARKS, [...by(owner), personId]),
  /** The host knows this person: a failed ENROLL that created them does not delete them. */
  confirmPerson: (tx: Queryable, owner: TenantData, personId: string, until: Date): Promise<number> =>
    tx.run(CONFIRM_PERSON, [...by(owner), personId, until]),
  purgeConfirmations: (db: Queryable, now: Date, limit: number): Promise<number> =>
    db.run(PURGE_CONFIRMATIONS, [now, limit]),
  findDiscardable: (db: Queryable, now: Date, limit: number): Promise<ProvisionalPerson[]> =>
    db.rows<ProvisionalPerson>(FIND_DISCARDABLE, [now, limit]),
  purgeLockouts: (db: Queryable, now: Date, limit: number): Promise<number> => db.run(PURGE_LOCKOUTS, [now, limit]),
}
