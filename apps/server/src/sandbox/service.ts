import type { SandboxOutcome } from '@ostiary/contract'
import type { AgeRequest } from '../age/index.ts'
import { type Ending, readWish } from '../age/index.ts'
import type { Caller } from '../keys/index.ts'
import type { Cells } from '../platform/cells.ts'
import { AppError } from '../platform/errors.ts'
import { isFinal, isPurged, type Progress, type Session, type Sessions } from '../sessions/index.ts'
import type { WebhookService } from '../webhooks/index.ts'

interface Deps {
  cells: Cells
  sessions: Sessions
  ending: Ending
  webhooks: WebhookService
}

/** What test keys can do that live keys cannot: choose an outcome, let time pass, let a delivery fail. */
export function createSandbox({ cells, sessions, ending, webhooks }: Deps) {
  return {
    async setOutcome(caller: Caller, sessionId: string, wish: SandboxOutcome): Promise<void> {
      onlyTestKeys(caller)
      const became = await sessions.whileLocked(sessionId, async (tx, found) => {
        if (found.tenantId !== caller.tenantId || found.livemode) return undefined
        if (isPurged(found)) throw new AppError('gone', 'GONE', 'The session is over and deleted')
        if (isFinal(found.state)) throw hasEnded()
        const session = found as Session<AgeRequest, Progress>
        if (await ending.expireIfDue(tx, session)) return 'EXPIRED'
        return ending.conclude(tx, session, session.progress, { flow: 'COMPLETED', wish: readWish(wish, '/body') })
      })
      if (!became) throw new AppError('not_found', 'NOT_FOUND', 'There is no session with this id')
      // Thrown here and not inside: that its time was over is committed.
      if (became === 'EXPIRED') throw hasEnded()
    },

    async advance(caller: Caller, seconds: number): Promise<void> {
      onlyTestKeys(caller)
      await cells.forId(caller.tenantId).transaction(async (tx) => {
        await sessions.shiftTestTime(tx, caller.tenantId, seconds * 1000)
        await webhooks.shiftTestTime(tx, caller.tenantId, seconds * 1000)
      })
    },

    failDelivery: (caller: Caller, id: string, times: number) => webhooks.failNext(caller, id, times),
  }
}
export type Sandbox = ReturnType<typeof createSandbox>

const hasEnded = () => new AppError('conflict', 'SESSION_NOT_OPEN', 'The session has ended')

function onlyTestKeys({ livemode }: Caller): void {
  if (livemode) throw new AppError('forbidden', 'SCOPE_DENIED', 'Only test keys may use the sandbox')
}
