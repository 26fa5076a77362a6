import { TOKEN_BUDGET } from '@ostiary/contract'
import { dayOf } from '../platform/clock.ts'
import { type Queryable, sql } from '../platform/db.ts'
import type { NonceName, TokenName } from './store.ts'

const { evaluationsPerDay, evaluationsPerToken, monthsPerToken, failuresPerDay, failuresPer30Days, attackEvents } =
  TOKEN_BUDGET

/** Failures that still count on the day $1. */
const RECENT = (failedOn: string, day: string) =>
  `array(select d from unnest(${failedOn}) as d where d > ${day}::date - 30)`
/** Whether a person may have one failure more. */
const HAS_FAILURES_LEFT = (failedOn: string, day: string) => `
  cardinality(${RECENT(failedOn, day)}) < ${failuresPer30Days}
  and (select count(*) from unnest(${failedOn}) as d where d = ${day}::date) < ${failuresPerDay}`

const USE_NONCE = `
  delete from nonces where realm = $1 and token_id = $2 and nonce = $4 and expires_at > $5 returning nonce`

/**
 * Uses up the nonce, looks at every budget and counts the evaluation and, in advance, a failure: all in one statement, which is
 * committed before anything is evaluated. So neither parallel requests nor the end of the process give a free try. The rows of the
 * person and of the token are locked before they are read, in this order: a second statement waits and then reads what the first
 * has counted. Both are counted or neither is.
 */
const SPEND = sql(
  'budget.spend',
  `with used as (${USE_NONCE}),
   person as materialized (
     select failed_on from persons where realm = $1 and account = $3 and exists (select from used) for update),
   share as materialized (
     select frozen_at, created_at, evaluations, evaluated_on, evaluations_that_day from key_shares
     where realm = $1 and token_id = $2 and account = $3 and state = 'ACTIVE' and exists (select from person) for update),
   budget as materialized (
     select share.frozen_at is null
       and share.created_at + interval '${monthsPerToken} months' > $5
       and share.evaluations < ${evaluationsPerToken}
       and not (share.evaluated_on = $6::date and share.evaluations_that_day >= ${evaluationsPerDay})
       and ${HAS_FAILURES_LEFT('person.failed_on', '$6')} as "isAllowed"
     from person, share),
   counted as (
     update key_shares as s set evaluations = s.evaluations + 1, evaluated_on = $6::date,
       evaluations_that_day = case when s.evaluated_on = $6::date then s.evaluations_that_day else 0 end + 1
     from budget where budget."isAllowed" and s.realm = $1 and s.token_id = $2),
   failed as (
     update persons as p set failed_on = ${RECENT('p.failed_on', '$6')} || $6::date
     from budget where budget."isAllowed" and p.realm = $1 and p.account = $3)
   select "isAllowed" from budget`,
)
/** The same for an enrolment, whose token has no row yet and whose person may have none. */
const SPEND_ENROLMENT = sql(
  'budget.spend_enrolment',
  `with used as (${USE_NONCE}),
   person as (
     insert into persons as p (realm, account, failed_on) select $1, $3, array[$6::date] from used
     on conflict (realm, account) do update set failed_on = ${RECENT('p.failed_on', '$6')} || $6::date
     where ${HAS_FAILURES_LEFT('p.failed_on', '$6')} returning 1)
   select exists (select from person) as "isAllowed" from used`,
)
/** Of equal days it takes one away. */
const REFUND = sql(
  'budget.refund',
  `update persons set failed_on = failed_on[:array_position(failed_on, $3::date) - 1] || failed_on[array_position(failed_on, $3::date) + 1:]
   where realm = $1 and account = $2 and $3::date = any (failed_on)`,
)
const LOCK = sql('budget.lock', 'select pg_advisory_xact_lock(hashtextextended($1, 0))')
const IS_FROZEN = sql(
  'budget.is_frozen',
  'select frozen_at is not null as "isFrozen" from key_shares where realm = $1 and token_id = $2',
)
const COUNT_ATTACK = sql(
  'budget.count_attack',
  `update key_shares set attack_events = attack_events + 1,
     frozen_at = case when attack_events + 1 >= ${attackEvents} then coalesce(frozen_at, $3) else frozen_at end
   where realm = $1 and token_id = $2 returning attack_events = ${attackEvents} as "isFrozenNow"`,
)
const PURGE_PERSONS = sql(
  'persons.purge',
  `delete from persons as p where cardinality(${RECENT('p.failed_on', '$1')}) = 0
   and not exists (select from key_shares as s where s.realm = p.realm and s.account = p.account)`,
)

export interface Spending extends NonceName {
  account: string
}

/** Undefined: the nonce was used meanwhile, or the token is gone. */
async function spend(statement: typeof SPEND, db: Queryable, spending: Spending, now: Date) {
  const { realm, tokenId, account, keyHolderNonce } = spending
  const [found] = await db.rows<{ isAllowed: boolean }>(statement, [
    realm,
    tokenId,
    account,
    keyHolderNonce,
    now,
    dayOf(now),
  ])
  return found
}

export const budgetStore = {
  spend: (db: Queryable, spending: Spending, now: Date) => spend(SPEND, db, spending, now),
  spendEnrolment: (db: Queryable, spending: Spending, now: Date) => spend(SPEND_ENROLMENT, db, spending, now),

  /** Takes back the failure that was counted in advance on this day. */
  refund: (db: Queryable, { realm, account }: { realm: string; account: string }, day: string) =>
    db.run(REFUND, [realm, account, day]),

  /**
   * Until the end of the transaction, no other evaluation of this token is judged: the attack event that freezes the token is counted
   * before the next evaluation looks.
   */
  async lockToken(tx: Queryable, { realm, tokenId }: TokenName): Promise<{ isFrozen: boolean } | undefined> {
    await tx.run(LOCK, [`${realm}/${tokenId}`])
    return (await tx.rows<{ isFrozen: boolean }>(IS_FROZEN, [realm, tokenId]))[0]
  },

  /** True if this event has frozen the token. */
  async countAttack(tx: Queryable, { realm, tokenId }: TokenName, now: Date): Promise<boolean> {
    const [found] = await tx.rows<{ isFrozenNow: boolean }>(COUNT_ATTACK, [realm, tokenId, now])
    return found?.isFrozenNow ?? false
  },

  /** People without a token whose failures no longer count. */
  purgePersons: (db: Queryable, now: Date) => db.run(PURGE_PERSONS, [dayOf(now)]),
}
