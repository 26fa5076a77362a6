import type { LaunchState } from '@ostiary/contract'
import { createSingleFlight } from '../platform/single-flight.ts'
import { isFinal, isWaiting } from '../sessions/index.ts'
import type { SessionCalls } from './session-call.ts'

/** The slow work that the service does after a call, such as comparing a face. */
export function createServiceWork({ flowOf, get, change, settle, reply }: SessionCalls) {
  const flights = createSingleFlight<LaunchState>()

  async function work(sessionId: string, thumbprint: string): Promise<LaunchState> {
    const before = await get(sessionId)
    const { progress } = before
    const isWanted = progress && isWaiting(before.state)
    const done = isWanted ? await flowOf(before).work?.({ ...before, progress }) : undefined
    const state = await change<LaunchState>(sessionId, async (tx, session) => {
      const running = session.progress && { ...session, progress: session.progress }
      const next = done && running && !isFinal(session.state) ? await done.apply(tx, running) : undefined
      if (next) return settle(tx, session, next, { role: 'holder', thumbprint, call: 'work' })
      // Another process was quicker, or the session has ended: its result counts.
      return reply(session, { state: session.state, role: 'holder', thumbprint })
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
