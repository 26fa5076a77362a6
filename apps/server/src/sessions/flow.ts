import type {
  CapturePayload,
  LaunchState,
  OpenedSession,
  PasskeyOptions,
  SessionCodeName,
  VerificationRequirement,
} from '@ostiary/contract'
import type { PinnedChallenge } from '../capture/index.ts'
import type { Queryable } from '../platform/db.ts'
import type { AppError } from '../platform/errors.ts'
import type { OpenChallenge, Progress } from './progress.ts'
import type { Session } from './service.ts'
import type { FinalState, SessionState } from './states.ts'

/** What every area's request has: all that the launch room looks at by itself. */
export interface FlowRequest {
  redirectUrl: string
  enableDesktop: boolean
  locale: string | null
  requirements: readonly VerificationRequirement[]
  pinned?: PinnedChallenge | null
  policy: { defaultLocale: string }
}
export type FlowSession = Session<FlowRequest, Progress>

export type Role = 'holder' | 'viewer'

/** How a flow is to end. */
export type FlowEnd =
  /** Every step is done: the area says what came of it. */
  | { how: 'reached' }
  | { how: 'failed'; failures: readonly SessionCodeName[]; retryAfterSeconds?: number }
  | { how: 'cancelled'; code: 'USER_CANCELLED' | 'CONSENT_DECLINED' }
  | { how: 'expired' }
  /** A test session, as it was wished for. */
  | { how: 'wished' }

/** What a call leads to: the next state, what is known then, and perhaps the end or a refusal. */
export interface Step {
  state: SessionState
  progress: Progress
  dueAt?: Date
  /** Codes for the page: what to tell the user. */
  errors?: readonly number[]
  end?: FlowEnd
  /** What the caller is from now on, when the call changed that. */
  role?: Role
  /** The call is refused, and what it taught is kept all the same. */
  refuse?: AppError
}

/** A capture that was judged good. */
export interface Seen {
  payload: CapturePayload
  /** What it answers. */
  challenge: OpenChallenge
  /** JPEG in base64. */
  selfie: string | null
  estimateYears: number
  /** The frames disagree about the age. */
  unstable: boolean
  /** The log of the try has gaps, or is timed by no human. */
  unfit: boolean
  now: Date
}

/** What slow work came to. */
export interface WorkResult {
  /** As a step from where the session stands now; undefined when it has gone on without it. */
  apply(tx: Queryable, session: FlowSession, progress: Progress): Promise<Step | undefined>
  /** Told the state that the session has then: takes back what nobody will hear of. */
  after?(state: SessionState): Promise<void>
}

export interface PasskeyStep {
  step: Step
  asked: PasskeyOptions
}

/** What the launch room asks of an area. Everything between a device and its session is the same for both. */
export interface Flow {
  /** Ends a session that the transaction holds, with its result and its webhook. Returns the state it has then. */
  conclude(tx: Queryable, session: FlowSession, progress: Progress | null, end: FlowEnd): Promise<FinalState>
  /** What the page must know beside the steps. */
  describe(session: FlowSession): Pick<OpenedSession, 'type' | 'requirements' | 'verification'>
  redirectUrl(session: FlowSession, state: FinalState): string
  /** What else the device that ran the flow must know of its end. */
  endFacts?(session: FlowSession, state: FinalState, progress: Progress): Pick<LaunchState, 'localKeyBound'>
  /** How long a test session waits before it ends as wished; null when it takes a person. */
  wishDelayMs(session: FlowSession): number | null
  /** Before the session is locked: a name for the device's network that nobody can read back. */
  nameNetwork?(owner: { tenantId: string; livemode: boolean }, network: string): Promise<string>
  consented(
    session: FlowSession,
    progress: Progress,
    about: { tx: Queryable; network: string | undefined },
  ): Promise<Step> | Step
  /** Codes of a face step that failed for good; `tries` is whether none was left. */
  failuresOf(name: SessionCodeName, tries: boolean): readonly SessionCodeName[]
  wantsAge(session: FlowSession): boolean
  /** Whether a face that cannot be judged may be followed by something else. */
  hasOtherWay(session: FlowSession): boolean
  /** What of a payload does not fit the session, for our log. */
  faultOf(session: FlowSession, payload: CapturePayload, hasSelfie: boolean): string | undefined
  captured(session: FlowSession, progress: Progress, seen: Seen): Step
  /** What the session waits for; undefined when it waits for nobody. Runs outside of any lock, and may be run again. */
  work?(session: FlowSession): (() => Promise<WorkResult>) | undefined
  /** A try has failed and others are left: what it says of who was there may count at once. Returns what is known then. */
  countTry?(tx: Queryable, session: FlowSession, step: Step): Promise<Progress>
  /** Notes for debugging, where the host asked for them. */
  noteStep?(session: FlowSession, step: Step, at: { call: string; now: Date }): Progress
  passkey?: {
    options(tx: Queryable, session: FlowSession, progress: Progress): Promise<PasskeyStep>
    verify(tx: Queryable, session: FlowSession, progress: Progress, response: unknown): Promise<Step>
    /** The authenticator refused, or the user did. */
    failed(session: FlowSession, progress: Progress): Step
  }
}
