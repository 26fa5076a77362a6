import type { SessionState } from '@ostiary/contract'

export type { AgeState, FinalState, SessionState, VerificationState } from '@ostiary/contract'

export const SESSION_EVENTS = [
  /** A device opened the launch URL and may run the flow. */
  'open',
  /** A desktop opened it, and desktops are not allowed. */
  'open_on_desktop',
  'handoff_asked',
  /** Another device opened it with the code of the handoff. */
  'handoff_opened',
  'consent_given',
  'consent_declined',
  /** The camera runs and a challenge was issued. */
  'camera_ready',
  'estimated',
  'document_needed',
  'document_read',
  'compare_faces',
  'no_more_steps',
  /** The device has compared by itself, and the service checks its claim. */
  'compare_locally',
  'compare_on_server',
  /** The device's claim is not enough, and it sent no vector: the same try continues with the vector. */
  'vector_needed',
  'passkey_needed',
  /** ENROLL: every step is done, and the service creates the person. */
  'finalize',
  /** The person is known. */
  'recognised',
  /** A step failed and may be tried again. */
  'retry',
  /** A step failed for good, or too often. */
  'give_up',
  'decided',
  'user_cancelled',
  'host_cancelled',
  'expired',
] as const
export type SessionEvent = (typeof SESSION_EVENTS)[number]

/** Where each event leads from one state. */
export type Transitions<State extends SessionState> = Partial<Record<SessionEvent, State>>
