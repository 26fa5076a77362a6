import Type from 'typebox'

export const MOVEMENTS = ['turn_left', 'turn_right', 'look_up', 'blink', 'closer'] as const
export type Movement = (typeof MOVEMENTS)[number]

/** What a person can be unable to do. Both turns are one kind: who cannot turn to one side gets other movements. */
export const MOVEMENT_KINDS = ['turn', 'up', 'blink', 'closer'] as const
export type MovementKind = (typeof MOVEMENT_KINDS)[number]
export const KIND_OF: Readonly<Record<Movement, MovementKind>> = {
  turn_left: 'turn',
  turn_right: 'turn',
  look_up: 'up',
  blink: 'blink',
  closer: 'closer',
}
/** A challenge needs at least so many kinds. */
export const MOVEMENT_KINDS_MIN = 2

/** What a page may report about the flow, in the hash-chained log. */
export const LAUNCH_EVENTS = [
  'page_open',
  'consent_shown',
  'consent_given',
  'camera_requested',
  'camera_ready',
  'challenge_received',
  'movement_shown',
  'movement_seen',
  'capture_done',
  'document_shown',
  'document_read',
  'document_confirmed',
  'submit',
  'retake',
  'tab_hidden',
  'tab_visible',
  'failure',
] as const
export type LaunchEventType = (typeof LAUNCH_EVENTS)[number]

export const Challenge = Type.Object(
  {
    nonce: Type.String(),
    attempt: Type.Integer(),
    /** Movements to ask for, each at its time after the start of the capture. */
    steps: Type.Array(Type.Object({ movement: Type.Enum([...MOVEMENTS]), atMs: Type.Integer() })),
    /** When frames are to be sampled, in milliseconds after the start of the capture. */
    sampleAtMs: Type.Array(Type.Integer()),
    expiresAt: Type.String({ format: 'date-time' }),
  },
  { title: 'LaunchChallenge' },
)
export type Challenge = Type.Static<typeof Challenge>
