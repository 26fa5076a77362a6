import { LAUNCH_LIMITS } from '@ostiary/contract'
import { appendEvents, type NewEvent } from '../capture-checks/index.ts'
import { type RunningSession, withFlags } from '../sessions/index.ts'

/**
 * The session with more entries in the log of its holder. Whether they come alone or with a call that is decided after them makes no
 * difference: no rule asks when an entry arrived.
 */
export function withEvents(session: RunningSession, events: readonly NewEvent[]): RunningSession {
  if (events.length === 0) return session
  const { progress } = session
  const { log, flags } = appendEvents(progress.log, events, { maxEvents: LAUNCH_LIMITS.events })
  const raised = flags.map((code) => ({ code }))
  return { ...session, progress: withFlags({ ...progress, log, behaviour: true }, raised) }
}
