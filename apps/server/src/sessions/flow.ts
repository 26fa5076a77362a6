import type { CapturePayload, LaunchState, OpenedSession, SessionCodeName } from '@ostiary/contract'
import type { Queryable } from '../platform/db.ts'
import type { AppError } from '../platform/errors.ts'
import type { AreaSessions } from './area-sessions.ts'
import type { InTransaction } from './changes.ts'
import type { DocumentAsk } from './document-progress.ts'
import type { OpenChallenge, Progress } from './progress.ts'
import type { SharedRequest } from './request.ts'
import type { ReturnTicket } from './return-ticket.ts'
import type { Session } from './session.ts'
import type { FinalState, SessionState } from './states.ts'

/** A session that a device has opened, with what is known of its flow. */
export type RunningSession<Request extends SharedRequest = SharedRequest, Own = unknown> = Session<Request, Own> & {
  progress: Progress<Own>
}

export type Role = 'holder' | 'viewer'

/** How a flow is to end. */
export type FlowEnd =
  /** Every step is done: the area decides what the result is. */
  | { how: 'reached' }
  | { how: 'failed'; failures: readonly SessionCodeName[]; retryAfterSeconds?: number }
  | { how: 'cancelled'; code: 'USER_CANCELLED' | 'CONSENT_DECLINED' | 'HOST_CANCELLED' }
  | { how: 'expired' }
  /** A test session ends with the outcome that its request names. */
  | { how: 'simulated' }

/** What a call leads to: the next state, what is known then, and possibly the end or a refusal. */
export interface Step<Own = unknown> {
  state: SessionState
  progress: Progress<Own>
  dueAt?: Date
  /** The session expires at another time from now on. */
  expiresAt?: Date
  /** Codes for the page: what to tell the user. */
  errors?: readonly number[]
  end?: FlowEnd
  /** What the caller is from now on, when the call changed that. */
  role?: Role
  /** The call is refused. What the service learned from it is kept all the same. */
  refuse?: AppError
}

/** A step that refuses its call. */
export type RefusedStep<Own = unknown> = Step<Own> & { refuse: AppError }

/** A step that carries what its call is answered with, unless it refuses the call. */
export type ReplyingStep<Reply, Own = unknown> = (Step<Own> & { reply: Reply; refuse?: undefined }) | RefusedStep<Own>

/** What is decided at once, or only in the transaction that holds the session. */
export type Decided<S = Step> = S | InTransaction<S>

/** A capture that passed every check. */
export interface AcceptedCapture {
  payload: CapturePayload
  /** The challenge that it answers. */
  challenge: OpenChallenge
  /** JPEG in base64. */
  selfie: string | null
  estimateYears: number
  /** The frames disagree about the age. */
  unstable: boolean
  /** The log of the try has gaps, or its timing is not a human's. */
  unfit: boolean
  now: Date
}

/** What slow work has found. */
export interface WorkResult<Running = RunningSession> {
  /** The next step from where the session is now; undefined when the session has moved on without this work. */
  apply(tx: Queryable, session: Running): Promise<Step | undefined>
  /** Called with the state that the session has then. Deletes what the work created when no result will report it. */
  after(state: SessionState): Promise<void>
}

/** What an area's request decides about the steps. Pure: no database, no clock. */
export interface FlowRules {
  /** What the page must know beside the steps. */
  describe(): Pick<OpenedSession, 'type' | 'requirements' | 'verification' | 'ages'>
  /** Whether the page has to estimate an age. */
  wantsAge: boolean
  /** Whether light, movement and camera of a capture may be kept: only where the user has agreed to a text that names them. */
  takesConditions: boolean
  /** Whether another step can decide when the face step gives no verdict. */
  hasOtherWay: boolean
  /** What the document step asks for; null: this session never has one. */
  document: DocumentAsk | null
  /** How long a test session waits before it ends with its simulated outcome; null when it needs a person. */
  simulatedDelayMs: number | null
  /** What in a payload does not fit the request, in a word for our log. */
  payloadFault(payload: CapturePayload, hasSelfie: boolean): string | undefined
  /** Codes that a device may report beside the usual ones. */
  alsoReportable?: readonly SessionCodeName[]
  /** Codes of a face step that failed for good; `noTryLeft` when it could have been tried again otherwise. */
  failuresOf(name: SessionCodeName, noTryLeft: boolean): readonly SessionCodeName[]
  /** What the reply to the page says about the end. */
  endReply(state: FinalState): Pick<LaunchState, 'redirectUrl' | 'localKeyBound' | 'tokenBound'>
}

/** A session that has ended: its state, and which devices learn where to continue. */
export interface Concluded<State extends FinalState = FinalState> {
  state: State
  ticket: ReturnTicket | null
}

/** What a call has led to, for what an area notes of it. */
export interface NotedCall {
  state: SessionState
  errors: readonly number[] | undefined
  refuse: AppError | undefined
  /** The name of the call. */
  call: string
  now: Date
}

/**
 * What `launch` asks of an area. Everything else between a device and its session is the same for both areas. Each member gets the
 * session with the newest progress.
 */
export interface Flow<Request extends SharedRequest = SharedRequest, Own = unknown> {
  rules(session: Session<Request, Own>): FlowRules
  /** The user agreed. `address` is where the device called from. */
  consented(session: RunningSession<Request, Own>, address: string): Decided<Step<Own>>
  captured(session: RunningSession<Request, Own>, capture: AcceptedCapture): Promise<Step<Own>>
  /** A document was accepted: the progress has it. Its face matches, where there was one to compare. */
  documentRead(session: RunningSession<Request, Own>, now: Date): Step<Own>
  /** How to count a failure with these codes although the session goes on; undefined where none counts. */
  countFor(
    session: RunningSession<Request, Own>,
    errors: readonly number[],
  ): ((tx: Queryable) => Promise<Progress<Own>>) | undefined
  /** The progress with what the area notes of a call that is about to be stored. */
  noted(session: RunningSession<Request, Own>, call: NotedCall): Progress<Own>
  /** Ends a session that the transaction holds, with its result and its webhook. */
  conclude(tx: Queryable, session: Session<Request, Own>, end: FlowEnd): Promise<Concluded>
  /** Does what the session waits for (`isWaiting`). Runs outside of any lock, and may run again. */
  work?(session: RunningSession<Request, Own>): Promise<WorkResult<RunningSession<Request, Own>>> | undefined
}

/**
 * An area's flow, as `launch` drives it: for sessions of any area. Every call asks for the rules first. They throw for a session of the other
 * area, because a request and a progress would be read as what they are not.
 */
export function flowOfArea<Request extends SharedRequest, Own>(
  { area, isOwn }: Pick<AreaSessions<Request, Own>, 'area' | 'isOwn'>,
  flow: Flow<Request, Own>,
): Flow {
  return {
    ...flow,
    rules(session) {
      if (!isOwn(session)) throw new Error(`A session of ${session.area} is not one of ${area}`)
      return flow.rules(session)
    },
  }
}
