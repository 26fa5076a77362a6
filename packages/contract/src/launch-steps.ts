import Type from 'typebox'

export const MOVEMENTS = ['turn_left', 'turn_right', 'look_up', 'blink', 'closer'] as const
export type Movement = (typeof MOVEMENTS)[number]

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
