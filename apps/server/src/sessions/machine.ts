import { AppError } from '../platform/errors.ts'

/** The steps of an age session. The three at the end are what the wire calls `flowStatus`. */
export const STATES = [
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
export type SessionState = (typeof STATES)[number]
export type FinalState = 'COMPLETED' | 'CANCELLED' | 'EXPIRED'

export type SessionEvent =
  /** A device opened the launch URL and may run the flow. */
  | 'open'
  /** A desktop opened it, and desktops are not allowed. */
  | 'open_on_desktop'
  | 'handoff_asked'
  /** Another device opened it with the code of the handoff. */
  | 'handoff_opened'
  | 'consent_given'
  | 'consent_declined'
  /** The camera runs and a challenge was issued. */
  | 'camera_ready'
  | 'estimated'
  | 'document_needed'
  | 'document_read'
  | 'compare_faces'
  | 'no_more_steps'
  /** A step failed and may be tried again. */
  | 'retry'
  /** A step failed for good, or too often. */
  | 'give_up'
  | 'decided'
  | 'user_cancelled'
  | 'host_cancelled'
  | 'expired'

type Row = Partial<Record<SessionEvent, SessionState>>

const ENDING: Row = { user_cancelled: 'CANCELLED', host_cancelled: 'CANCELLED', expired: 'EXPIRED' }
/** What a device that holds the session may do at every step. There, `open` is a reload: the step begins again. */
const HELD: Row = { ...ENDING, handoff_asked: 'HANDOFF_WAIT' }

const TABLE: Readonly<Record<SessionState, Row>> = {
  CREATED: { ...ENDING, open: 'OPENED', open_on_desktop: 'HANDOFF_WAIT' },
  OPENED: { ...HELD, open: 'OPENED', consent_given: 'READY', consent_declined: 'CANCELLED' },
  HANDOFF_WAIT: { ...ENDING, open_on_desktop: 'HANDOFF_WAIT', handoff_asked: 'HANDOFF_WAIT', handoff_opened: 'OPENED' },
  READY: { ...HELD, open: 'READY', camera_ready: 'FACE_ACTIVE', document_needed: 'DOC_ACTIVE', give_up: 'EVALUATING' },
  FACE_ACTIVE: {
    ...HELD,
    open: 'READY',
    camera_ready: 'FACE_ACTIVE',
    estimated: 'FACE_DONE',
    retry: 'READY',
    give_up: 'EVALUATING',
  },
  FACE_DONE: { ...ENDING, document_needed: 'DOC_ACTIVE', compare_faces: 'MATCHING', no_more_steps: 'EVALUATING' },
  DOC_ACTIVE: { ...HELD, open: 'DOC_ACTIVE', retry: 'DOC_ACTIVE', document_read: 'DOC_DONE', give_up: 'EVALUATING' },
  DOC_DONE: { ...ENDING, camera_ready: 'FACE_ACTIVE', compare_faces: 'MATCHING', no_more_steps: 'EVALUATING' },
  MATCHING: { ...ENDING, retry: 'DOC_ACTIVE', no_more_steps: 'EVALUATING', give_up: 'EVALUATING' },
  EVALUATING: { ...ENDING, decided: 'COMPLETED' },
  COMPLETED: {},
  CANCELLED: {},
  EXPIRED: {},
}

/** Where an event leads. Throws when the session has ended, or is not at a step where the event can happen. */
export function nextState(state: SessionState, event: SessionEvent): SessionState {
  const next = TABLE[state][event]
  if (next) return next
  const message = isFinal(state) ? 'The session has ended' : 'The session is not at this step'
  throw new AppError('conflict', 'SESSION_NOT_OPEN', message)
}

export function canHappen(state: SessionState, event: SessionEvent): boolean {
  return TABLE[state][event] !== undefined
}

export function isFinal(state: SessionState): state is FinalState {
  return state === 'COMPLETED' || state === 'CANCELLED' || state === 'EXPIRED'
}
