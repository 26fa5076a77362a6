import { EnrolmentMessage, type TokenVerdict } from '@ostiary/contract'
import { bodyHash, verifyTokenStatement } from '@ostiary/crypto'
import { TokenFormatError, tokenIdOf } from '@ostiary/token'
import { Compile } from 'typebox/compile'
import { ensure, Refused } from './errors.ts'
import { type JudgingDeps, openRow } from './evaluation.ts'
import { type EvaluationFrame, openMessage } from './message.ts'
import { dayOf } from './platform/clock.ts'
import type { Queryable } from './platform/db.ts'
import { budgetStore } from './shares/budget-store.ts'
import { CURRENT, type Share, sealShare } from './shares/sealing.ts'
import { nonceStore, shareStore } from './shares/store.ts'

const enrolments = Compile(EnrolmentMessage)

/**
 * Stores the key share of a new token, PENDING until the server confirms it. The signature is made with the key in the message: it
 * shows that the device has the key with which it will sign probes. Repeating an accepted enrolment gives the same answer.
 */
export function createEnrolment({ db, vault, keys, clock, log, metrics, judge, inTurn }: JudgingDeps) {
  return enrol

  async function enrol({ header, token, probe, evaluation }: EvaluationFrame): Promise<TokenVerdict> {
    const { message, bytes: keyShare } = await openMessage(enrolments, keys.sealPrivateJwk, header)
    const now = clock.now()
    if (await shareStore.find(db, message)) {
      await ensureSame(db, message, keyShare)
      return 'accept'
    }

    ensure('nonce', await nonceStore.isOpen(db, message, now))
    ensure('probe_hash', message.probeHash === (await bodyHash(probe)))
    ensure('token_hash', message.tokenHash === (await bodyHash(token)))
    const { signature, deviceKey, ...statement } = message
    ensure('signature', await verifyTokenStatement(deviceKey, signature, statement))
    ensure('format', isOf(message.tokenId, token) && isOf(message.tokenId, keyShare))

    // In turn before it counts, and before it takes a connection.
    return inTurn(message.realm, () => judgeCounted({ message, token, probe, evaluation, keyShare, now }))
  }

  async function judgeCounted({ message, token, probe, evaluation, keyShare, now }: Work): Promise<TokenVerdict> {
    const budget = await budgetStore.spendEnrolment(db, message, now)
    ensure('nonce', budget !== undefined)
    if (!budget.isAllowed) return 'locked'

    const { deviceKey } = message
    const { attack, probeNorm } = await judge({ token, probe, evaluation, keyShare, isEnrolment: true }).catch(refused)
    if (attack) {
      metrics.attacks.inc({ attack })
      log.warn({ attack }, 'attack event in an enrolment')
      return 'reject'
    }
    const name = { realm: message.realm, account: message.account, tokenId: message.tokenId, ...CURRENT }
    const { tokenHash } = message
    // The test across token and probe has shown that both carry the same numbers: the probe's norm is the token's.
    const sealed = sealShare(vault, name, { keyShare, tokenHash, tokenNorm: probeNorm, deviceKey })
    await db.transaction(async (tx) => {
      const isNew = await shareStore.add(tx, name, sealed, { now, day: dayOf(now) })
      if (!isNew) await ensureSame(tx, message, keyShare)
      await budgetStore.refund(tx, message, dayOf(now))
    })
    return 'accept'
  }

  /** Only an accepted enrolment has a row. */
  async function ensureSame(tx: Queryable, message: EnrolmentMessage, keyShare: Uint8Array): Promise<void> {
    const row = await shareStore.find(tx, message)
    ensure('share', row?.account === message.account)
    ensure('share', isSame(openRow(vault, row, log), message, keyShare))
  }
}

interface Work extends Omit<EvaluationFrame, 'header'> {
  message: EnrolmentMessage
  keyShare: Uint8Array
  now: Date
}

function isSame(share: Share, { tokenHash, deviceKey }: EnrolmentMessage, keyShare: Uint8Array): boolean {
  const { x, y } = share.deviceKey
  const isSameKey = x === deviceKey.x && y === deviceKey.y
  return share.tokenHash === tokenHash && isSameKey && Buffer.from(share.keyShare).equals(keyShare)
}

/** Whether a token or a share carries this id. */
function isOf(tokenId: string, bytes: Uint8Array): boolean {
  try {
    return Buffer.from(tokenIdOf(bytes)).toString('base64url') === tokenId
  } catch (error) {
    return refused(error)
  }
}

function refused(error: unknown): never {
  throw error instanceof TokenFormatError ? new Refused('format') : error
}
