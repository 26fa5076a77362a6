import type { DocumentRecord, MatchMethod, SessionCodeName } from '@ostiary/contract'
import { type RunningSession, type Session, type Sessions, type Step, sessionsOfArea } from '../sessions/index.ts'
import type { VerificationProgress } from './progress.ts'
import type { VerificationRequest } from './request.ts'

export type VerificationSession = Session<VerificationRequest, VerificationProgress>
/** A session that a device has opened. */
export type RunningVerification = RunningSession<VerificationRequest, VerificationProgress>
export type VerificationStep = Step<VerificationProgress>

export const verificationSessionsIn = (sessions: Sessions) =>
  sessionsOfArea<VerificationRequest, VerificationProgress>(sessions, 'verification')

/** How a session ends, and what the webhook says about it. Ids of a person are in a success and nowhere else. */
export type VerificationEnd =
  | {
      state: 'SUCCESS'
      person: { puid: string; guid: string }
      matchedBy?: MatchMethod
      /** Whole years, where an estimate was asked for. */
      estimatedAge?: number
      /** Codes that the host should know although the session succeeded. */
      notes?: readonly SessionCodeName[]
      /** What the device said about the document, where one was asked for. */
      document?: DocumentRecord
      /** JPEG in base64: for the webhook alone. */
      selfie?: string
    }
  | { state: 'FAILED'; failures: readonly SessionCodeName[]; retryAfterSeconds?: number }
  | { state: 'CANCELLED'; code: 'USER_CANCELLED' | 'CONSENT_DECLINED' | 'HOST_CANCELLED' }
  /** `desktop`: a desktop opened it and could not run it. */
  | { state: 'EXPIRED'; desktop?: boolean }
