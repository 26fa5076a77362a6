import { type Queryable, sql } from '../platform/db.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import type { Counters, KnownCredential } from './types.ts'

export interface StoredPasskey {
  credentialId: Buffer
  publicKey: Buffer
  userHandle: Buffer
  counter: number
  backupEligible: boolean
  answered: Buffer | null
  isSuspended: boolean
  [column: string]: unknown
}

/** One passkey of one person. */
export interface PasskeyKey {
  owner: TenantData
  personId: string
  credentialHash: Buffer
}

export interface InsertedPasskey {
  credentialId: Buffer
  publicKey: Buffer
  userHandle: Buffer
  counter: number
  transports: readonly string[]
  backupEligible: boolean
  backedUp: boolean
  createdAt: Date
  /** The maximum per person. */
  limit: number
}

export interface Use {
  counter: number
  backedUp: boolean
  answered: Buffer
  now: Date
}

const PERSON = 'tenant_id = $1 and livemode = $2 and person_id = $3'
const PASSKEY = `${PERSON} and credential_hash = $4`

const FIND = sql(
  'passkeys.find',
  `select credential_id as "credentialId", public_key as "publicKey", user_handle as "userHandle", counter::float8 as counter,
     backup_eligible as "backupEligible", answered, suspended_at is not null as "isSuspended" from passkeys where ${PASSKEY}`,
)
const FIND_FOR_PERSON = sql(
  'passkeys.find_for_person',
  `select credential_id as "credentialId", transports from passkeys where ${PERSON} and suspended_at is null
   order by last_used_on desc nulls last, created_at desc, credential_hash`,
)
const COUNTERS = sql(
  'passkeys.counters',
  `select credential_hash as "credentialHash", counter::float8 as counter from passkeys where ${PERSON} and counter > 0`,
)
// Serialises the registrations of one person, so that each counts what the one before has added. Not by row locks: a deletion
// locks the person first and these rows second, and an insert would lock them in the other order.
const TAKE_TURN = sql(
  'passkeys.take_turn',
  `select pg_advisory_xact_lock(hashtextextended('passkeys/' || $1::uuid::text, 0))`,
)
const COUNT_FOR_PERSON = sql('passkeys.count_for_person', `select count(*)::int as count from passkeys where ${PERSON}`)
const INSERT = sql(
  'passkeys.insert',
  `insert into passkeys (tenant_id, livemode, person_id, credential_hash, credential_id, public_key, user_handle, counter,
     transports, backup_eligible, backed_up, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
   on conflict do nothing`,
)
// Repeats the conditions: of two answers that are checked at the same time, the second sees the update of the first.
const USE = sql(
  'passkeys.use',
  `update passkeys set counter = $5, backed_up = $6, answered = $7, last_used_on = ($8::timestamptz at time zone 'UTC')::date
   where ${PASSKEY} and suspended_at is null and (counter < $5 or (counter = 0 and $5 = 0)) and answered is distinct from $7`,
)
const SUSPEND = sql(
  'passkeys.suspend',
  `update passkeys set suspended_at = $5 where ${PASSKEY} and suspended_at is null`,
)
const DELETE_PERSON = sql('passkeys.delete_person', `delete from passkeys where ${PERSON}`)

const person = ({ tenantId, livemode }: TenantData, personId: string) => [tenantId, livemode, personId]
const passkey = ({ owner, personId, credentialHash }: PasskeyKey) => [...person(owner, personId), credentialHash]

export const passkeyStore = {
  async find(db: Queryable, key: PasskeyKey): Promise<StoredPasskey | undefined> {
    return (await db.rows<StoredPasskey>(FIND, passkey(key)))[0]
  },

  /** The passkeys that are not suspended, the last used first. */
  async findForPerson(db: Queryable, owner: TenantData, personId: string): Promise<KnownCredential[]> {
    const rows = await db.rows<{ credentialId: Buffer; transports: string[] }>(FIND_FOR_PERSON, person(owner, personId))
    return rows.map(({ credentialId, transports }) => ({
      credentialId: credentialId.toString('base64url'),
      transports,
    }))
  },

  async findCounters(db: Queryable, owner: TenantData, personId: string): Promise<Counters> {
    const rows = await db.rows<{ credentialHash: Buffer; counter: number }>(COUNTERS, person(owner, personId))
    return Object.fromEntries(
      rows.map(({ credentialHash, counter }) => [credentialHash.toString('base64url'), counter]),
    )
  },

  /** Inserts a credential unless it is already registered, for any person. */
  async insert(tx: Queryable, key: PasskeyKey, made: InsertedPasskey): Promise<'inserted' | 'on_record' | 'full'> {
    const { owner, personId } = key
    await tx.run(TAKE_TURN, [personId])
    const [row] = await tx.rows<{ count: number }>(COUNT_FOR_PERSON, person(owner, personId))
    if ((row?.count ?? 0) >= made.limit) return 'full'
    const { credentialId, publicKey, userHandle, counter, transports, backupEligible, backedUp, createdAt } = made
    const values = [credentialId, publicKey, userHandle, counter, transports, backupEligible, backedUp, createdAt]
    return (await tx.run(INSERT, [...passkey(key), ...values])) === 1 ? 'inserted' : 'on_record'
  },

  /** False when the passkey was used or suspended since it was read. */
  async use(db: Queryable, key: PasskeyKey, { counter, backedUp, answered, now }: Use): Promise<boolean> {
    return (await db.run(USE, [...passkey(key), counter, backedUp, answered, now])) === 1
  },
  suspend: (db: Queryable, key: PasskeyKey, now: Date): Promise<number> => db.run(SUSPEND, [...passkey(key), now]),
  deletePerson: (tx: Queryable, owner: TenantData, personId: string): Promise<number> =>
    tx.run(DELETE_PERSON, person(owner, personId)),
}
