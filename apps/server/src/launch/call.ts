import { type LaunchState, LAUNCH_LIMITS } from '@ostiary/contract'
import { type DeviceRequest, ProofError, thumbprint, verifyProof } from '@ostiary/crypto'
import { AppError } from '../platform/errors.ts'
import {
  type Area,
  type BoundDevice,
  type Flow,
  type FlowSession,
  flowStatusOf,
  isFinal,
  type Progress,
  type Role,
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

export type Flows = Readonly<Record<Area, Flow>>

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

export interface Telling {
  state: SessionState
  progress: Progress
  role: Role
  errors?: readonly number[] | undefined
}

/** What a page is told after every call. */
export function stateOf(flow: Flow, session: FlowSession, telling: Telling): LaunchState {
  const { state, progress, role, errors = [] } = telling
  return {
    sessionId: session.sessionId,
    state,
    role,
    attempt: progress.attempt,
    attemptsLeft: Math.max(0, LAUNCH_LIMITS.attempts - progress.attempt),
    expiresAt: session.expiresAt.toISOString(),
    flowStatus: flowStatusOf(state),
    errors: [...errors],
    redirectUrl: isFinal(state) ? flow.redirectUrl(session, state) : null,
    livemode: session.livemode,
    ...(isFinal(state) && flow.endFacts?.(session, state, progress)),
  }
}
