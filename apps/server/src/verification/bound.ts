import type { BoundKeys } from '../sessions/index.ts'
import { type OwnProgress, type VerificationProgress, verificationOf } from './progress.ts'
import type { VerificationRequest } from './request.ts'

/**
 * A person who is enrolled already gets no new keys, unless they have used one of their passkeys in this session. A face is a claim of
 * the device: it would otherwise be enough to add a key to any person with a photograph in public.
 */
export const bindsKeys = ({ notes, passkeyShown }: VerificationProgress): boolean =>
  !notes.includes('ALREADY_ENROLLED') || passkeyShown

/** What a success has bound to the person, of all that the device holds keys of. */
export function boundBy(request: VerificationRequest, progress: OwnProgress | null): BoundKeys {
  const own = verificationOf(progress)
  const hasLocalKey = request.type === 'ENROLL' && own.localKey !== null
  return {
    ...(hasLocalKey && { localKeyBound: bindsKeys(own) }),
    ...(bindsToken(request, own) && { tokenBound: true }),
  }
}

/** Whether the device's new token is the person's now: that of an ENROLL, or the successor of another one. */
function bindsToken({ type }: VerificationRequest, { token, successor }: VerificationProgress): boolean {
  return (type === 'ENROLL' ? token : successor) !== null
}
