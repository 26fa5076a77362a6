import { SESSION_CODES, type SetOutcomeBody, VERIFICATION_TEST_OUTCOMES } from '@ostiary/contract'
import { type AgeEnd, ageSessionsIn, type Ending, readSimulatedOutcome } from '../age/index.ts'
import type { Caller } from '../keys/index.ts'
import type { Cells } from '../platform/cells.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError, invalid } from '../platform/errors.ts'
import {
  isFinal,
  isPurged,
  type Session,
  type Sessions,
  sessionEnded,
  sessionGone,
  sessionUnknown,
} from '../sessions/index.ts'
import {
  type Lockouts,
  sandboxEnd,
  sandboxFailure,
  type VerificationEnd,
  type VerificationEnding,
  type VerificationSession,
  verificationSessionsIn,
} from '../verification/index.ts'
import type { WebhookService } from '../webhooks/index.ts'
import { endByCodes } from './end-by-codes.ts'

interface Deps {
  cells: Cells
  clock: Clock
  sessions: Sessions
  ending: Ending
  verificationEnding: VerificationEnding
  lockouts: Lockouts
  webhooks: WebhookService
}

/** What test keys can do that live keys cannot: choose an outcome, let time pass, let a delivery fail. */
export function createSandbox({ cells, clock, sessions, ending, verificationEnding, lockouts, webhooks }: Deps) {
  const ages = ageSessionsIn(sessions)
  const verifications = verificationSessionsIn(sessions)

  /** Ends the session with the outcome. Returns false when its time was over before. */
  async function end(tx: Queryable, session: Session, outcome: SetOutcomeBody): Promise<boolean> {
    if (ages.isOwn(session)) {
      if (await ending.expireIfDue(tx, session)) return false
      await ending.conclude(tx, session, ageEndOf(outcome))
    } else if (verifications.isOwn(session)) {
      if (await verificationEnding.expireIfDue(tx, session)) return false
      await verificationEnding.conclude(tx, session, verificationEndOf(outcome, session, clock.now()))
    }
    return true
  }

  return {
    async setOutcome(caller: Caller, sessionId: string, outcome: SetOutcomeBody): Promise<void> {
      onlyTestKeys(caller)
      const inTime = await sessions.whileLocked(sessionId, async (tx, found) => {
        if (found.tenantId !== caller.tenantId || found.livemode) return undefined
        if (isPurged(found)) throw sessionGone()
        if (isFinal(found.state)) throw sessionEnded()
        return end(tx, found, outcome)
      })
      if (inTime === undefined) throw sessionUnknown()
      // Thrown here and not inside: that its time was over is committed.
      if (!inTime) throw sessionEnded()
    },

    async advance(caller: Caller, seconds: number): Promise<void> {
      onlyTestKeys(caller)
      await cells.forId(caller.tenantId).transaction(async (tx) => {
        await sessions.shiftTestTime(tx, caller.tenantId, seconds * 1000)
        await webhooks.shiftTestTime(tx, caller.tenantId, seconds * 1000)
        await lockouts.shiftTestTime(tx, caller.tenantId, seconds * 1000)
      })
    },

    failDelivery: (caller: Caller, id: string, times: number) => webhooks.failNext(caller, id, times),
  }
}
export type Sandbox = ReturnType<typeof createSandbox>

/** Codes that no completed session has end it as they would: cancelled or expired. */
function ageEndOf(body: SetOutcomeBody): AgeEnd {
  const outcome = readSimulatedOutcome(body, '/body')
  const end = endByCodes(outcome.errors, '/body/errors')
  return end.how === 'failed' ? { how: 'simulated', outcome } : end
}

function verificationEndOf(body: SetOutcomeBody, session: VerificationSession, now: Date): VerificationEnd {
  const { errors = [], ...rest } = body
  if (errors.length === 0) return sandboxEnd(verificationOutcomeOf(rest), session, now)
  const [other] = Object.keys(rest)
  if (other !== undefined) throw invalid(`/body/${other}`, 'cannot stand beside errors in this session')
  // A session that a desktop may not run waits for a phone until it expires.
  const { DESKTOP, SESSION_EXPIRED } = SESSION_CODES
  const end = endByCodes(errors.includes(DESKTOP.code) ? [...errors, SESSION_EXPIRED.code] : errors, '/body/errors')
  if (end.how === 'cancelled') return { state: 'CANCELLED', code: end.code }
  if (end.how === 'expired') return { state: 'EXPIRED', desktop: end.desktop }
  return sandboxFailure(end.failures, session, now)
}

function verificationOutcomeOf({ outcome = 'success', ...others }: SetOutcomeBody) {
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalid(`/body/${other}`, 'is for age sessions; this one takes outcome or errors')
  const known = VERIFICATION_TEST_OUTCOMES.find((one) => one === outcome)
  if (known) return known
  throw invalid('/body/outcome', `must be one of ${VERIFICATION_TEST_OUTCOMES.join(', ')} for this session`)
}

function onlyTestKeys({ livemode }: Caller): void {
  if (livemode) throw new AppError('forbidden', 'SCOPE_DENIED', 'Only test keys may use the sandbox')
}
