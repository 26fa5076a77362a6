/**
 * The event stream: an extension for development. Webhooks stay the only channel that the interface offers; this one
 * reads the same messages over a connection that the host opens.
 */
import Type from 'typebox'
import { type Operation, operation } from './operation.ts'

export const EVENT_LIMITS = {
  waitSecondsMax: 25,
  pageDefault: 50,
  pageMax: 100,
  /** Calls of one key that may wait at once, in each API process. */
  streamsPerKey: 10,
  /** A comment so often keeps proxies from closing a quiet stream. */
  heartbeatSeconds: 15,
  /** A stream is ended then, and its reader resumes. */
  streamSeconds: 900,
} as const

/** Under the installation's public URL. As `callback.url` of a test key it sends the event to the stream and nowhere else. */
export const EVENTS_INBOX_PATH = '/events/inbox'

/** As `cursor`: from the oldest event that is kept. */
export const EVENTS_FROM_START = 'start'

const eventExample = {
  id: '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa',
  event: 'age.session.completed',
  sessionId: '7d9f4c1e-64a5-4b0e-9d8e-2f6b8f0a1c35',
  sequence: 1,
  createdAt: '2026-11-15T09:30:00.000Z',
  livemode: false,
  headers: {
    'x-service-timestamp': '1794735000',
    'x-service-signature': 'sha256=9f2b6f1c0a7d4e35b8c1d2e3f405162738495a6b7c8d9e0f1a2b3c4d5e6f7081',
    'x-service-event': 'age.session.completed',
    'x-service-delivery': '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa',
    'x-service-attempt': '1',
    'x-service-sequence': '1',
    'webhook-id': '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa',
    'webhook-timestamp': '1794735000',
    'webhook-signature': 'v1,nysGuU0Z1vKkD0q3n2h2cJ2o0cV4p1mS5tGx8eYw7bA=',
  },
  cursor: 'Mjo3ZjNhMWM6MTI',
  body: '{"flowStatus":"COMPLETED"}',
}

export const StreamEvent = Type.Object(
  {
    id: Type.String({
      format: 'uuid',
      description: 'As in `X-Service-Delivery`: the id of the delivery, where the session has a `callback`',
    }),
    event: Type.String({ description: 'As in `X-Service-Event`' }),
    sessionId: Type.String({ format: 'uuid', description: 'The session that ended' }),
    sequence: Type.Integer({ description: 'As in `X-Service-Sequence`: order of the events of one session' }),
    createdAt: Type.String({ format: 'date-time', description: 'When the session ended' }),
    livemode: Type.Boolean({ description: 'false for sessions of test keys' }),
    headers: Type.Record(Type.String(), Type.String(), {
      description:
        'The headers `X-Service-*` and `webhook-*` of a delivery, in lower case and signed for this answer. Without both ' +
        'signatures where no active API key may sign. `callback.headers` are not among them',
    }),
    cursor: Type.String({ description: 'Send it back as `cursor` to read on after this event' }),
    body: Type.String({
      description:
        'The exact text of the body, as it is signed. Never with pictures: with `sendImages`, `images` is an empty array',
    }),
  },
  {
    title: 'StreamEvent',
    examples: [eventExample],
  },
)
export type StreamEvent = Type.Static<typeof StreamEvent>

export const EventPage = Type.Object(
  {
    items: Type.Array(StreamEvent, { description: 'In the order of the stream; empty when nothing came in time' }),
    cursor: Type.String({ description: 'Send it back as `cursor` to read on after these. Always there' }),
    missed: Type.Optional(
      Type.Boolean({
        description:
          'True when events after your cursor were deleted, by retention, before you read them. The stream goes on with ' +
          'the oldest one that is kept',
      }),
    ),
  },
  { title: 'EventPage', examples: [{ items: [eventExample], cursor: eventExample.cursor }] },
)
export type EventPage = Type.Static<typeof EventPage>

export const listEvents = operation({
  operationId: 'listEvents',
  area: 'C',
  group: 'webhooks',
  method: 'GET',
  path: '/events',
  summary: 'Read the event stream',
  description:
    'For development: what webhooks of areas C and D carry, over a connection that you open. Sessions without `callback` are in ' +
    'it too. Answers as soon as there is an event, or after `wait` seconds. With `Accept: text/event-stream` the connection ' +
    'stays open: `id` is the cursor after the event, `event` its name, `data` a StreamEvent in one line; a comment comes every ' +
    `${EVENT_LIMITS.heartbeatSeconds} s, and an event \`gap\` where \`missed\` would be true. Test keys; live ones only where the operator allows it. ` +
    'Events of areas that the key may not read are left out. In production use webhooks.',
  auth: 'required',
  takesClientCredentials: true,
  scope: ['age:read', 'verify:read'],
  rateNote: `At most ${EVENT_LIMITS.streamsPerKey} calls of one key wait at once, in each API process`,
  headers: {
    'Last-Event-ID': {
      description: 'Server-sent events: the last `id`. The same as `cursor`, which wins over it',
      schema: { type: 'string' },
    },
  },
  query: Type.Object(
    {
      cursor: Type.Optional(
        Type.String({
          maxLength: 200,
          description: `\`cursor\` of the answer before. \`${EVENTS_FROM_START}\`: from the oldest event that is kept. Without it: from now on`,
        }),
      ),
      wait: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: EVENT_LIMITS.waitSecondsMax,
          default: 0,
          description: 'Seconds to wait for an event; JSON only',
        }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: EVENT_LIMITS.pageMax, default: EVENT_LIMITS.pageDefault }),
      ),
    },
    { additionalProperties: false },
  ),
  success: { 200: { description: 'The events, or a `text/event-stream` of them', schema: EventPage } },
  errors: ['VALIDATION_FAILED', 'INVALID_CLIENT_CREDENTIALS'],
})

export const EVENT_OPERATIONS: readonly Operation[] = [listEvents]
