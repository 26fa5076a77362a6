import { type SetOutcomeBody, VERIFICATION_TEST_OUTCOMES } from '@ostiary/contract'
import { type AgeRequest, type Ending, readWish } from '../age/index.ts'
import type { Caller } from '../keys/index.ts'
import type { Cells } from '../platform/cells.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError, invalid } from '../platform/errors.ts'
import { isFinal, isPurged, type Progress, type Session, type Sessions } from '../sessions/index.ts'
import { type Lockouts, sandboxEnd, type VerificationEnding, type VerificationSession } from '../verification/index.ts'
import type { WebhookService } from '../webhooks/index.ts'

interface Deps {
  cells: Cells
  sessions: Sessions
  ending: Ending
  verificationEnding: VerificationEnding
  lockouts: Lockouts
  webhooks: WebhookService
}

/** What test keys can do that live keys cannot: choose an outcome, let time pass, let a delivery fail. */
export function createSandbox({ cells, sessions, ending, verificationEnding, lockouts, webhooks }: Deps) {
  async function endAge(tx: Queryable, session: Session<AgeRequest, Progress>, wish: SetOutcomeBody): Promise<Became> {
    if (await ending.expireIfDue(tx, session)) return 'too late'
    await ending.conclude(tx, session, session.progress, { flow: 'COMPLETED', wish: readWish(wish, '/body') })
    return 'ended'
  }

  async function endVerification(tx: Queryable, session: VerificationSession, wish: SetOutcomeBody): Promise<Became> {
    if (await verificationEnding.expireIfDue(tx, session)) return 'too late'
    const end = sandboxEnd(verificationOutcomeOf(wish), session)
    await verificationEnding.conclude(tx, session, session.progress, end)
    return 'ended'
  }

  return {
    async setOutcome(caller: Caller, sessionId: string, wish: SetOutcomeBody): Promise<void> {
      onlyTestKeys(caller)
      const became = await sessions.whileLocked(sessionId, async (tx, found) => {
        if (found.tenantId !== caller.tenantId || found.livemode) return undefined
        if (isPurged(found)) throw new AppError('gone', 'GONE', 'The session is over and deleted')
        if (isFinal(found.state)) throw hasEnded()
        return found.area === 'C'
          ? endAge(tx, found as Session<AgeRequest, Progress>, wish)
          : endVerification(tx, found as VerificationSession, wish)
      })
      if (!became) throw new AppError('not_found', 'NOT_FOUND', 'There is no session with this id')
      // Thrown here and not inside: that its time was over is committed.
      if (became === 'too late') throw hasEnded()
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

type Became = 'ended' | 'too late'

function verificationOutcomeOf({ outcome = 'success', ...others }: SetOutcomeBody) {
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalid(`/body/${other}`, 'is for age sessions; this one takes outcome alone')
  const known = VERIFICATION_TEST_OUTCOMES.find((one) => one === outcome)
  if (known) return known
  throw invalid('/body/outcome', `must be one of ${VERIFICATION_TEST_OUTCOMES.join(', ')} for this session`)
}

const hasEnded = () => new AppError('conflict', 'SESSION_NOT_OPEN', 'The session has ended')

function onlyTestKeys({ livemode }: Caller): void {
  if (livemode) throw new AppError('forbidden', 'SCOPE_DENIED', 'Only test keys may use the sandbox')
}
