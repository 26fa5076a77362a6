import { type ErasureBody, KEY_HOLDER_LIMITS, type TokenVerdict } from '@ostiary/contract'
import { secondsAfter } from '../platform/clock.ts'
import { type Queryable, sql } from '../platform/db.ts'
import type { Sealed } from '../platform/key-vault.ts'
import type { ShareName } from './sealing.ts'

export interface TokenName {
  realm: string
  tokenId: string
}

export interface ShareRow extends ShareName, Sealed {
  state: 'PENDING' | 'ACTIVE'
}

const COLUMNS =
  'realm, account, token_id as "tokenId", state, model, format, master_key_id as "masterKeyId", sealed as blob'

const FIND = sql('shares.find', `select ${COLUMNS} from key_shares where realm = $1 and token_id = $2`)
/** The enrolment itself is the first evaluation. */
const ADD = sql(
  'shares.add',
  `insert into key_shares (realm, token_id, account, state, model, format, master_key_id, sealed, created_at, evaluations, evaluated_on,
     evaluations_that_day)
   values ($1, $2, $3, 'PENDING', $4, $5, $6, $7, $8, 1, $9::date, 1) on conflict do nothing`,
)
const CONFIRM = sql(
  'shares.confirm',
  `update key_shares set state = 'ACTIVE'
   where realm = $1 and token_id = $2 and (state = 'ACTIVE' or created_at > $3)`,
)
const PURGE_PENDING = sql('shares.purge_pending', `delete from key_shares where state = 'PENDING' and created_at <= $1`)
const ERASE_TOKEN = sql('shares.erase_token', 'delete from key_shares where realm = $1 and token_id = $2')
const ERASE_SHARES = sql('shares.erase_account', 'delete from key_shares where realm = $1 and account = $2')
const ERASE_PERSON = sql('persons.erase', 'delete from persons where realm = $1 and account = $2')
const ERASE_NONCES = sql('nonces.erase', 'delete from nonces where realm = $1 and token_id = $2')
const ERASE_VERDICTS = sql('verdicts.erase_token', 'delete from verdicts where realm = $1 and token_id = $2')
const ERASE_VERDICTS_OF_PERSON = sql('verdicts.erase_account', 'delete from verdicts where realm = $1 and account = $2')
const COUNTS = sql(
  'shares.counts',
  `select count(*) filter (where state = 'PENDING')::int as pending, count(*) filter (where state = 'ACTIVE')::int as active,
     count(frozen_at)::int as frozen from key_shares`,
)
const MASTER_KEYS = sql(
  'shares.master_keys',
  'select master_key_id as id, count(*)::int as shares from key_shares group by master_key_id',
)
const SEALED_BY_OTHERS = sql(
  'shares.sealed_by_others',
  `select ${COLUMNS} from key_shares where master_key_id <> $1 and (realm, token_id) > ($2, $3) order by realm, token_id limit $4`,
)
const REPLACE_SEALED = sql(
  'shares.replace_sealed',
  'update key_shares set master_key_id = $4, sealed = $5 where realm = $1 and token_id = $2 and master_key_id = $3',
)

