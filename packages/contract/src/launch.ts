import Type from 'typebox'
import { Handoff, HandoffNumber } from './handoff.ts'
import { LaunchEvents, LaunchState, OpenBody, OpenedSession, SessionId, TravellingEvents } from './launch-session.ts'
import { Cannot, Challenge, Pace } from './launch-steps.ts'
import { CONSENT_VERSIONS } from './limits.ts'
import { type Operation, operation } from './operation.ts'
import { LAUNCH_PATHS } from './paths.ts'

/* The device API: what the launch page calls. Every call is signed by the device's own key (docs/internal/launch.md). */

/** What `ostiary simulate` and tests name as their model. The server takes it from sessions of test keys only. */
export const SIMULATED_MODEL = { id: 'simulated-1', hash: 'AyzSMIsiZbDlq9TDuA805-g-0L-D61SSd1eE58NRFJA' } as const

export const PROOF_HEADER = {
  'x-device-proof': {
    description: 'Compact JWS (ES256) by the device’s key over session, method, path, counter and the hash of the body',
    schema: { type: 'string' },
  },
}
export const DEVICE_ERRORS = [
  'INVALID_JSON',
  'VALIDATION_FAILED',
  'INVALID_DEVICE_PROOF',
  'DEVICE_MISMATCH',
  'DEVICE_CLOCK_CHANGED',
  'NOT_FOUND',
  'SESSION_NOT_OPEN',
  'GONE',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RATE_LIMITED',
] as const

const shared = { area: 'C', group: 'device', auth: 'none', headers: PROOF_HEADER } as const
const stateReply = { 200: { description: 'Where the flow stands', schema: LaunchState } } as const

export const launchOpen = operation({
  ...shared,
  operationId: 'launchOpen',
  method: 'POST',
  path: LAUNCH_PATHS.open,
  summary: 'Open a session on this device',
  description: 'Binds the session to the device’s key, resumes it, or takes it over with the code of a handoff.',
  body: OpenBody,
  success: { 200: { description: 'The session', schema: OpenedSession } },
  errors: [...DEVICE_ERRORS, 'HANDOFF_REFUSED'],
})

export const launchConsent = operation({
  ...shared,
  operationId: 'launchConsent',
  method: 'POST',
  path: LAUNCH_PATHS.consent,
  summary: 'Record the answer to the consent question',
  description: 'A refusal ends the flow as `CANCELLED` with code -18.',
  body: Type.Object(
    {
      sessionId: SessionId,
      accepted: Type.Boolean(),
      version: Type.String({
        minLength: 1,
        maxLength: 32,
        description: `Of the text that the page showed. Age sessions: ${CONSENT_VERSIONS.age.join(', ')}; others: ${CONSENT_VERSIONS.verification.join(', ')}`,
      }),
      locale: Type.String({ minLength: 1, maxLength: 64, description: 'The language in which the page showed it' }),
    },
    { additionalProperties: false },
  ),
  success: stateReply,
  errors: DEVICE_ERRORS,
})

/** Of the try that a call is about. */
const AttemptNumber = Type.Integer({ minimum: 1, description: 'Which try it is about: the first is 1' })

export const launchChallenge = operation({
  ...shared,
  operationId: 'launchChallenge',
  method: 'POST',
  path: LAUNCH_PATHS.challenge,
  summary: 'Begin a try of the face step',
  description:
    'Asked for when the camera runs. The challenge is random, valid for 90 seconds and for one capture. Asked for again because the answer was lost, with the same `attempt`, it is the same one and costs no try. With one more movement in `cannot`, or with `pace` for the first time, the same `attempt` gets a new one, which costs no try either.',
  body: Type.Object(
    {
      sessionId: SessionId,
      attempt: Type.Optional(AttemptNumber),
      for: Type.Optional(
        Type.Literal('match', {
          description:
            'In the document step: a look at the face for the comparison alone, on a device that does not hold the numbers of the first one. It is no try of the face step and says nothing about the age',
        }),
      ),
      cannot: Type.Optional({
        ...Cannot,
        description:
          'Kinds of movement that the user cannot make. The session keeps them: what another call named stays. At least two kinds must be left',
      }),
      pace: Type.Optional({
        ...Pace,
        description: 'The user needs more time: three times as much for each movement, from now on',
      }),
      events: TravellingEvents,
    },
    { additionalProperties: false },
  ),
  success: { 200: { description: 'What to ask of the user', schema: Challenge } },
  errors: DEVICE_ERRORS,
})

