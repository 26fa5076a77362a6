import Type from 'typebox'
import { WEBHOOK_LIMITS } from './limits.ts'
import { type Operation, operation } from './operation.ts'
import { WEBHOOK_KEY_SET_SECONDS } from './webhook-wire.ts'

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** Why a delivery is dead: no attempt follows unless it is replayed. */
export const DEAD_REASONS = ['exhausted', 'gone', 'forbidden', 'retention', 'key_removed'] as const
export type DeadReason = (typeof DEAD_REASONS)[number]

/** How an attempt ended. */
export const ATTEMPT_OUTCOMES = [
  'delivered',
  'rejected',
  'failed',
  'redirect',
  'gone',
  'timeout',
  'refused',
  'dns',
  'tls',
  'forbidden',
  'sandbox',
  'unsigned',
] as const
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number]

const time = (description: string) => Type.String({ format: 'date-time', description })

const deliveryFields = {
  id: Type.String({
    format: 'uuid',
    description: 'The same in `X-Service-Delivery` and `webhook-id` of every attempt',
  }),
  event: Type.String({ description: 'As in `X-Service-Event`' }),
  sessionId: Type.String({ format: 'uuid', description: 'Of which it tells' }),
  sequence: Type.Integer({ description: 'As in `X-Service-Sequence`: order of the events of one session' }),
  origin: Type.String({ description: 'Scheme, host and port of the callback URL. The rest may hold secrets' }),
  state: Type.Enum([...DELIVERY_STATES], { description: '`dead`: no attempt follows unless it is replayed' }),
  attempts: Type.Integer({ description: 'Attempts so far, over all replays' }),
  createdAt: time('When the session ended'),
  nextAttemptAt: Type.Optional(time('While pending. A receiver that keeps failing is given a rest beyond it')),
  deliveredAt: Type.Optional(time('When it was first answered with 2xx')),
  deadAt: Type.Optional(time('When it was given up')),
  deadReason: Type.Optional(
    Type.Enum([...DEAD_REASONS], {
      description:
        '`exhausted`: ten attempts failed. `gone`: the receiver answered 410. `forbidden`: the URL or its address may ' +
        'not be called. `retention`: the next attempt would come after the session’s data is deleted. `key_removed`: ' +
        'the API key that signs is no longer there',
    }),
  ),
  deletedAt: time('When the delivery, its body and its attempts are deleted'),
  livemode: Type.Boolean({ description: 'false for sessions of test keys' }),
}

const deliveryExample = {
  id: '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa',
  event: 'age.session.completed',
  sessionId: '7d9f4c1e-64a5-4b0e-9d8e-2f6b8f0a1c35',
  sequence: 1,
  origin: 'https://host.example',
  state: 'pending',
  attempts: 1,
  createdAt: '2026-11-15T09:30:00.000Z',
  nextAttemptAt: '2026-11-15T09:30:05.210Z',
  deletedAt: '2026-11-16T09:30:00.000Z',
  livemode: true,
}

export const WebhookDelivery = Type.Object(deliveryFields, { title: 'WebhookDelivery', examples: [deliveryExample] })
export type WebhookDelivery = Type.Static<typeof WebhookDelivery>

export const WebhookAttempt = Type.Object(
  {
    attempt: Type.Integer({ description: 'As in `X-Service-Attempt`' }),
    startedAt: time('When it began'),
    durationMs: Type.Integer({ description: 'How long it took' }),
    outcome: Type.Enum([...ATTEMPT_OUTCOMES], {
      description:
        '`delivered`: 2xx. `rejected`: 4xx. `failed`: 5xx. `redirect`: 3xx, never followed. `gone`: 410. `timeout`: no ' +
        'answer in 10 s. `refused`: no connection, or it broke. `dns`, `tls`: no address, no trustworthy connection. ' +
        '`forbidden`: not a place that may be called. `sandbox`: a test key asked for a failure, nothing was sent. ' +
        '`unsigned`: no active API key may sign it, nothing was sent',
    }),
    status: Type.Optional(Type.Integer({ description: 'HTTP status of the answer, if there was one' })),
    nextAttemptAt: Type.Optional(time('When the next attempt was planned for')),
  },
  { title: 'WebhookAttempt' },
)
export type WebhookAttempt = Type.Static<typeof WebhookAttempt>