export const shareStore = {
  find: async (db: Queryable, { realm, tokenId }: TokenName) => (await db.rows<ShareRow>(FIND, [realm, tokenId]))[0],

  /** False if the token has a row already. */
  async add(
    db: Queryable,
    name: ShareName,
    sealed: Sealed,
    { now, day }: { now: Date; day: string },
  ): Promise<boolean> {
    const { realm, tokenId, account, model, format } = name
    const values = [realm, tokenId, account, model, format, sealed.masterKeyId, sealed.blob, now, day]
    return (await db.run(ADD, values)) === 1
  },

  /** False if there is no such share, or if it waited too long and is about to be deleted. */
  confirm: async (db: Queryable, { realm, tokenId }: TokenName, now: Date) =>
    (await db.run(CONFIRM, [realm, tokenId, secondsAfter(now, -KEY_HOLDER_LIMITS.pendingSeconds)])) === 1,

  purgePending: (db: Queryable, now: Date) =>
    db.run(PURGE_PENDING, [secondsAfter(now, -KEY_HOLDER_LIMITS.pendingSeconds)]),

  /** Returns how many shares there were. Person before shares, the order of locks everywhere. */
  async erase(db: Queryable, body: ErasureBody): Promise<number> {
    if ('account' in body) {
      const person = [body.realm, body.account]
      await db.run(ERASE_PERSON, person)
      await db.run(ERASE_VERDICTS_OF_PERSON, person)
      return db.run(ERASE_SHARES, person)
    }
    const token = [body.realm, body.tokenId]
    await db.run(ERASE_NONCES, token)
    await db.run(ERASE_VERDICTS, token)
    return db.run(ERASE_TOKEN, token)
  },

  async counts(db: Queryable): Promise<{ pending: number; active: number; frozen: number }> {
    const [counts] = await db.rows<{ pending: number; active: number; frozen: number }>(COUNTS)
    return counts ?? { pending: 0, active: 0, frozen: 0 }
  },

  countByMasterKey: (db: Queryable) => db.rows<{ id: string; shares: number }>(MASTER_KEYS),

  listSealedByOthers: (db: Queryable, currentKeyId: string, { after, limit }: { after: TokenName; limit: number }) =>
    db.rows<ShareRow>(SEALED_BY_OTHERS, [currentKeyId, after.realm, after.tokenId, limit]),

  /** Does nothing if the row was erased or resealed meanwhile. */
  replaceSealed: (db: Queryable, { realm, tokenId, masterKeyId }: ShareRow, sealed: Sealed) =>
    db.run(REPLACE_SEALED, [realm, tokenId, masterKeyId, sealed.masterKeyId, sealed.blob]),
}

const ADD_NONCE = sql('nonces.add', 'insert into nonces (nonce, realm, token_id, expires_at) values ($1, $2, $3, $4)')
const IS_OPEN = sql(
  'nonces.is_open',
  'select from nonces where nonce = $1 and realm = $2 and token_id = $3 and expires_at > $4',
)
const PURGE_NONCES = sql('nonces.purge', 'delete from nonces where expires_at <= $1')

export interface NonceName extends TokenName {
  keyHolderNonce: string
}

export const nonceStore = {
  add: (db: Queryable, { keyHolderNonce, realm, tokenId }: NonceName, now: Date) =>
    db.run(ADD_NONCE, [keyHolderNonce, realm, tokenId, secondsAfter(now, KEY_HOLDER_LIMITS.nonceSeconds)]),
  /** Whether it was issued for this token, has not expired and was not used. Only the budget's statement uses it up. */
  isOpen: async (db: Queryable, { keyHolderNonce, realm, tokenId }: NonceName, now: Date) =>
    (await db.rows(IS_OPEN, [keyHolderNonce, realm, tokenId, now])).length === 1,
  purge: (db: Queryable, now: Date) => db.run(PURGE_NONCES, [now]),
}

const ADD_VERDICT = sql(
  'verdicts.add',
  `insert into verdicts (realm, token_id, nonce, probe_hash, account, verdict, expires_at) values ($1, $2, $3, $4, $5, $6, $7)
   on conflict do nothing`,
)
const FIND_VERDICT = sql(
  'verdicts.find',
  `select verdict from verdicts where realm = $1 and token_id = $2 and nonce = $3 and probe_hash = $4 and account = $5 and expires_at > $6`,
)
const PURGE_VERDICTS = sql('verdicts.purge', 'delete from verdicts where expires_at <= $1')
/** Longer than the matcher repeats a request. */
const VERDICT_SECONDS = 600

export interface VerdictName extends NonceName {
  probeHash: string
  account: string
}

const keyOf = ({ realm, tokenId, keyHolderNonce, probeHash, account }: VerdictName) => [
  realm,
  tokenId,
  keyHolderNonce,
  probeHash,
  account,
]

export const verdictStore = {
  add: (db: Queryable, name: VerdictName, verdict: TokenVerdict, now: Date) =>
    db.run(ADD_VERDICT, [...keyOf(name), verdict, secondsAfter(now, VERDICT_SECONDS)]),
  find: async (db: Queryable, name: VerdictName, now: Date) =>
    (await db.rows<{ verdict: TokenVerdict }>(FIND_VERDICT, [...keyOf(name), now]))[0]?.verdict,
  purge: (db: Queryable, now: Date) => db.run(PURGE_VERDICTS, [now]),
}
