import { endOf, pageStateOf, tipOf } from './page-state.ts'
import type { Event, EventOf, EventType, State } from './states.ts'

/**
 * The state after an event. A screen ignores events that it has no transition for: late answers, a second tap, a connection
 * that comes back after the end. End screens have no transitions.
 */
export function next(state: State, event: Event): State {
  return moved(TABLE[state.at], event) ?? state
}

export const START: State = { at: 'loading' }

type Transitions = { [T in EventType]?: (event: EventOf<T>) => State | undefined }

function moved<T extends EventType>(transitions: Transitions, event: EventOf<T>): State | undefined {
  const move: Transitions[T] = transitions[event.type]
  return move?.(event)
}

/** Every screen of a running flow: the host or expiry may end it, another device may take it over, a call may fail. */
const RUNNING: Transitions = {
  updated: ({ session }) =>
    session.flowStatus !== null || session.role === 'viewer' ? pageStateOf(session) : undefined,
  opened: ({ session }) => pageStateOf(session),
  refused: ({ problem }) => ({ at: 'problem', problem }),
}

/** Screens from which the user may move to another device. */
const HANDS_OFF: Transitions = { ...RUNNING, handoff_asked: () => ({ at: 'handoff', status: 'making' }) }

const ASKING: State = { at: 'camera', status: 'asking' }
const LOADING: State = { at: 'capture' }
const CAMERA: Transitions = {
  models_awaited: () => LOADING,
  camera_asked: () => ASKING,
  camera_failed: ({ problem }) => ({ at: 'camera', status: problem }),
  camera_ready: () => ({ at: 'capture' }),
}

/** A watching device follows the server's updates. */
const WATCHING: Transitions = {
  ...RUNNING,
  updated: ({ session }) => pageStateOf(session),
  handoff_asked: () => ({ at: 'handoff', status: 'making' }),
}

const TABLE: Readonly<Record<State['at'], Transitions>> = {
  loading: {
    unsupported: ({ why }) => ({ at: 'unsupported', why }),
    opened: ({ session }) => pageStateOf(session),
    refused: ({ problem }) => ({ at: 'problem', problem }),
    // An insecure page has neither a camera nor a key to open the session with.
    camera_failed: ({ problem }) => ({ at: 'camera', status: problem }),
  },
  problem: {
    reopened: () => START,
    opened: ({ session }) => pageStateOf(session),
    refused: ({ problem }) => ({ at: 'problem', problem }),
    updated: ({ session }) => (session.flowStatus !== null ? endOf(session) : undefined),
  },
  unsupported: {},
  number: { ...RUNNING, number_typed: () => ({ at: 'number', sending: true }) },
  welcome: {
    ...HANDS_OFF,
    answered: () => ({ at: 'welcome', answering: true }),
    // After consent the page asks for the camera without another tap.
    camera_asked: () => ASKING,
    models_awaited: () => LOADING,
  },
  camera: { ...HANDS_OFF, ...CAMERA },
  capture: {
    ...HANDS_OFF,
    // The models are near enough.
    camera_asked: () => ASKING,
    captured: () => ({ at: 'sending' }),
    capture_failed: ({ code, reason }) => ({ at: 'retry', tip: tipOf(code, reason) }),
    camera_failed: ({ problem }) => ({ at: 'camera', status: problem }),
  },
  sending: {
    ...RUNNING,
    judged: ({ session }) => pageStateOf(session),
    // The service wanted a probe of the same face, and it could not be sent.
    capture_failed: ({ code, reason }) => ({ at: 'retry', tip: tipOf(code, reason) }),
  },
  retry: { ...HANDS_OFF, ...CAMERA },
  document: {
    ...HANDS_OFF,
    // The face is looked at once more.
    ...CAMERA,
    document: ({ stage }) => ({ at: 'document', stage }),
    captured: () => ({ at: 'sending' }),
  },
  passkey: {
    ...HANDS_OFF,
    passkey: ({ status }) => ({ at: 'passkey', status }),
    judged: ({ session }) => pageStateOf(session),
  },
  handoff: {
    ...WATCHING,
    // The server repeats HANDOFF_WAIT in every update; the code stays on the screen until the server says that it is void.
    updated: ({ session }) => (isUnchanged(session) ? undefined : pageStateOf(session)),
    handoff_ready: () => ({ at: 'handoff', status: 'ready' }),
    handoff_refused: () => ({ at: 'handoff', status: 'refused' }),
  },
  // HANDOFF_WAIT: the other device made a code for a third one. A new code from here would invalidate it.
  viewer: { ...WATCHING, updated: ({ session }) => (isUnchanged(session) ? undefined : pageStateOf(session)) },
  done: {},
  ended: {},
  expired: {},
  cancelled: {},
  declined: {},
}

/** Still waiting for the other device; the code is valid. */
function isUnchanged(session: EventOf<'updated'>['session']): boolean {
  const state = pageStateOf(session)
  return state.at === 'handoff' && state.status === 'making'
}
