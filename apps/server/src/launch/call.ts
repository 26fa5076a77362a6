import { DOCUMENT_LIMITS, LAUNCH_LIMITS, type LaunchEvent, type LaunchState, type SessionArea } from '@ostiary/contract'
import { AppError } from '../platform/errors.ts'
import {
  boundTo,
  documentOf,
  type Flow,
  flowStatusOf,
  isFinal,
  type Progress,
  type ReturnTicket,
  type Role,
  type Session,
  type SessionState,
} from '../sessions/index.ts'
import { withParameters } from '../settings/index.ts'

/** A call as it arrived: what was signed, and the signature. */
export interface DeviceCall {
  sessionId: string
  method: string
  path: string
  bodyHash: string
  proof: string | undefined
  /** Entries of the log that came with it, in the clear. */
  events: readonly LaunchEvent[]
}

export type Flows = Readonly<Record<SessionArea, Flow>>

/** What the request says about the device beside its body. */
export interface DeviceFacts {
  userAgent: string | undefined
  secChUaMobile: string | undefined
  acceptLanguage: string | undefined
}

/** The fault is for our log; a caller learns nothing from it. */
export function badProof(detail: string): AppError {
  return new AppError('unauthenticated', 'INVALID_DEVICE_PROOF', 'The device’s signature is not valid', { detail })
}

/** What a reply says beside what the session itself says. */
export interface ReplyFacts {
  state: SessionState
  progress: Progress
  role: Role
  /** Of the device that gets the reply; empty if it has no part in the session. */
  thumbprint: string
  errors?: readonly number[] | undefined
}

/** The reply to every call of a page. */
export function launchStateFor(flow: Pick<Flow, 'rules'>, session: Session, facts: ReplyFacts): LaunchState {
  const { state, progress, role, thumbprint, errors = [] } = facts
  const end = isFinal(state) ? flow.rules({ ...session, progress }).endReply(state) : undefined
  return {
    sessionId: session.sessionId,
    state,
    role,
    attempt: progress.attempt,
    attemptsLeft: Math.max(0, LAUNCH_LIMITS.attempts - progress.attempt),
    expiresAt: session.expiresAt.toISOString(),
    flowStatus: flowStatusOf(state),
    errors: [...errors],
    redirectUrl: null,
    livemode: session.livemode,
    ...(end && {
      ...boundTo(session.returnTicket, thumbprint),
      ...end,
      ...returnFor(end.redirectUrl, session.returnTicket, thumbprint),
    }),
    ...(!end && (progress.document || state === 'DOC_ACTIVE') && { documentAttemptsLeft: documentTriesLeft(progress) }),
    ...(!end && role === 'holder' && isNumberNeeded(progress) && { numberNeeded: true }),
    ...(!end && progress.cannot && { cannot: [...progress.cannot] }),
    ...(!end && progress.pace && { pace: progress.pace }),
  }
}

const documentTriesLeft = (progress: Progress) => Math.max(0, DOCUMENT_LIMITS.attempts - documentOf(progress).tries)

/**
 * Whether the device that holds the session has to send the number of the first screen before anything else. A first device that took the
 * session back at a process of the last release has to send none.
 */
export const isNumberNeeded = ({ number, viewer }: Pick<Progress, 'number' | 'viewer'>): boolean =>
  !!number && viewer !== null

/**
 * Where a device is to continue. Without a ticket no device had a part in the session, and there is no code that the wrong one
 * could get.
 */
function returnFor(
  redirectUrl: string | null,
  ticket: ReturnTicket | null,
  thumbprint: string,
): Pick<LaunchState, 'redirectUrl' | 'code'> {
  if (!ticket || redirectUrl === null) return { redirectUrl }
  if (thumbprint === ticket.owner.thumbprint) return withCode(redirectUrl, ticket.code)
  return { redirectUrl: thumbprint === ticket.other?.thumbprint ? redirectUrl : null }
}

/** A host whose URL has a parameter `code` of its own gets that one back, as before. */
function withCode(redirectUrl: string, code: string | null): Pick<LaunchState, 'redirectUrl' | 'code'> {
  if (code === null) return { redirectUrl }
  const hasOwn = new URL(redirectUrl).searchParams.has('code')
  return { redirectUrl: hasOwn ? redirectUrl : withParameters(redirectUrl, { code }), code }
}
