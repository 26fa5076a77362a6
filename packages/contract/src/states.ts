/**
 * Every state of a session, as plain values. The launch page imports this file by itself (`@ostiary/contract/states`),
 * so it must not import the validator.
 */

/** The states of an age session. The last three are final. */
export const AGE_STATES = [
  'CREATED',
  'OPENED',
  'HANDOFF_WAIT',
  'READY',
  'FACE_ACTIVE',
  'FACE_DONE',
  'DOC_ACTIVE',
  'DOC_DONE',
  'MATCHING',
  'EVALUATING',
  'COMPLETED',
  'CANCELLED',
  'EXPIRED',
] as const
export type AgeState = (typeof AGE_STATES)[number]

/** The states of an ENROLL, SIGN-IN or VERIFY session. The last four are final. */
export const VERIFICATION_STATES = [
  'CREATED',
  'OPENED',
  'HANDOFF_WAIT',
  'CONSENTED',
  'FACE_ACTIVE',
  'DOC_ACTIVE',
  'MATCHING',
  'LOCAL_COMPARE',
  'SERVER_COMPARE',
  'PASSKEY_ACTIVE',
  'FINALIZING',
  'SUCCESS',
  'FAILED',
  'CANCELLED',
  'EXPIRED',
] as const
export type VerificationState = (typeof VERIFICATION_STATES)[number]

export type SessionState = AgeState | VerificationState

/** Every state of both kinds of session, each once. The device API can answer with any of them. */
export const SESSION_STATES: readonly SessionState[] = /* @__PURE__ */ eachOnce(AGE_STATES, VERIFICATION_STATES)

/** A session in one of these states has ended and never changes its state again. */
export const FINAL_STATES = ['COMPLETED', 'SUCCESS', 'FAILED', 'CANCELLED', 'EXPIRED'] as const
export type FinalState = (typeof FINAL_STATES)[number]

/** What a list shows as the state of a session that is deleted. */
export const PURGED = 'PURGED'

/** In these states the service works on what the device sent, and the page waits. */
export const SERVICE_STATES: readonly SessionState[] = ['LOCAL_COMPARE', 'SERVER_COMPARE', 'FINALIZING']

/** In these states a device may begin a try of the face step, or is in the middle of one. */
export const FACE_STATES: readonly SessionState[] = ['READY', 'CONSENTED', 'FACE_ACTIVE', 'DOC_DONE']

/** How a flow ended, in one vocabulary for both kinds of session. */
export const FLOW_STATUSES = ['COMPLETED', 'CANCELLED', 'EXPIRED'] as const
export type FlowStatus = (typeof FLOW_STATUSES)[number]

/** What came of the check, in one vocabulary for both kinds of session. */
export const SESSION_OUTCOMES = ['SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED'] as const
export type SessionOutcome = (typeof SESSION_OUTCOMES)[number]

/** A function of its own, so that a bundler can drop the call where nobody reads the list. */
function eachOnce(...lists: readonly (readonly SessionState[])[]): SessionState[] {
  return [...new Set(lists.flat())]
}
