import type { Transitions, VerificationState } from './states.ts'

type Steps = Transitions<VerificationState>

const ENDING: Steps = { user_cancelled: 'CANCELLED', host_cancelled: 'CANCELLED', expired: 'EXPIRED' }
/** What the holder may do at every step of the device. There, `open` is a reload. */
const HELD: Steps = { ...ENDING, handoff_asked: 'HANDOFF_WAIT' }

/**
 * ENROLL, SIGN-IN and VERIFY. Three states are the service's own work: LOCAL_COMPARE, SERVER_COMPARE and FINALIZING. A reload
 * does not change them, and the work is done again if no process does it.
 */
export const VERIFICATION_TABLE: Readonly<Record<VerificationState, Steps>> = {
  CREATED: { ...ENDING, open: 'OPENED', open_on_desktop: 'HANDOFF_WAIT' },
  OPENED: { ...HELD, open: 'OPENED', consent_given: 'CONSENTED', consent_declined: 'CANCELLED', give_up: 'FAILED' },
  HANDOFF_WAIT: { ...ENDING, open_on_desktop: 'HANDOFF_WAIT', handoff_asked: 'HANDOFF_WAIT', handoff_opened: 'OPENED' },
  CONSENTED: { ...HELD, open: 'CONSENTED', camera_ready: 'FACE_ACTIVE', give_up: 'FAILED' },
  FACE_ACTIVE: {
    ...HELD,
    open: 'CONSENTED',
    camera_ready: 'FACE_ACTIVE',
    document_needed: 'DOC_ACTIVE',
    compare_locally: 'LOCAL_COMPARE',
    compare_on_server: 'SERVER_COMPARE',
    passkey_needed: 'PASSKEY_ACTIVE',
    finalize: 'FINALIZING',
    retry: 'CONSENTED',
    give_up: 'FAILED',
  },
  // The person is enrolled by the face that the portrait was compared with: a page that lost its numbers captures the face again.
  DOC_ACTIVE: { ...HELD, open: 'CONSENTED', retry: 'DOC_ACTIVE', document_read: 'MATCHING', give_up: 'FAILED' },
  MATCHING: {
    ...ENDING,
    open: 'MATCHING',
    retry: 'DOC_ACTIVE',
    passkey_needed: 'PASSKEY_ACTIVE',
    finalize: 'FINALIZING',
    give_up: 'FAILED',
  },
  LOCAL_COMPARE: {
    ...ENDING,
    open: 'LOCAL_COMPARE',
    compare_on_server: 'SERVER_COMPARE',
    vector_needed: 'FACE_ACTIVE',
    passkey_needed: 'PASSKEY_ACTIVE',
    recognised: 'SUCCESS',
    retry: 'CONSENTED',
    give_up: 'FAILED',
  },
  SERVER_COMPARE: {
    ...ENDING,
    open: 'SERVER_COMPARE',
    passkey_needed: 'PASSKEY_ACTIVE',
    recognised: 'SUCCESS',
    retry: 'CONSENTED',
    give_up: 'FAILED',
  },
  PASSKEY_ACTIVE: {
    ...HELD,
    open: 'PASSKEY_ACTIVE',
    finalize: 'FINALIZING',
    recognised: 'SUCCESS',
    retry: 'PASSKEY_ACTIVE',
    give_up: 'FAILED',
  },
  FINALIZING: {
    ...ENDING,
    open: 'FINALIZING',
    // A person who is enrolled already uses one of their passkeys before another one is added.
    passkey_needed: 'PASSKEY_ACTIVE',
    recognised: 'SUCCESS',
    retry: 'CONSENTED',
    give_up: 'FAILED',
  },
  SUCCESS: {},
  FAILED: {},
  CANCELLED: {},
  EXPIRED: {},
}
