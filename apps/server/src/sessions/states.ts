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
  /** The device has compared by itself, and its word is looked at. */
  'compare_locally',
  'compare_on_server',
  /** The device's word counts for nothing, and the vector was left out: the same try goes on with it. */
  'vector_needed',
  'passkey_needed',
  /** ENROLL: everything is there, the person is being made. */
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
export type Row<State extends SessionState> = Partial<Record<SessionEvent, State>>
