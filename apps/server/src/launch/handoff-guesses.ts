import { AppError } from '../platform/errors.ts'
import type { FailureLimits } from '../platform/failure-limits/index.ts'
import { networksOf } from '../platform/networks.ts'
import type { Sessions } from '../sessions/index.ts'

interface Deps {
  sessions: Sessions
  failureLimits: FailureLimits
}

/** Limits the wrong and expired handoff codes that one network may send, over all sessions of a tenant and all processes. */
export function createHandoffGuesses({ sessions, failureLimits }: Deps) {
  function refuse(retryAfterSeconds: number): void {
    if (retryAfterSeconds === 0) return
    throw new AppError('rate_limited', 'RATE_LIMITED', 'Too many wrong handoff codes', { retryAfterSeconds })
  }

  return {
    /** Opens a session with a handoff code. A code that is refused counts as a guess. */
    async watch<T>(sessionId: string, address: string, open: () => Promise<T>): Promise<T> {
      const owner = await sessions.findOwner(sessionId)
      if (!owner) return open()
      const guess = { limit: 'handoff-codes', tenantId: owner.tenantId, against: networksOf(address) } as const
      refuse(failureLimits.wait(guess))
      try {
        return await open()
      } catch (error) {
        const isGuess = error instanceof AppError && error.code === 'HANDOFF_REFUSED'
        if (isGuess) refuse(await failureLimits.count(guess))
        throw error
      }
    },
  }
}
export type HandoffGuesses = ReturnType<typeof createHandoffGuesses>
