import type { MatchMethod, SessionCodeName } from '@ostiary/contract'
import type { Progress, Session } from '../sessions/index.ts'
import type { VerificationRequest } from './request.ts'

export type VerificationSession = Session<VerificationRequest, Progress>

/** How a session ends, and what the webhook says of it. Ids of a person stand in a success and nowhere else. */
export type VerificationEnd =
  | {
      state: 'SUCCESS'
      person: { puid: string; guid: string }
      matchedBy?: MatchMethod
      /** Whole years, where an estimate was asked for. */
      estimatedAge?: number
      /** Codes that are worth knowing although all went well. */
      notes?: readonly SessionCodeName[]
      /** JPEG in base64: for the webhook alone. */
      selfie?: string
    }
  | { state: 'FAILED'; failures: readonly SessionCodeName[]; retryAfterSeconds?: number }
  | { state: 'CANCELLED'; code: 'USER_CANCELLED' | 'CONSENT_DECLINED' | 'HOST_CANCELLED' }
  | { state: 'EXPIRED' }
