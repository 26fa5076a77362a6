import { LAUNCH_API, type LaunchState } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import type { Queryable } from '../platform/db.ts'
import { AppError } from '../platform/errors.ts'
import {
  type Flow,
  isFinal,
  isPurged,
  newProgress,
  notAtThisStep,
  type Role,
  type RunningSession,
  type Session,
  type Sessions,
  type Step,
  sessionEnded,
  sessionGone,
  sessionUnknown,
} from '../sessions/index.ts'
import { type DeviceCall, type Flows, identify, isNumberNeeded, launchStateFor, type ReplyFacts } from './call.ts'
import { otherHolds } from './devices.ts'
import { withEvents } from './events.ts'

interface Deps {
  sessions: Sessions
  flows: Flows
  clock: Clock
}

/** Decides the step that a call leads to. The session has the progress with the caller's counter. */
export type Decide = (session: RunningSession, tx: Queryable, role: Role) => Step | Promise<Step>

/** The reply to a call, and who made it. */
interface Answer {
  launchState: LaunchState
  thumbprint: string
}

/** Who made a call, and which. */
interface Caller {
  role: Role
  thumbprint: string
  call: string
}

/** What every call of a device has in common: read the session, identify the device, decide the step, store it, reply. */
export function createSessionCalls({ sessions, flows, clock }: Deps) {
  const flowOf = ({ area }: Session): Flow => flows[area]

  function reply(session: Session, facts: Omit<ReplyFacts, 'progress'> & Partial<ReplyFacts>): LaunchState {
    // A session that has ended keeps no progress; its reply needs none.
    const progress = facts.progress ?? session.progress ?? newProgress('en')
    return launchStateFor(flowOf(session), session, { ...facts, progress })
  }

  /**
   * Runs `work` on the session, and again when another call has changed it meanwhile. An `AppError` that it returns is thrown after the
   * commit.
   */
  async function change<T>(
    sessionId: string,
    work: (tx: Queryable, session: Session) => Promise<T | AppError>,
  ): Promise<T> {
    const outcome = await sessions.change<T | AppError>(sessionId, async (tx, session) => {
      if (isPurged(session)) throw sessionGone()
      if (session.endedAt !== null || clock.now() <= session.dueAt) return work(tx, session)
      const { state, ticket } = await flowOf(session).conclude(tx, session, { how: 'expired' })
      // The call finds what the sweeper would have left: a late page gets the redirect URL.
      return work(tx, { ...session, state, progress: null, endedAt: clock.now(), returnTicket: ticket })
    })
    if (outcome === undefined) throw sessionUnknown()
    // Thrown here and not inside: what the service learned from the call is committed, and then the call is refused.
    if (outcome instanceof AppError) throw outcome
    return outcome
  }

  /** Ends or saves the session, as the step says. What was learned from a refused call is kept. */
  async function settle(tx: Queryable, session: Session, step: Step, caller: Caller): Promise<LaunchState> {
    const { role, thumbprint, call } = caller
    const flow = flowOf(session)
    const { state, errors, end, refuse, dueAt, expiresAt } = step
    const settled = { state, errors, end, refuse, call, now: clock.now() }
    const progress = await flow.settled(tx, { ...session, progress: step.progress }, settled)
    const facts = { progress, role: step.role ?? role, thumbprint, errors }
    if (end) {
      const { state: final, ticket } = await flow.conclude(tx, { ...session, progress }, end)
      return reply({ ...session, returnTicket: ticket }, { ...facts, state: final })
    }
    await sessions.save(tx, session, { state, progress, ...(dueAt && { dueAt }), ...(expiresAt && { expiresAt }) })
    return reply({ ...session, ...(expiresAt && { expiresAt }) }, { ...facts, state })
  }

  /** `refuse`: the signature is valid but the time is wrong. The device's counter is saved anyway. */
  async function authenticate(
    call: DeviceCall,
    session: Session,
  ): Promise<{ role: Role; session: RunningSession; refuse: AppError | undefined }> {
    const { progress } = session
    if (!progress) throw new AppError('unauthenticated', 'INVALID_DEVICE_PROOF', 'The session is not open on a device')
    const { role, device, refuse } = await identify(call, progress, clock.now())
    return { role, session: { ...session, progress: { ...progress, [role]: device } }, refuse }
  }

  /** One signed call of the session's holder, or of its viewer where that is allowed. */
  function answerCall(call: DeviceCall, who: Role | 'either', decide: Decide): Promise<Answer> {
    return change<Answer>(call.sessionId, async (tx, found) => {
      if (isFinal(found.state))
        return sessionEnded(found.state === 'EXPIRED' ? 'The session has expired' : 'The session has ended')
      const { role, session, refuse } = await authenticate(call, found)
      const decided = await orRefuse(session, () => {
        if (refuse) throw refuse
        if (who !== 'either' && role !== who) throw otherHolds()
        // The first device may still make another code or take the session back.
        if (role === 'holder' && isNumberNeeded(session.progress) && !BEFORE_NUMBER.has(nameOf(call)))
          throw notAtThisStep()
        const logged = withEvents(session, call.events)
        // A refusal does not undo what the log tells, just as when it came in a call of its own.
        return orRefuse(logged, () => decide(logged, tx, role))
      })
      const thumbprint = session.progress[role]?.thumbprint ?? ''
      const launchState = await settle(tx, session, decided, { role, thumbprint, call: nameOf(call) })
      return decided.refuse ?? { launchState, thumbprint }
    })
  }

  async function handleCall(call: DeviceCall, who: Role | 'either', decide: Decide): Promise<LaunchState> {
    return (await answerCall(call, who, decide)).launchState
  }

  async function get(sessionId: string): Promise<Session> {
    const session = await sessions.find(sessionId)
    if (!session || isPurged(session)) throw sessionGone()
    return session
  }

  return { flowOf, reply, change, settle, authenticate, answerCall, handleCall, get }
}
export type SessionCalls = ReturnType<typeof createSessionCalls>

/** A refused call is used up like any other: nobody can keep it and send it again at a time when it would be accepted. */
async function orRefuse(session: RunningSession, decide: () => Step | Promise<Step>): Promise<Step> {
  try {
    return await decide()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { state: session.state, progress: session.progress, refuse: error }
  }
}

/** What a device may send before the number. Of `consent` only the refusal is taken. */
const BEFORE_NUMBER: ReadonlySet<string> = new Set(['number', 'consent', 'cancel'])

const nameOf = ({ path }: DeviceCall) => path.replace(LAUNCH_API, '')
