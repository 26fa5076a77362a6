import { ComparisonMessage, type TokenVerdict } from '@ostiary/contract'
import { bodyHash, verifyTokenStatement } from '@ostiary/crypto'
import { cosineOf, type judge } from '@ostiary/token'
import { Compile } from 'typebox/compile'
import { ensure, Refused } from './errors.ts'
import type { InTurn } from './judgements.ts'
import type { ServiceKeys } from './keys.ts'
import { type EvaluationFrame, openMessage } from './message.ts'
import type { Metrics } from './metrics.ts'
import { type Clock, dayOf } from './platform/clock.ts'
import type { Db, Queryable } from './platform/db.ts'
import type { KeyVault } from './platform/key-vault.ts'
import type { Log } from './platform/log.ts'
import { budgetStore } from './shares/budget-store.ts'
import { openShare, type Share } from './shares/sealing.ts'
import { nonceStore, type ShareRow, shareStore, verdictStore } from './shares/store.ts'

export interface JudgingDeps {
  db: Db
  vault: KeyVault
  keys: ServiceKeys
  clock: Clock
  log: Log
  metrics: Metrics
  /** packages/token; a test passes one that takes its time. */
  judge: typeof judge
  inTurn: InTurn
}

const comparisons = Compile(ComparisonMessage)
/** Rounding makes a cosine slightly greater than 1. Beyond this the numbers are not of two faces. */
const COSINE_MAX = 1.02

/**
 * Compares a probe with a token. The order is the protocol's (docs/token.md): everything before the device's signature costs the
 * owner nothing, and from the signature on each try is counted before it is evaluated.
 */
export function createEvaluation({ cosineMin, ...deps }: JudgingDeps & { cosineMin: number }) {
  const { db, vault, keys, clock, log, metrics } = deps

  return async function evaluate({ header, token, probe, evaluation }: EvaluationFrame): Promise<TokenVerdict> {
    const { message } = await openMessage(comparisons, keys.sealPrivateJwk, header)
    const now = clock.now()
    const earlier = await verdictStore.find(db, message, now)
    if (earlier) return earlier

    const row = await shareStore.find(db, message)
    ensure('share', row?.state === 'ACTIVE' && row.account === message.account)
    const share = openRow(vault, row, log)
    ensure('nonce', await nonceStore.isOpen(db, message, now))
    ensure('probe_hash', message.probeHash === (await bodyHash(probe)))
    const { signature, ...statement } = message
    ensure('signature', await verifyTokenStatement(share.deviceKey, signature, statement))

    // In turn before it counts, and before it takes a connection: who waits for a thread holds neither.
    return deps.inTurn(message.realm, () => judgeCounted({ share, token, probe, evaluation, message, now }))
  }

  async function judgeCounted(work: Work): Promise<TokenVerdict> {
    const { share, token, message, now } = work
    const budget = await budgetStore.spend(db, message, now)
    ensure('nonce', budget !== undefined)
    if (!budget.isAllowed) {
      await verdictStore.add(db, message, 'locked', now)
      return 'locked'
    }
    ensure('token_hash', share.tokenHash === (await bodyHash(token)))

    return db.transaction(async (tx) => {
      const verdict = await judgeOnce(tx, work)
      await verdictStore.add(tx, message, verdict, now)
      return verdict
    })
  }

  async function judgeOnce(tx: Queryable, work: Work): Promise<TokenVerdict> {
    const { share, token, probe, evaluation, message, now } = work
    const state = await budgetStore.lockToken(tx, message)
    ensure('share', state !== undefined)
    if (state.isFrozen) return 'locked'
    const { keyShare, tokenNorm } = share
    const { attack, score, probeNorm } = await deps.judge({ token, probe, evaluation, keyShare, isEnrolment: false })
    if (attack) {
      metrics.attacks.inc({ attack })
      log.warn({ attack }, 'attack event under a valid device signature')
      if (await budgetStore.countAttack(tx, message, now)) {
        metrics.frozen.inc()
        log.warn('a token was frozen after its last allowed attack event: see docs/ops/key-holder.md')
      }
      return 'reject'
    }
    const cosine = cosineOf({ score, tokenNorm, probeNorm })
    if (!(cosine >= cosineMin && cosine <= COSINE_MAX)) return 'reject'
    await budgetStore.refund(tx, message, dayOf(now))
    return 'accept'
  }
}

interface Work extends Omit<EvaluationFrame, 'header'> {
  share: Share
  message: ComparisonMessage
  now: Date
}

/** A row that does not open was changed in the database: nobody is accepted with it. */
export function openRow(vault: KeyVault, row: ShareRow, log: Log): Share {
  try {
    return openShare(vault, row, row)
  } catch (err) {
    log.error({ err }, 'a key share does not open')
    throw new Refused('share')
  }
}
