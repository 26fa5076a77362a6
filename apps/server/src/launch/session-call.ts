import { LAUNCH_API, type LaunchState } from '@ostiary/contract'
import type { Clock } from '../platform/clock.ts'
import { AppError } from '../platform/errors.ts'
import {
  type Decided,
  type Decision,
  type Flow,
  type FlowRules,
  isFinal,
  isPurged,
  newProgress,
  notAtThisStep,
  type Progress,
  type RefusedStep,
  type ReplyingStep,
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

/** A signed call about to be decided. The session has the progress with the caller's counter. */
interface Signed {
  session: RunningSession
  role: Role
  flow: Flow
  rules: FlowRules
}

/** Decides the step that a call leads to. */
export type Decide<S extends Step = Step> = (signed: Signed) => Promise<Decided<S>>

/** A call that was decided and stored. */
interface Answer<S> {
  step: S
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

  /** Decides about the session as it is now, and again when another call has changed it meanwhile. One whose time is over ends first. */
  async function change<T>(sessionId: string, decide: (session: Session) => Promise<Decision<T>>): Promise<T> {
    const outcome = await sessions.change<{ answer: T }>(sessionId, async (session) => {
      if (isPurged(session)) throw sessionGone()
      const isOver = session.endedAt === null && clock.now() > session.dueAt
      if (!isOver) return wrapped(await decide(session))
      return {
        async inTransaction(tx) {
          const { state, ticket } = await flowOf(session).conclude(tx, session, { how: 'expired' })
          // The call finds what the sweeper would have left: a late page gets the redirect URL.
          const ended = { ...session, state, progress: null, endedAt: clock.now(), returnTicket: ticket }
          return { answer: await sessions.apply(tx, await decide(ended)) }
        },
      }
    })
    if (outcome === undefined) throw sessionUnknown()
    return outcome.answer
  }

  /** Ends or saves the session, as the step says. What was learned from a refused call is kept. */
  function settle(session: Session, step: Step, { role, thumbprint, call }: Caller): Decision<LaunchState> {
    const flow = flowOf(session)
    const { state, errors, end, refuse, dueAt, expiresAt } = step
    const facts = { role: step.role ?? role, thumbprint, errors }
    const noted = (progress: Progress): Progress =>
      flow.noted({ ...session, progress }, { state, errors, refuse, call, now: clock.now() })
    const keep = (progress: Progress): Decision<LaunchState> => ({
      session,
      save: { state, progress, ...(dueAt && { dueAt }), ...(expiresAt && { expiresAt }) },
      answer: reply({ ...session, ...(expiresAt && { expiresAt }) }, { ...facts, progress, state }),
    })
    if (end) {
      const progress = noted(step.progress)
      return {
        async inTransaction(tx) {
          const { state: final, ticket } = await flow.conclude(tx, { ...session, progress }, end)
          return reply({ ...session, returnTicket: ticket }, { ...facts, progress, state: final })
        },
      }
    }
    const count = flow.countFor({ ...session, progress: step.progress }, errors ?? [])
    if (!count) return keep(noted(step.progress))
    return {
      async inTransaction(tx) {
        return sessions.apply(tx, keep(noted(await count(tx))))
      },
    }
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

  async function decideCall<S extends Step>(
    call: DeviceCall,
    who: Role | 'either',
    signed: Pick<Signed, 'session' | 'role'> & { refuse: AppError | undefined },
    decide: Decide<S>,
  ): Promise<Decided<S | RefusedStep>> {
    const { session, role, refuse } = signed
    if (refuse) return refused(session, refuse)
    if (who !== 'either' && role !== who) return refused(session, otherHolds())
    // The first device may still make another code or take the session back.
    if (role === 'holder' && isNumberNeeded(session.progress) && !BEFORE_NUMBER.has(nameOf(call)))
      return refused(session, notAtThisStep())
    return orRefuse(session, async () => {
      // A refusal does not undo what the log tells, just as when it came in a call of its own.
      const logged = withEvents(session, call.events)
      const flow = flowOf(logged)
      return orRefuse(logged, () => decide({ session: logged, role, flow, rules: flow.rules(logged) }))
    })
  }

  /** One signed call of the session's holder, or of its viewer where that is allowed. A refused call is stored too. */
  async function run<S extends Step>(
    call: DeviceCall,
    who: Role | 'either',
    decide: Decide<S>,
  ): Promise<Answer<S | RefusedStep>> {
    const outcome = await change<Answer<S | RefusedStep> | AppError>(call.sessionId, async (found) => {
      if (isFinal(found.state))
        return { answer: sessionEnded(found.state === 'EXPIRED' ? 'The session has expired' : 'The session has ended') }
      const { role, session, refuse } = await authenticate(call, found)
      const decided = await decideCall(call, who, { session, role, refuse }, decide)
      const thumbprint = session.progress[role]?.thumbprint ?? ''
      const caller = { role, thumbprint, call: nameOf(call) }
      const answered = (step: S | RefusedStep) =>
        mapped(settle(session, step, caller), (launchState) => ({ step, launchState, thumbprint }))
      if (!('inTransaction' in decided)) return answered(decided)
      return { inTransaction: async (tx) => sessions.apply(tx, answered(await decided.inTransaction(tx))) }
    })
    if (outcome instanceof AppError) throw outcome
    return outcome
  }

  async function answerCall(call: DeviceCall, who: Role | 'either', decide: Decide): Promise<Answer<Step>> {
    const answer = await run(call, who, decide)
    // Thrown here and not inside: what the service learned from the call is committed, and then the call is refused.
    if (answer.step.refuse) throw answer.step.refuse
    return answer
  }

  async function handleCall(call: DeviceCall, who: Role | 'either', decide: Decide): Promise<LaunchState> {
    return (await answerCall(call, who, decide)).launchState
  }

  /** A call whose step carries its reply. */
  async function ask<Reply>(
    call: DeviceCall,
    who: Role | 'either',
    decide: Decide<ReplyingStep<Reply>>,
  ): Promise<Reply> {
    const { step } = await run(call, who, decide)
    if (step.refuse) throw step.refuse
    return step.reply
  }

  async function get(sessionId: string): Promise<Session> {
    const session = await sessions.find(sessionId)
    if (!session || isPurged(session)) throw sessionGone()
    return session
  }

  return { flowOf, reply, change, settle, authenticate, answerCall, handleCall, ask, get }
}
export type SessionCalls = ReturnType<typeof createSessionCalls>

const refused = ({ state, progress }: RunningSession, refuse: AppError): RefusedStep => ({ state, progress, refuse })

/** A refused call is used up like any other: nobody can keep it and send it again at a time when it would be accepted. */
async function orRefuse<S extends Step>(
  session: RunningSession,
  decide: () => Promise<Decided<S>>,
): Promise<Decided<S | RefusedStep>> {
  try {
    const decided = await decide()
    if (!('inTransaction' in decided)) return decided
    return {
      async inTransaction(tx) {
        try {
          return await decided.inTransaction(tx)
        } catch (error) {
          if (!(error instanceof AppError)) throw error
          return refused(session, error)
        }
      },
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return refused(session, error)
  }
}

/** The same decision with another answer. */
export function mapped<T, R>(decision: Decision<T>, toAnswer: (answer: T) => R): Decision<R> {
  if ('inTransaction' in decision) return { inTransaction: async (tx) => toAnswer(await decision.inTransaction(tx)) }
  return { ...decision, answer: toAnswer(decision.answer) }
}

const wrapped = <T>(decision: Decision<T>): Decision<{ answer: T }> => mapped(decision, (answer) => ({ answer }))

/** What a device may send before the number. Of `consent` only the refusal is taken. */
const BEFORE_NUMBER: ReadonlySet<string> = new Set(['number', 'consent', 'cancel'])

const nameOf = ({ path }: DeviceCall) => path.replace(LAUNCH_API, '')
