import { LAUNCH_API, LAUNCH_LIMITS, type LaunchState } from '@ostiary/contract'
import { ProofError, verifyProof } from '@ostiary/crypto'
import type { Clock } from '../platform/clock.ts'
import { AppError } from '../platform/errors.ts'
import { checkSignature, thumbprintOf } from '../platform/node-crypto.ts'
import {
  type BoundDevice,
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
import { badProof, type DeviceCall, type Flows, isNumberNeeded, launchStateFor, type ReplyFacts } from './call.ts'
import { afterCall, isInTime, learnTime } from './device-clock.ts'
import { otherHolds } from './devices.ts'
import { withEvents } from './step.ts'

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

  /** The session with the caller's counter. */
  async function authenticate(call: DeviceCall, session: Session) {
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

  /**
   * The session of a call that its holder has signed, for work that has to be done before the call: no stranger may cause it. Undefined
   * where the call itself will be refused, which spends its counter.
   */
  async function findHeld(call: DeviceCall): Promise<Session | undefined> {
    const found = await get(call.sessionId)
    if (isFinal(found.state)) return undefined
    const { role, refuse } = await authenticate(call, found)
    return role === 'holder' && !refuse ? found : undefined
  }

  return { flowOf, reply, change, settle, authenticate, answerCall, handleCall, ask, get, findHeld }
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

/** Checks that a call is signed with a key, and is not one that came before. */
async function checkProof({ proof, sessionId, method, path, bodyHash }: DeviceCall, { key, counter }: BoundDevice) {
  if (proof === undefined || proof.length > LAUNCH_LIMITS.proofChars) throw badProof('missing')
  const signed = { sessionId, method, path, bodyHash }
  const proven = await verifyProof(key, proof, signed, checkSignature).catch((error: unknown) => {
    throw error instanceof ProofError ? badProof(error.fault) : error
  })
  if (proven.counter <= counter) throw badProof('counter')
  return proven
}

/**
 * Which of the session's devices made a call. A call that neither has signed is refused without a hint which of the two it
 * might have been. `refuse`: the signature is valid but the time is wrong, so the call is refused and its counter is spent.
 */
export async function identify(call: DeviceCall, progress: Pick<Progress, 'holder' | 'viewer'>, now: Date) {
  let refusal: unknown
  for (const role of ['holder', 'viewer'] as const) {
    const device = progress[role]
    if (!device) continue
    try {
      const { counter, issuedAt } = await checkProof(call, device)
      const known = device.time ?? learnTime(issuedAt, now)
      if (!isInTime(known, issuedAt, now)) return { role, device: { ...device, counter }, refuse: clockChanged() }
      return { role, device: { ...device, counter, time: afterCall(known, issuedAt) } }
    } catch (error) {
      refusal = error
    }
  }
  throw refusal ?? badProof('device')
}

/** The device that opens a session. Its clock is learnt again at every opening, so a clock that was set right costs one reopening. */
export async function newDevice(call: DeviceCall, key: BoundDevice['key'], now: Date): Promise<BoundDevice> {
  const device: BoundDevice = { key, thumbprint: thumbprintOf(key), counter: -1 }
  const { counter, issuedAt } = await checkProof(call, device)
  return { ...device, counter, time: learnTime(issuedAt, now) }
}

/** 409 makes the page open the session again, and that learns the clock as it is now. */
const clockChanged = () =>
  new AppError('conflict', 'DEVICE_CLOCK_CHANGED', 'The device’s clock has changed since it opened the session')
