import type { CapturePayload, VerificationFacts } from '@ostiary/contract'
import { decodeVector } from '@ostiary/crypto'
import { realmOf } from '../matcher/index.ts'
import type { SessionEvent } from '../sessions/index.ts'
import type { TokenProgress, VerificationProgress } from './progress.ts'
import type { VerificationRequest } from './request.ts'

type Asked = Pick<VerificationRequest, 'type' | 'requirements' | 'sendImages' | 'estimateAge' | 'policy'>

/** Whether a hit on the user's own device can be enough. It is a claim of that device, so the tenant decides. */
export function matchingOf({ type, requirements, policy }: Asked): VerificationFacts['matching'] {
  if (type === 'ENROLL') return 'server'
  const { signInMatching } = policy
  const allowed =
    signInMatching === 'local' || (signInMatching === 'local_with_passkey' && requirements.includes('passkey'))
  return allowed ? 'local_first' : 'server'
}

export function factsOf(request: Asked, { tenantId, livemode }: { tenantId: string; livemode: boolean }) {
  return {
    realm: realmOf({ tenantId, livemode }),
    version: 'FACE3_3',
    sendImages: request.sendImages,
    estimateAge: wantsAge(request),
    matching: matchingOf(request),
    ...(usesTokens(request) && { templates: request.policy.templates }),
    ...(mayMigrate(request) && { migrates: true }),
  } as const satisfies VerificationFacts
}

/** Only an ENROLL has a use for an age. */
export function wantsAge({ type, estimateAge }: Pick<Asked, 'type' | 'estimateAge'>): boolean {
  return type === 'ENROLL' && estimateAge
}

/** Whether faces are compared as tokens. Sessions of the last release have no such policy. */
export function usesTokens({ policy: { templates = 'vector' } }: Pick<VerificationRequest, 'policy'>): boolean {
  return templates !== 'vector'
}

/** Whether a vector may come once more, with the token that replaces the stored one. */
export function mayMigrate({ type, policy }: Pick<VerificationRequest, 'type' | 'policy'>): boolean {
  return usesTokens({ policy }) && type !== 'ENROLL' && policy.migrateVectors === true
}

/** What in a payload does not fit the request, in a word for the log. */
export function payloadFault(
  request: Asked,
  payload: CapturePayload,
  { hasSelfie, begun, successor }: { hasSelfie: boolean; begun: TokenProgress | null; successor: TokenProgress | null },
): string | undefined {
  if (hasSelfie !== request.sendImages) return 'selfie'
  if (!fitsAge(request, payload)) return 'age'
  const { face, token, local, match } = payload
  // The document comes after the face here, so nothing can have been compared yet.
  if (match) return 'match'
  if (local && 'key' in local !== (request.type === 'ENROLL')) return 'local'
  const localIsEnough = local && 'hit' in local && local.hit && matchingOf(request) === 'local_first'
  if (usesTokens(request)) {
    if (payload.successor && !isBegun(payload, payload.successor, successor)) return 'successor'
    // This tenant has promised to take no vector, except to replace one that is stored.
    const isMigration = mayMigrate(request) && payload.successor !== undefined && !token
    if (face) return isMigration && hasDirection(face.vector) ? undefined : 'face'
    if (isMigration) return 'face'
    // A hit on the device is a claim: it binds no new token. The old token is compared, or the vector.
    if (payload.successor && !token) return 'successor'
    if (!token) return localIsEnough ? undefined : 'token'
    return isBegun(payload, token, begun) ? undefined : 'token'
  }
  if (token || payload.successor) return 'token'
  if (!face) return localIsEnough ? undefined : 'face'
  return hasDirection(face.vector) ? undefined : 'face'
}

/** Whether a payload names what was begun and sent for its challenge. */
function isBegun(
  { nonce }: CapturePayload,
  { id, probeHash }: { id: string; probeHash: string },
  begun: TokenProgress | null,
): boolean {
  return begun?.tokenId === id && begun.probeHash === probeHash && begun.nonce === nonce
}

/** Refuses measurements that the session did not ask for. */
function fitsAge(request: Asked, { estimate, frames }: CapturePayload): boolean {
  if (wantsAge(request)) return estimate.frames > 0
  const hasNone = estimate.frames === 0 && estimate.age === 0 && estimate.spread === 0
  return hasNone && frames.every(({ age }) => age === undefined)
}

function hasDirection(vector: string): boolean {
  try {
    decodeVector(vector)
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Where the last step before the passkey of an ENROLL leads. */
export function eventAfterDocument(
  { requirements }: Asked,
  { credential }: Pick<VerificationProgress, 'credential'>,
): SessionEvent {
  return requirements.includes('passkey') && !credential ? 'passkey_needed' : 'finalize'
}

/** Where a good capture leads. */
export function eventAfterCapture(
  request: Asked,
  { claim, credential }: Pick<VerificationProgress, 'claim' | 'credential'>,
): SessionEvent {
  if (request.type === 'ENROLL') {
    return request.requirements.includes('identity_document')
      ? 'document_needed'
      : eventAfterDocument(request, { credential })
  }
  return claim?.hit && matchingOf(request) === 'local_first' ? 'compare_locally' : 'compare_on_server'
}
