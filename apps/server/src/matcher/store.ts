import { TOKEN_BUDGET } from '@ostiary/contract'
import { type Queryable, sql } from '../platform/db.ts'
import type { Sealed } from '../platform/key-vault.ts'
import type { TenantData } from '../platform/tenant-data.ts'

export interface TokenRow extends Sealed {
  tokenId: Buffer
  account: Buffer
  personId: string | null
  /** Set with the person. */
  personSeal: Buffer | null
  sessionId: string
  model: number
  format: number
  tokenHash: Buffer
  deviceKey: Buffer
  sealedToken: Buffer | null
  attackEvents: number
  evaluations: number
  createdAt: Date
}

export interface ProbeRow extends Sealed {
  sessionId: string
  tokenId: Buffer
  verdict: string | null
}

export interface ErasureRow extends TenantData {
  erasureId: string
  tokenId: Buffer
  account: Buffer | null
  attempts: number
}

const DATA = 'tenant_id = $1 and livemode = $2'
const TOKEN = `${DATA} and token_id = $3`
const COLUMNS = `token_id as "tokenId", account, person_id as "personId", person_seal as "personSeal", session_id as "sessionId", model, format, token_hash as "tokenHash",
  device_key as "deviceKey", sealed as blob, master_key_id as "masterKeyId", sealed_token as "sealedToken", attack_events as "attackEvents", evaluations, created_at as "createdAt"`

const FIND = sql('tokens.find', `select ${COLUMNS} from face_tokens where ${TOKEN}`)
// An enrolment whose reply was lost comes again with the same token; another token under a known id changes nothing.
const INSERT = sql(
  'tokens.insert',
  `insert into face_tokens as known (tenant_id, livemode, token_id, account, session_id, model, format, token_hash, device_key, sealed,
     sealed_token, master_key_id, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
   on conflict (tenant_id, livemode, token_id) do nothing`,
)
const ACTIVATE = sql(
  'tokens.activate',
  `update face_tokens set person_id = $4, person_seal = $6 where ${TOKEN} and session_id = $5 and (person_id is null or person_id = $4)`,
)
const ATTACK = sql('tokens.attack', `update face_tokens set attack_events = attack_events + 1 where ${TOKEN}`)
const BEGIN_DAY = sql(
  'tokens.begin_day',
  `insert into token_failures (tenant_id, livemode, account, day, failures) values ($1, $2, $3, $4, 0) on conflict do nothing`,
)
const LOCK_DAY = sql(
  'tokens.lock_day',
  `select failures from token_failures where ${DATA} and account = $3 and day = $4 for update`,
)
// The row of the day is locked, so the sum cannot grow meanwhile.
const COUNT = sql(
  'tokens.count',
  `update face_tokens set evaluations = evaluations + 1, day = $4::date,
     day_evaluations = case when day = $4::date then day_evaluations + 1 else 1 end
   where ${TOKEN} and person_id is not null and attack_events < ${TOKEN_BUDGET.attackEvents}
     and evaluations < ${TOKEN_BUDGET.evaluationsPerToken} and created_at > $5
     and (day is distinct from $4::date or day_evaluations < ${TOKEN_BUDGET.evaluationsPerDay})
     and (select coalesce(sum(failures), 0) from token_failures f where f.tenant_id = $1 and f.livemode = $2
          and f.account = face_tokens.account and f.day > $4::date - 30) < ${TOKEN_BUDGET.failuresPer30Days}`,
)
const ADD_FAILURES = sql(
  'tokens.add_failures',
  `update token_failures set failures = greatest(failures + $5, 0) where ${DATA} and account = $3 and day = $4`,
)
const DELETE_OF_PERSON = sql(
  'tokens.delete_of_person',
  `delete from face_tokens where ${DATA} and person_id = $3 returning token_id as "tokenId", account`,
)
const DELETE_TOKEN = sql('tokens.delete', `delete from face_tokens where ${TOKEN} and person_id = $4`)
const DELETE_FAILURES = sql('tokens.delete_failures', `delete from token_failures where ${DATA} and account = $3`)
const DELETE_PENDING = sql(
  'tokens.delete_pending',
  `delete from face_tokens where ctid = any(array(
     select ctid from face_tokens where person_id is null and created_at <= $1 order by created_at limit $2 for update skip locked))
   returning tenant_id as "tenantId", livemode, token_id as "tokenId"`,
)
const PURGE_FAILURES = sql(
  'tokens.purge_failures',
  `delete from token_failures where ctid = any(array(select ctid from token_failures where day < $1 limit $2 for update skip locked))`,
)
const INSERT_ERASURE = sql(
  'tokens.insert_erasure',
  `insert into key_holder_erasures (tenant_id, erasure_id, livemode, token_id, account, due_at, created_at)
   values ($1, $2, $3, $4, $5, $6, $6)`,
)
// The worker that takes an erasure moves it ahead: another worker does not take it at the same time, and a crash only delays it.
const TAKE_ERASURES = sql(
  'tokens.take_erasures',
  `update key_holder_erasures set attempts = attempts + 1, due_at = $2 where ctid = any(array(
     select ctid from key_holder_erasures where due_at <= $1 order by due_at limit $3 for update skip locked))
   returning tenant_id as "tenantId", erasure_id as "erasureId", livemode, token_id as "tokenId", account, attempts`,
)
const DELAY_ERASURE = sql(
  'tokens.delay_erasure',
  `update key_holder_erasures set due_at = $3 where tenant_id = $1 and erasure_id = $2`,
)
const DELETE_ERASURE = sql(
  'tokens.delete_erasure',
  `delete from key_holder_erasures where tenant_id = $1 and erasure_id = $2`,
)
const COUNT_ERASURES = sql(
  'tokens.count_erasures',
  `select count(*)::int as count, min(created_at) as oldest from (select created_at from key_holder_erasures limit 100000) r`,
)
const INSERT_PROBE = sql(
  'tokens.insert_probe',
  `insert into token_probes as known (tenant_id, livemode, probe_hash, session_id, token_id, sealed, master_key_id, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (tenant_id, livemode, probe_hash) do update set created_at = known.created_at
     where known.session_id = $4 and known.token_id = $5 and known.verdict is null
   returning 1 as kept`,
)
const FIND_PROBE = sql(
  'tokens.find_probe',
  `select session_id as "sessionId", token_id as "tokenId", sealed as blob, master_key_id as "masterKeyId", verdict from token_probes
   where ${DATA} and probe_hash = $3`,
)
const BEGIN_PROBE = sql(
  'tokens.begin_probe',
  `update token_probes set verdict = 'begun' where ${DATA} and probe_hash = $3 and verdict is null`,
)
const END_PROBE = sql(
  'tokens.end_probe',
  `update token_probes set verdict = $4, sealed = null where ${DATA} and probe_hash = $3 and verdict = 'begun'`,
)
const EMPTY_PROBES = sql(
  'tokens.empty_probes',
  `update token_probes set sealed = null where ctid = any(array(
     select ctid from token_probes where created_at <= $1 and sealed is not null limit $2 for update skip locked))`,
)
const PURGE_PROBES = sql(
  'tokens.purge_probes',
  `delete from token_probes where ctid = any(array(
     select ctid from token_probes where created_at <= $1 order by created_at limit $2 for update skip locked))`,
)
const RESEAL_BATCH = sql(
  'tokens.lock_sealed_with_other',
  `select tenant_id as "tenantId", livemode, ${COLUMNS} from face_tokens
   where master_key_id <> $1 and (tenant_id, livemode, token_id) > ($3, $4, $5) order by tenant_id, livemode, token_id limit $2 for update`,
)
const RESEAL = sql('tokens.reseal', `update face_tokens set sealed = $4, master_key_id = $5 where ${TOKEN}`)
const COUNT_BY_MASTER_KEY = sql(
  'tokens.count_by_master_key',
  'select master_key_id as "masterKeyId", count(*)::int as count from face_tokens group by master_key_id',
)