export const WebhookDeliveryDetails = Type.Object(
  { ...deliveryFields, attemptLog: Type.Array(WebhookAttempt, { description: 'In order' }) },
  {
    title: 'WebhookDeliveryDetails',
    examples: [
      {
        ...deliveryExample,
        attemptLog: [
          {
            attempt: 1,
            startedAt: '2026-11-15T09:30:00.012Z',
            durationMs: 41,
            outcome: 'failed',
            status: 503,
            nextAttemptAt: '2026-11-15T09:30:05.210Z',
          },
        ],
      },
    ],
  },
)
export type WebhookDeliveryDetails = Type.Static<typeof WebhookDeliveryDetails>

export const WebhookDeliveryPage = Type.Object(
  {
    items: Type.Array(WebhookDelivery, { description: 'The deliveries, newest first' }),
    count: Type.Integer({ description: 'Number of `items` on this page' }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Send it back as `cursor` for the next page; null on the last page',
    }),
  },
  { title: 'WebhookDeliveryPage' },
)
export type WebhookDeliveryPage = Type.Static<typeof WebhookDeliveryPage>

export const ReplayWebhooksBody = Type.Object(
  {
    since: time('Deliveries made at or after this moment'),
    state: Type.Optional(
      Type.Union([Type.Literal('dead'), Type.Literal('delivered'), Type.Literal('all')], {
        default: 'dead',
        description: 'Those that are pending are on their way already and never replayed',
      }),
    ),
  },
  { title: 'ReplayWebhooks', additionalProperties: false, examples: [{ since: '2026-11-15T00:00:00.000Z' }] },
)
export type ReplayWebhooksBody = Type.Static<typeof ReplayWebhooksBody>

export const ReplayedWebhooks = Type.Object(
  {
    count: Type.Integer({ description: 'Deliveries that are on their way again' }),
    continueFrom: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: `One call looks at ${WEBHOOK_LIMITS.replayMax} deliveries, oldest first: send this as \`since\` until it is null, whatever \`count\` says`,
    }),
  },
  { title: 'ReplayedWebhooks', examples: [{ count: 12, continueFrom: null }] },
)
export type ReplayedWebhooks = Type.Static<typeof ReplayedWebhooks>

// A malformed id is answered like an unknown one (404), so its shape is not part of the schema.
const IdParams = Type.Object({ id: Type.String() })

export const listWebhookDeliveries = operation({
  operationId: 'listWebhookDeliveries',
  area: 'C',
  group: 'webhooks',
  method: 'GET',
  path: '/webhooks/deliveries',
  summary: 'List webhook deliveries',
  description:
    'Pages through the deliveries of areas C and D, newest first. Go by `nextCursor`, not by the count: a page can be ' +
    'short, even empty, and still have one.',
  auth: 'required',
  scope: ['age:read', 'verify:read'],
  query: Type.Object(
    {
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: WEBHOOK_LIMITS.pageMax, default: WEBHOOK_LIMITS.pageDefault }),
      ),
      cursor: Type.Optional(Type.String({ maxLength: 200, description: '`nextCursor` of the page before' })),
      state: Type.Optional(Type.Enum([...DELIVERY_STATES])),
      sessionId: Type.Optional(Type.String({ maxLength: 64, description: 'Only those of this session' })),
      since: Type.Optional(time('Only those made at or after this moment')),
    },
    { additionalProperties: false },
  ),
  success: { 200: { description: 'One page', schema: WebhookDeliveryPage } },
  errors: ['VALIDATION_FAILED'],
})

export const getWebhookDelivery = operation({
  operationId: 'getWebhookDelivery',
  area: 'C',
  group: 'webhooks',
  method: 'GET',
  path: '/webhooks/deliveries/:id',
  summary: 'Get one webhook delivery',
  description: 'Returns the delivery with its attempts. Its body and headers are not returned.',
  auth: 'required',
  scope: ['age:read', 'verify:read'],
  params: IdParams,
  success: { 200: { description: 'The delivery', schema: WebhookDeliveryDetails } },
  errors: ['NOT_FOUND'],
})

