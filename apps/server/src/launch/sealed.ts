import { LAUNCH_LIMITS, type SealedLog } from '@ostiary/contract'
import { openPayload, SealError } from '@ostiary/crypto'
import { AppError } from '../platform/errors.ts'
import { nodeMeans } from '../platform/node-crypto.ts'
import type { RiskFlag } from '../risk/index.ts'
import type { Progress, Session } from '../sessions/index.ts'

/** Says whether a value has the shape of a payload. */
export interface PayloadSchema<Payload> {
  Check(value: unknown): value is Payload
}

/** Opens what a device has sealed to the key of its session. */
export async function readSealed<Payload extends { log: SealedLog }>(
  schema: PayloadSchema<Payload>,
  session: Session,
  progress: Progress,
  sealed: string,
): Promise<Payload | AppError> {
  if (!progress.sealKey) return badPayload('key')
  const limits = {
    sessionId: session.sessionId,
    maxBytes: LAUNCH_LIMITS.sealedBytes,
    maxInflatedBytes: LAUNCH_LIMITS.inflatedBytes,
  }
  try {
    const payload: unknown = await openPayload(progress.sealKey, sealed, limits, nodeMeans)
    if (!schema.Check(payload)) return badPayload('schema')
    const { seq, events = [] } = payload.log
    return events.length <= seq ? payload : badPayload('log')
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    if (error.fault === 'size') return new AppError('too_large', 'PAYLOAD_TOO_LARGE', 'The sealed payload is too large')
    return badPayload(error.fault)
  }
}

/** What a payload answers: the session, the nonce that was issued, and the try. */
export interface Answers {
  sessionId: string
  nonce: string
  attempt: number
}

/** Why a payload does not answer what was issued; undefined if it does. */
export function misfitOf(
  payload: Answers,
  issued: Answers,
  { usedNonces }: Pick<Progress, 'usedNonces'>,
): { refuse: AppError; flags: RiskFlag[] } | undefined {
  if (payload.sessionId !== issued.sessionId) return { refuse: unfitPayload('session'), flags: [] }
  if (usedNonces.includes(payload.nonce)) {
    const refuse = new AppError('conflict', 'PAYLOAD_REPLAYED', 'This challenge was answered already')
    return { refuse, flags: [{ code: 'BH_PAYLOAD_REPLAY' }] }
  }
  if (payload.nonce !== issued.nonce) return { refuse: noChallenge('The payload answers another challenge'), flags: [] }
  return payload.attempt === issued.attempt ? undefined : { refuse: unfitPayload('attempt'), flags: [] }
}

export const noChallenge = (message: string) => new AppError('conflict', 'CHALLENGE_NOT_VALID', message)
const badPayload = (detail: string) =>
  new AppError('invalid_request', 'INVALID_PAYLOAD', 'The payload cannot be read', { detail })
/** It was opened and has the form of a payload. The details tell the device so: without its log it would be refused as well. */
export const unfitPayload = (detail: string, pointer = '/body/sealed') =>
  new AppError('invalid_request', 'INVALID_PAYLOAD', 'The payload cannot be read', {
    detail,
    details: [{ pointer, message: 'does not fit the session' }],
  })
