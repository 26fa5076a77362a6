import { LAUNCH_LIMITS, type LaunchState, type SessionArea } from '@ostiary/contract'
import { type DeviceRequest, ProofError, thumbprint, verifyProof } from '@ostiary/crypto'
import { AppError } from '../platform/errors.ts'
import {
  type BoundDevice,
  type Flow,
  flowStatusOf,
  isFinal,
  type Progress,
  type Role,
  type Session,
  type SessionState,
} from '../sessions/index.ts'

/** A call as it arrived: what was signed, and the signature. */
export interface DeviceCall {
  sessionId: string
  method: string
  path: string
  bodyHash: string
  proof: string | undefined
}

export type Flows = Readonly<Record<SessionArea, Flow>>

/** What the request says about the device beside its body. */
export interface DeviceFacts {
  userAgent: string | undefined
  secChUaMobile: string | undefined
  acceptLanguage: string | undefined
}

/** Checks that a call is signed with a key, and is not one that came before. Returns its counter. */
export async function checkProof(call: DeviceCall, device: BoundDevice): Promise<number> {
  if (call.proof === undefined || call.proof.length > LAUNCH_LIMITS.proofChars) throw badProof('missing')
  const expected: DeviceRequest = {
    sessionId: call.sessionId,
    method: call.method,
    path: call.path,
    bodyHash: call.bodyHash,
  }
  const { counter } = await verifyProof(device.key, call.proof, expected).catch((error: unknown) => {
    throw error instanceof ProofError ? badProof(error.fault) : error
  })
  if (counter <= device.counter) throw badProof('counter')
  return counter
}

/**
 * Which of the session's devices made a call. A call that neither has signed is refused without a hint which of the two it
 * might have been.
 */
export async function identify(call: DeviceCall, progress: Progress): Promise<{ role: Role; device: BoundDevice }> {
  let refusal: unknown = badProof('device')
  for (const role of ['holder', 'viewer'] as const) {
    const device = progress[role]
    if (!device) continue
    try {
      return { role, device: { ...device, counter: await checkProof(call, device) } }
    } catch (error) {
      refusal = error
    }
  }
  throw refusal
}

export async function newDevice(call: DeviceCall, key: BoundDevice['key']): Promise<BoundDevice> {
  const device: BoundDevice = { key, thumbprint: await thumbprint(key), counter: -1 }
  return { ...device, counter: await checkProof(call, device) }
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
  errors?: readonly number[] | undefined
}

/** The reply to every call of a page. */
export function launchStateFor(flow: Pick<Flow, 'rules'>, session: Session, facts: ReplyFacts): LaunchState {
  const { state, progress, role, errors = [] } = facts
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
    ...(isFinal(state) && flow.rules({ ...session, progress }).endReply(state)),
  }
}