export const replayWebhookDelivery = operation({
  operationId: 'replayWebhookDelivery',
  area: 'C',
  group: 'webhooks',
  method: 'POST',
  path: '/webhooks/deliveries/:id/replay',
  summary: 'Send one webhook again',
  description:
    'Starts the delivery’s attempts again, at once, whether it is dead, delivered or waiting. The body and the delivery id ' +
    'stay the same; attempt numbers go on.',
  auth: 'required',
  scope: ['age:write', 'verify:write'],
  params: IdParams,
  success: { 200: { description: 'On its way', schema: WebhookDelivery } },
  errors: ['NOT_FOUND'],
})

export const replayWebhooks = operation({
  operationId: 'replayWebhooks',
  area: 'C',
  group: 'webhooks',
  method: 'POST',
  path: '/webhooks/replay',
  summary: 'Send webhooks again',
  description: 'Starts the attempts of all dead (or delivered, or both) deliveries since a moment again.',
  auth: 'required',
  scope: ['age:write', 'verify:write'],
  body: ReplayWebhooksBody,
  success: { 200: { description: 'How many are on their way', schema: ReplayedWebhooks } },
  errors: ['INVALID_JSON', 'VALIDATION_FAILED', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
})

export const WebhookPublicKey = Type.Object(
  {
    kty: Type.Literal('OKP', { description: 'Kind of key (RFC 8037)' }),
    crv: Type.Literal('Ed25519', { description: 'Its curve' }),
    x: Type.String({ description: 'The public half: 32 bytes in base64url' }),
    kid: Type.String({ description: 'Thumbprint of the key (RFC 7638)' }),
    use: Type.Literal('sig', { description: 'For signatures' }),
    alg: Type.Literal('EdDSA', { description: 'The algorithm of the signatures' }),
  },
  { title: 'WebhookPublicKey' },
)
export type WebhookPublicKey = Type.Static<typeof WebhookPublicKey>

export const WebhookKeySet = Type.Object(
  { keys: Type.Array(WebhookPublicKey, { description: 'The newest first; two during a rotation' }) },
  {
    title: 'WebhookKeySet',
    examples: [
      {
        keys: [
          {
            kty: 'OKP',
            crv: 'Ed25519',
            x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
            kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
            use: 'sig',
            alg: 'EdDSA',
          },
        ],
      },
    ],
  },
)
export type WebhookKeySet = Type.Static<typeof WebhookKeySet>

export const getWebhookKeys = operation({
  operationId: 'getWebhookKeys',
  area: 'C',
  group: 'webhooks',
  method: 'GET',
  path: '/.well-known/ostiary-webhook-keys/:tenant.json',
  summary: 'Get the public keys of webhooks',
  description:
    'The keys that verify `v1a` in `webhook-signature`, as a JSON Web Key Set. Live and test webhooks have different keys: ' +
    `without \`mode\` only those of live webhooks are in it. May be cached for ${WEBHOOK_KEY_SET_SECONDS / 60} minutes. ` +
    '404 for a tenant without such keys, and for one that does not exist.',
  auth: 'none',
  params: Type.Object({ tenant: Type.String({ description: 'Id of the tenant' }) }),
  query: Type.Object(
    { mode: Type.Optional(Type.Enum(['live', 'test'], { default: 'live', description: 'Whose webhooks' })) },
    { additionalProperties: false },
  ),
  success: { 200: { description: 'The key set', schema: WebhookKeySet } },
  errors: ['NOT_FOUND', 'VALIDATION_FAILED', 'INVALID_API_KEY', 'KEY_INACTIVE', 'RATE_LIMITED'],
})

export const WEBHOOK_OPERATIONS: readonly Operation[] = [
  listWebhookDeliveries,
  getWebhookDelivery,
  replayWebhookDelivery,
  replayWebhooks,
  getWebhookKeys,
]
