import { TOKEN_BUDGET } from '@ostiary/contract'
import type { Queryable } from '../platform/db.ts'
import type { TenantData } from '../platform/tenant-data.ts'
import { type TokenRow, tokenStore } from './store.ts'

const MONTH_DAYS = 30.4375
const DAY_MS = 86_400_000

/** The day in UTC, as the tables store it. */
export const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10)

/**
 * Counts an evaluation before it happens, and a failure in advance: a process that is killed in the middle has given no free try. False
 * when a budget is used up; then nothing was counted. In the transaction that begins the probe, or the repeat of a probe that was begun
 * would be free. The key holder counts the same for itself.
 */
export async function takeEvaluation(
  tx: Queryable,
  owner: TenantData,
  { tokenId, account }: Pick<TokenRow, 'tokenId' | 'account'>,
  now: Date,
): Promise<boolean> {
  const day = dayOf(now)
  const oldest = new Date(now.getTime() - TOKEN_BUDGET.monthsPerToken * MONTH_DAYS * DAY_MS)
  const counted = { ...owner, account, day }
  const failures = await tokenStore.lockDay(tx, counted)
  if (failures >= TOKEN_BUDGET.failuresPerDay) return false
  if (!(await tokenStore.countEvaluation(tx, owner, tokenId, { day, oldest }))) return false
  await tokenStore.addFailures(tx, counted, 1)
  return true
}

/** The evaluation was accepted: it is no failure. */
export const refundFailure = (db: Queryable, owner: TenantData, account: Buffer, countedAt: Date): Promise<number> =>
  tokenStore.addFailures(db, { ...owner, account, day: dayOf(countedAt) }, -1)

/** A device may not come often: it renews well before the end. */
const RENEWAL_SHARE = 0.9

/** Whether the token should be replaced: nearly all of its comparisons, or of its time, are over. */
export function isRenewalDue(
  { evaluations, createdAt }: Pick<TokenRow, 'evaluations' | 'createdAt'>,
  now: Date,
): boolean {
  const ageMs = now.getTime() - createdAt.getTime()
  const { evaluationsPerToken, monthsPerToken } = TOKEN_BUDGET
  return (
    evaluations >= RENEWAL_SHARE * evaluationsPerToken || ageMs >= RENEWAL_SHARE * monthsPerToken * MONTH_DAYS * DAY_MS
  )
}

/** Seconds until the budgets of a day begin again. */
export const secondsToTomorrow = (now: Date): number => Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1000)
