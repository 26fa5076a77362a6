import { type FlowStatus, SERVICE_STATES, type SessionArea } from '@ostiary/contract'
import { notAtThisStep, sessionEnded } from './errors.ts'
import type { AgeState, FinalState, SessionEvent, SessionState, Transitions } from './states.ts'
import { VERIFICATION_TABLE } from './verification-machine.ts'

/** Where a session stands. */
export interface Standing {
  area: SessionArea
  state: SessionState
}

type Steps = Transitions<AgeState>

const ENDING: Steps = { user_cancelled: 'CANCELLED', host_cancelled: 'CANCELLED', expired: 'EXPIRED' }
/** What a device that holds the session may do at every step. There, `open` is a reload: the step begins again. */
const HELD: Steps = { ...ENDING, handoff_asked: 'HANDOFF_WAIT' }

/** Age sessions. */
const AGE_TABLE: Readonly<Record<AgeState, Steps>> = {
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
  DOC_DONE: {
    ...HELD,
    open: 'DOC_DONE',
    camera_ready: 'FACE_ACTIVE',
    compare_faces: 'MATCHING',
    no_more_steps: 'EVALUATING',
    give_up: 'EVALUATING',
  },
  MATCHING: { ...ENDING, retry: 'DOC_ACTIVE', no_more_steps: 'EVALUATING', give_up: 'EVALUATING' },
  EVALUATING: { ...ENDING, decided: 'COMPLETED' },
  COMPLETED: {},
  CANCELLED: {},
  EXPIRED: {},
}

const TABLES: Readonly<Record<SessionArea, Readonly<Partial<Record<SessionState, Transitions<SessionState>>>>>> = {
  age: AGE_TABLE,
  verification: VERIFICATION_TABLE,
}

/** Where an event leads. Throws when the session has ended, or is not at a step where the event can happen. */
export function nextState({ area, state }: Standing, event: SessionEvent): SessionState {
  const next = TABLES[area][state]?.[event]
  if (next) return next
  throw isFinal(state) ? sessionEnded() : notAtThisStep()
}

/** Throws like `nextState` when the event cannot happen. For events that end the session, where the area decides the state. */
export function assertCan(standing: Standing, event: SessionEvent): void {
  nextState(standing, event)
}

export function canHappen({ area, state }: Standing, event: SessionEvent): boolean {
  return TABLES[area][state]?.[event] !== undefined
}

export function isFinal(state: SessionState): state is FinalState {
  return FLOW_STATUS[state] !== undefined
}

/** Whether the service works on what the device sent, and the page waits for it. */
export function isWaiting(state: SessionState): boolean {
  return SERVICE_STATES.includes(state)
}

/** How a flow ended, in one vocabulary for both areas; null while it is open. */
export function flowStatusOf(state: SessionState): FlowStatus | null {
  return FLOW_STATUS[state] ?? null
}

const FLOW_STATUS: Readonly<Partial<Record<SessionState, FlowStatus>>> = {
  COMPLETED: 'COMPLETED',
  SUCCESS: 'COMPLETED',
  FAILED: 'COMPLETED',
  CANCELLED: 'CANCELLED',
  EXPIRED: 'EXPIRED',
} satisfies Record<FinalState, FlowStatus>
