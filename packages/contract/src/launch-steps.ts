import Type from 'typebox'
import { MOVEMENT_KINDS, MOVEMENT_KINDS_MIN, MOVEMENTS } from './movements.ts'

/** What a challenge must not ask for. */
export const Cannot = Type.Array(Type.Enum([...MOVEMENT_KINDS]), {
  maxItems: MOVEMENT_KINDS.length - MOVEMENT_KINDS_MIN,
  uniqueItems: true,
})
export const Pace = Type.Literal('slow')

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
    answerMs: Type.Optional(
      Type.Integer({
        description: 'How long after it was asked for a movement counts, where that is not 2,500 ms: `pace` is `slow`',
      }),
    ),
  },
  { title: 'LaunchChallenge' },
)
export type Challenge = Type.Static<typeof Challenge>

/** How the movements of an accepted capture differed from what everybody gets. Absent where they did not. */
export const CAPTURE_ASSURANCE = {
  movements: Type.Optional(
    Type.Array(Type.Enum([...MOVEMENT_KINDS]), {
      description: 'The user could not make all movements: the challenge was drawn from these kinds',
    }),
  ),
  pace: Type.Optional({ ...Pace, description: 'The user had three times as long for each movement' }),
} as const
export const CaptureAssurance = Type.Object(CAPTURE_ASSURANCE, { title: 'CaptureAssurance' })
export type CaptureAssurance = Type.Static<typeof CaptureAssurance>