export interface NewToken extends Sealed {
  tokenId: Buffer
  account: Buffer
  sessionId: string
  model: number
  format: number
  tokenHash: Buffer
  deviceKey: Buffer
  sealedToken: Buffer | null
  now: Date
}

export interface NewProbe extends Sealed {
  probeHash: Buffer
  sessionId: string
  tokenId: Buffer
  now: Date
}

/** A day in UTC, `2026-01-31`. */
export interface AccountDay extends TenantData {
  account: Buffer
  day: string
}

const dataOf = ({ tenantId, livemode }: TenantData) => [tenantId, livemode] as const

export const tokenStore = {
  async find(db: Queryable, owner: TenantData, tokenId: Buffer): Promise<TokenRow | undefined> {
    return (await db.rows<TokenRow>(FIND, [...dataOf(owner), tokenId]))[0]
  },

  insert: (db: Queryable, owner: TenantData, token: NewToken): Promise<number> =>
    db.run(INSERT, [
      ...dataOf(owner),
      token.tokenId,
      token.account,
      token.sessionId,
      token.model,
      token.format,
      token.tokenHash,
      token.deviceKey,
      token.blob,
      token.sealedToken,
      token.masterKeyId,
      token.now,
    ]),

  /** Whether the token is the person's now. */
  activate: async (
    tx: Queryable,
    owner: TenantData,
    tokenId: Buffer,
    { personId, personSeal, sessionId }: { personId: string; personSeal: Buffer; sessionId: string },
  ) => (await tx.run(ACTIVATE, [...dataOf(owner), tokenId, personId, sessionId, personSeal])) > 0,

  countAttack: (db: Queryable, owner: TenantData, tokenId: Buffer): Promise<number> =>
    db.run(ATTACK, [...dataOf(owner), tokenId]),

  /** The failures of the day. Nobody else counts for this person before the transaction ends. */
  async lockDay(tx: Queryable, { account, day, ...owner }: AccountDay): Promise<number> {
    await tx.run(BEGIN_DAY, [...dataOf(owner), account, day])
    const rows = await tx.rows<{ failures: number }>(LOCK_DAY, [...dataOf(owner), account, day])
    return rows[0]?.failures ?? 0
  },

  /** Whether the evaluation is within the budget of the token and of the last 30 days. If so, it is counted. */
  countEvaluation: async (tx: Queryable, owner: TenantData, tokenId: Buffer, when: { day: string; oldest: Date }) =>
    (await tx.run(COUNT, [...dataOf(owner), tokenId, when.day, when.oldest])) > 0,

  addFailures: (db: Queryable, { account, day, ...owner }: AccountDay, change: 1 | -1): Promise<number> =>
    db.run(ADD_FAILURES, [...dataOf(owner), account, day, change]),

  deleteOfPerson: (tx: Queryable, owner: TenantData, personId: string) =>
    tx.rows<{ tokenId: Buffer; account: Buffer }>(DELETE_OF_PERSON, [...dataOf(owner), personId]),

  delete: async (tx: Queryable, owner: TenantData, tokenId: Buffer, personId: string): Promise<boolean> =>
    (await tx.run(DELETE_TOKEN, [...dataOf(owner), tokenId, personId])) > 0,

  deleteFailures: (tx: Queryable, owner: TenantData, account: Buffer): Promise<number> =>
    tx.run(DELETE_FAILURES, [...dataOf(owner), account]),

  deletePending: (tx: Queryable, until: Date, limit: number) =>
    tx.rows<TenantData & { tokenId: Buffer }>(DELETE_PENDING, [until, limit]),

  purgeFailures: (db: Queryable, before: string, limit: number): Promise<number> =>
    db.run(PURGE_FAILURES, [before, limit]),

  insertErasure: (
    tx: Queryable,
    { tenantId, livemode }: TenantData,
    { erasureId, tokenId, account, now }: Pick<ErasureRow, 'erasureId' | 'tokenId' | 'account'> & { now: Date },
  ): Promise<number> => tx.run(INSERT_ERASURE, [tenantId, erasureId, livemode, tokenId, account, now]),

  takeErasures: (db: Queryable, when: { now: Date; again: Date; limit: number }): Promise<ErasureRow[]> =>
    db.rows<ErasureRow>(TAKE_ERASURES, [when.now, when.again, when.limit]),

  delayErasure: (db: Queryable, { tenantId, erasureId }: ErasureRow, dueAt: Date): Promise<number> =>
    db.run(DELAY_ERASURE, [tenantId, erasureId, dueAt]),

  deleteErasure: (db: Queryable, { tenantId, erasureId }: ErasureRow): Promise<number> =>
    db.run(DELETE_ERASURE, [tenantId, erasureId]),

  async countErasures(db: Queryable): Promise<{ count: number; oldest: Date | null }> {
    return (await db.rows<{ count: number; oldest: Date | null }>(COUNT_ERASURES))[0] ?? { count: 0, oldest: null }
  },

  /** False for a probe that was seen before in another session, for another token, or after its comparison. */
  insertProbe: async (tx: Queryable, owner: TenantData, probe: NewProbe): Promise<boolean> => {
    const { probeHash, sessionId, tokenId, blob, masterKeyId, now } = probe
    const values = [...dataOf(owner), probeHash, sessionId, tokenId, blob, masterKeyId, now]
    return (await tx.rows(INSERT_PROBE, values)).length > 0
  },

  async findProbe(db: Queryable, owner: TenantData, probeHash: Buffer): Promise<ProbeRow | undefined> {
    return (await db.rows<ProbeRow>(FIND_PROBE, [...dataOf(owner), probeHash]))[0]
  },

  /** Whether the caller is the one that compares it. */
  beginProbe: async (db: Queryable, owner: TenantData, probeHash: Buffer): Promise<boolean> =>
    (await db.run(BEGIN_PROBE, [...dataOf(owner), probeHash])) > 0,

  /** False if another process has ended it. */
  endProbe: async (db: Queryable, owner: TenantData, probeHash: Buffer, verdict: string): Promise<boolean> =>
    (await db.run(END_PROBE, [...dataOf(owner), probeHash, verdict])) > 0,

  emptyProbes: (db: Queryable, until: Date, limit: number): Promise<number> => db.run(EMPTY_PROBES, [until, limit]),
  purgeProbes: (db: Queryable, until: Date, limit: number): Promise<number> => db.run(PURGE_PROBES, [until, limit]),

  lockSealedWithOther: (
    tx: Queryable,
    { masterKeyId, limit, after }: { masterKeyId: string; limit: number; after: TenantData & { tokenId: Buffer } },
  ) =>
    tx.rows<TokenRow & TenantData>(RESEAL_BATCH, [masterKeyId, limit, after.tenantId, after.livemode, after.tokenId]),

  reseal: (tx: Queryable, owner: TenantData, tokenId: Buffer, { blob, masterKeyId }: Sealed): Promise<number> =>
    tx.run(RESEAL, [...dataOf(owner), tokenId, blob, masterKeyId]),

  countByMasterKey: (db: Queryable) => db.rows<{ masterKeyId: string; count: number }>(COUNT_BY_MASTER_KEY),
}