export const launchEvents = operation({
  ...shared,
  operationId: 'launchEvents',
  method: 'POST',
  path: LAUNCH_PATHS.events,
  summary: 'Append to the log of the flow',
  description:
    'Entries are chained by hashes. Sending entries again that are already there changes nothing. They may also travel as `events` of `launchChallenge` and `launchFailure`, and inside the sealed payloads of `launchSubmit` and `launchDocumentSubmit`, which saves this call.',
  body: Type.Object({ sessionId: SessionId, events: LaunchEvents }, { additionalProperties: false }),
  success: stateReply,
  errors: DEVICE_ERRORS,
})

export const launchSubmit = operation({
  ...shared,
  operationId: 'launchSubmit',
  method: 'POST',
  path: LAUNCH_PATHS.submit,
  summary: 'Submit a capture',
  description:
    'A sealed payload of at most 4 KB. Either ends the flow, asks for the next step, or leaves another try. `FACE_ACTIVE`: the device’s own comparison is not enough; send the same capture with `face`.',
  body: Type.Object(
    {
      sessionId: SessionId,
      sealed: Type.String({ minLength: 1 }),
      selfie: Type.Optional(
        Type.String({ minLength: 1, description: 'With `sendImages`: `{"jpeg": base64}`, sealed in the same way' }),
      ),
    },
    { additionalProperties: false },
  ),
  success: stateReply,
  errors: [...DEVICE_ERRORS, 'INVALID_PAYLOAD', 'CHALLENGE_NOT_VALID', 'PAYLOAD_REPLAYED'],
})

export const launchFailure = operation({
  ...shared,
  operationId: 'launchFailure',
  method: 'POST',
  path: LAUNCH_PATHS.failure,
  summary: 'Report that a step failed on the device',
  description:
    'Uses up the try where the code says so (docs/session-codes.md); the last one ends the flow without a verdict. Reported again because the answer was lost, with the same `attempt`, a failure of the face step or of the document step counts once.',
  body: Type.Object(
    {
      sessionId: SessionId,
      code: Type.Integer(),
      reason: Type.Optional(Type.String({ pattern: '^[a-z_]{1,40}$' })),
      attempt: Type.Optional(AttemptNumber),
      events: TravellingEvents,
    },
    { additionalProperties: false },
  ),
  success: stateReply,
  errors: DEVICE_ERRORS,
})

export const launchCancel = operation({
  ...shared,
  operationId: 'launchCancel',
  method: 'POST',
  path: LAUNCH_PATHS.cancel,
  summary: 'The user cancels',
  description: 'Ends the flow as `CANCELLED` with code -17.',
  body: Type.Object({ sessionId: SessionId }, { additionalProperties: false }),
  success: stateReply,
  errors: DEVICE_ERRORS,
})

export const launchExtend = operation({
  ...shared,
  operationId: 'launchExtend',
  method: 'POST',
  path: LAUNCH_PATHS.extend,
  summary: 'The user needs more time',
  description:
    'Extends the session by ten minutes, once, where the tenant has set `userMayExtend` (`mayExtend` in the reply to `launchOpen`), and never beyond `sessionSecondsMax`. 409 `SESSION_NOT_OPEN` otherwise; asked for again, it changes nothing. The reply, every read and the webhook have the new `expiresAt`.',
  body: Type.Object({ sessionId: SessionId }, { additionalProperties: false }),
  success: stateReply,
  errors: DEVICE_ERRORS,
})

