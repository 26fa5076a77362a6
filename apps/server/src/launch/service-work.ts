import type { LaunchState } from '@ostiary/contract'
import { createSingleFlight } from '../platform/single-flight.ts'
import { isFinal, isWaiting, type Sessions } from '../sessions/index.ts'
import type { SessionCalls } from './session-call.ts'

/** The slow work that the service does after a call, such as comparing a face. */
export function createServiceWork(sessions: Pick<Sessions, 'apply'>, calls: SessionCalls) {
  const { flowOf, get, change, settle, reply } = calls
  const flights = createSingleFlight<LaunchState>()

  async function work(sessionId: string, thumbprint: string): Promise<LaunchState> {
    const before = await get(sessionId)
    const { progress } = before
    const isWanted = progress && isWaiting(before.state)
    const done = isWanted ? await flowOf(before).work?.({ ...before, progress }) : undefined
    const state = await change<LaunchState>(sessionId, async (session) => {
      // Another process was quicker, or the session has ended: its result counts.
      const asItIs = () => reply(session, { state: session.state, role: 'holder', thumbprint })
      const running = session.progress && { ...session, progress: session.progress }
      if (!done || !running || isFinal(session.state)) return { answer: asItIs() }
      return {
        async inTransaction(tx) {
          const next = await done.apply(tx, running)
          if (!next) return asItIs()
          return sessions.apply(tx, settle(session, next, { role: 'holder', thumbprint, call: 'work' }))
        },
      }
    })
    await done?.after(state.state)
    return state
  }

  return {
    /**
     * If the session waits for the service after this reply to its holder, does that work. Calls of the same device that come meanwhile
     * wait for the same work.
     */
    runIfWaiting(launchState: LaunchState, thumbprint: string): Promise<LaunchState> {
      const { sessionId, state } = launchState
      if (!isWaiting(state)) return Promise.resolve(launchState)
      return flights.run(`${sessionId}/${thumbprint}`, () => work(sessionId, thumbprint))
    },
  }
}
export type ServiceWork = ReturnType<typeof createServiceWork>