export const launchHandoff = operation({
  ...shared,
  operationId: 'launchHandoff',
  method: 'POST',
  path: LAUNCH_PATHS.handoff,
  summary: 'Make a code for another device',
  description:
    'Valid for 5 minutes and for one device; two per session. The device that asked becomes a viewer. It shows `number`, which the user types on the other device.',
  body: Type.Object({ sessionId: SessionId }, { additionalProperties: false }),
  success: { 200: { description: 'The code and the URL for a QR code', schema: Handoff } },
  errors: [...DEVICE_ERRORS, 'HANDOFF_REFUSED'],
})

export const launchNumber = operation({
  ...shared,
  operationId: 'launchNumber',
  method: 'POST',
  path: LAUNCH_PATHS.number,
  summary: 'Send the number of the first screen',
  description:
    'A device that has taken the session over sends the two digits that the first screen shows, before anything else. A wrong number voids the code (-33, `number_mismatch`): this device has no part in the session any more, and the handoff counts as used.',
  body: Type.Object({ sessionId: SessionId, number: HandoffNumber }, { additionalProperties: false }),
  success: stateReply,
  errors: [...DEVICE_ERRORS, 'HANDOFF_REFUSED'],
})

export const launchTakeBack = operation({
  ...shared,
  operationId: 'launchTakeBack',
  method: 'POST',
  path: LAUNCH_PATHS.takeBack,
  summary: 'Continue on the first device again',
  description: 'The device that made the handoff holds the session again.',
  body: Type.Object({ sessionId: SessionId }, { additionalProperties: false }),
  success: stateReply,
  errors: [...DEVICE_ERRORS, 'HANDOFF_REFUSED'],
})

export const PasskeyOptions = Type.Object(
  {
    mode: Type.Enum(['create', 'get']),
    options: Type.Unsafe<Record<string, unknown>>(
      Type.Object({}, { additionalProperties: true, description: 'For `navigator.credentials`, in its JSON form' }),
    ),
  },
  { title: 'PasskeyOptions' },
)
export type PasskeyOptions = Type.Static<typeof PasskeyOptions>

export const launchPasskeyOptions = operation({
  ...shared,
  area: 'D',
  operationId: 'launchPasskeyOptions',
  method: 'POST',
  path: LAUNCH_PATHS.passkeyOptions,
  summary: 'Begin the passkey step',
  description: 'What to ask the authenticator for. Valid for five minutes and for one answer.',
  body: Type.Object({ sessionId: SessionId }, { additionalProperties: false }),
  success: { 200: { description: 'Options', schema: PasskeyOptions } },
  errors: DEVICE_ERRORS,
})

export const launchPasskeyVerify = operation({
  ...shared,
  area: 'D',
  operationId: 'launchPasskeyVerify',
  method: 'POST',
  path: LAUNCH_PATHS.passkeyVerify,
  summary: 'Send the authenticator’s answer',
  description: 'A wrong one uses up a try; the last one ends the flow with -25.',
  body: Type.Object(
    {
      sessionId: SessionId,
      response: Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true })),
    },
    { additionalProperties: false },
  ),
  success: stateReply,
  errors: [...DEVICE_ERRORS, 'CHALLENGE_NOT_VALID'],
})

export const launchStatus = operation({
  ...shared,
  operationId: 'launchStatus',
  method: 'GET',
  path: LAUNCH_PATHS.status,
  summary: 'Watch the flow',
  description: 'Server-sent events: one `state` event with a `LaunchState` for each change, until the flow ends.',
  query: Type.Object({ sessionId: SessionId }, { additionalProperties: false }),
  success: { 200: { description: 'text/event-stream', schema: null } },
  errors: DEVICE_ERRORS,
})

export const LAUNCH_OPERATIONS: readonly Operation[] = [
  launchOpen,
  launchConsent,
  launchChallenge,
  launchEvents,
  launchSubmit,
  launchFailure,
  launchCancel,
  launchExtend,
  launchHandoff,
  launchNumber,
  launchTakeBack,
  launchPasskeyOptions,
  launchPasskeyVerify,
  launchStatus,
]
