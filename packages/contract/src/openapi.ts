import type { TSchema } from 'typebox'
import { AREA_LETTERS } from './areas.ts'
import { ERRORS, ErrorBody, type ErrorCode, InvalidKeyBody } from './errors.ts'
import type { NamedExamples, OperationExamples } from './examples/index.ts'
import { NODE_ERRORS, NodeError, type NodeErrorCode } from './node-errors.ts'
import { OAuthError } from './oauth.ts'
import type { Operation, OperationGroup, SuccessReply } from './operation.ts'
import { WEBHOOK_HEADERS, type WebhookEvent } from './webhook-events.ts'

type Json = { [key: string]: unknown }

/** The groups of the reference, in its order. */
const TAGS: Record<Operation['area'] | OperationGroup, { name: string; description: string }> = {
  A: { name: 'A. Strings', description: 'A small record service with health check and descriptor' },
  B: { name: 'B. Sanctions', description: 'A CSV of people is screened against a named dataset' },
  C: { name: 'C. Age sessions', description: 'Age is estimated on the end user’s device' },
  D: { name: 'D. Verification sessions', description: 'Enrol, sign in and verify by face, document and passkey' },
  E: { name: 'E. Biometric node', description: 'Enrol, predict and delete on face feature vectors' },
  webhooks: {
    name: 'Webhooks and events',
    description:
      'What was delivered to `callback.url` of areas C and D, how to send it again, and the keys that verify it',
  },
  test: { name: 'Test mode', description: 'Outcomes, time and failed deliveries at will, with test keys only' },
  device: {
    name: 'Device: what the launch page calls',
    description: 'For authors of a page of their own. A host creates a session and sends its user to `launchUrl`',
  },
  '-': { name: 'Operations', description: 'For orchestrators, load balancers and tools' },
}

const tagOf = ({ area, group }: Operation) => TAGS[group ?? area].name

const ALWAYS_POSSIBLE: readonly ErrorCode[] = ['BAD_REQUEST', 'INTERNAL', 'DEPENDENCY_DOWN']
const WITH_KEY: readonly ErrorCode[] = [
  'MISSING_API_KEY',
  'INVALID_API_KEY',
  'KEY_INACTIVE',
  'SCOPE_DENIED',
  'ADDRESS_DENIED',
  'RATE_LIMITED',
]

/** What a newcomer needs before the first call. */
const INTRODUCTION = [
  'Ostiary checks who may pass and keeps no face. Paths of areas A and C without a version are version 1 and are also served under `/v1`.',
  '**Key.** Send `x-api-key: ost_test_…` or `ost_live_…`, from servers only. With a test key nothing is real: outcomes, time and failures can be chosen (group *Test mode*). ' +
    'Live keys need client credentials in area D (`POST /oauth/token`).',
  '**Begin** with `POST /session` (area C) or `POST /v2/verification-session` (D): send the user to `launchUrl`, and wait for the webhook. ' +
    'What the page at `launchUrl` calls is the group *Device*, which no host needs.',
  '**Errors** have a stable `code`, a `message` for people and a `requestId`. **Answers and webhooks may gain fields**: ignore what you do not know.',
].join('\n\n')

/** Events and examples that the document has beside its operations. */
export interface OpenApiParts {
  events?: Readonly<Record<string, WebhookEvent>>
  /** By operationId. An operation without them has the example of its schema, if there is one. */
  examples?: Readonly<Record<string, OperationExamples>>
  eventExamples?: Readonly<Record<string, NamedExamples>>
}

/** Builds the OpenAPI 3.1 document from operations and events. Schemas with a title become shared components. */
export function toOpenApi(
  operations: readonly Operation[],
  info: { title: string; version: string },
  { events = {}, examples = {}, eventExamples = {} }: OpenApiParts = {},
): Json {
  const components = new Map<string, Json>()
  const paths: Record<string, Json> = {}
  for (const op of operations) {
    const path = op.path.replace(/:([A-Za-z]+)/g, '{$1}')
    const shown = examples[op.operationId] ?? {}
    paths[path] = { ...paths[path], [op.method.toLowerCase()]: operationObject(op, shown, components) }
  }
  const webhooks = Object.fromEntries(
    Object.entries(events).map(([name, event]) => [
      name,
      { post: webhookObject(name, event, { shown: eventExamples[name], components }) },
    ]),
  )
  const usedTags = new Set(operations.map(tagOf))
  return {
    openapi: '3.1.0',
    info: {
      ...info,
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This installation' }],
    tags: Object.values(TAGS).filter((tag) => usedTags.has(tag.name)),
    security: [],
    paths,
    ...(Object.keys(webhooks).length > 0 && { webhooks }),
    components: {
      schemas: Object.fromEntries([...components].sort(([a], [b]) => a.localeCompare(b))),
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description:
            '`ost_test_…` or `ost_live_…`. For servers only: a key must not be in a browser. Area D also takes it in `x_api_key`.',
        },
        ...CLIENT_SCHEMES,
      },
    },
  }
}

/** The error codes an operation can answer with: its own and those its way of authentication brings. */
export function errorCodesOf(op: Operation): ErrorCode[] {
  return [...new Set([...op.errors, ...(op.auth === 'none' ? [] : WITH_KEY), ...ALWAYS_POSSIBLE])]
}

function operationObject(op: Operation, shown: OperationExamples, components: Map<string, Json>): Json {
  const parameters = [
    ...parameterObjects(op.params, 'path', components),
    ...parameterObjects(op.query, 'query', components),
    ...(op.idempotent ? [IDEMPOTENCY_PARAMETER] : []),
    ...Object.entries(op.headers ?? {}).map(([name, header]) => ({ name, in: 'header', required: false, ...header })),
  ]
  return {
    operationId: op.operationId,
    tags: [tagOf(op)],
    summary: op.summary,
    description: op.description,
    security: securityOf(op),
    ...(parameters.length > 0 && { parameters }),
    ...(op.body && { requestBody: requestBody(op, shown, components) }),
    responses: responses(op, shown, components),
  }
}

function securityOf({ auth, nodeErrors, takesClientCredentials }: Operation): Json[] {
  if (nodeErrors) return KEY_IN_HEADER_OR_BODY
  if (takesClientCredentials) return KEY_AND_CLIENT
  return { none: [], optional: [{}, { apiKey: [] }], required: [{ apiKey: [] }] }[auth]
}

/** Area E takes the key in the body too, so the header alone is not required. */
const KEY_IN_HEADER_OR_BODY = [{ apiKey: [] }, {}]

/** Three ways to send client credentials. The key alone is enough where the tenant does not demand them. */
const CLIENT_SCHEMES = {
  clientToken: {
    type: 'oauth2',
    description:
      'A token of `POST /oauth/token`, good for ten minutes: by client secret, or by a signed assertion (SLC).',
    flows: { clientCredentials: { tokenUrl: '/oauth/token', scopes: {} } },
  },
  clientBasic: { type: 'http', scheme: 'basic', description: 'Client id and client secret.' },
  clientID: { type: 'apiKey', in: 'header', name: 'clientID', description: 'Client id, beside `clientSecret`.' },
  clientSecret: {
    type: 'apiKey',
    in: 'header',
    name: 'clientSecret',
    description: 'Client secret, beside `clientID`.',
  },
}
const KEY_AND_CLIENT = [
  { apiKey: [], clientToken: [] },
  { apiKey: [], clientBasic: [] },
  { apiKey: [], clientID: [], clientSecret: [] },
  { apiKey: [] },
]

/** A call that the service makes to `callback.url`. */
function webhookObject(
  name: string,
  event: WebhookEvent,
  { shown, components }: { shown: NamedExamples | undefined; components: Map<string, Json> },
): Json {
  const { area, summary, description, body } = event
  const header = (key: string, { description, schema }: Json) => ({
    name: key,
    in: 'header',
    required: true,
    description,
    schema,
  })
  return {
    operationId: `webhook.${name}`,
    tags: [TAGS[AREA_LETTERS[area]].name],
    summary,
    description,
    security: [],
    parameters: [
      header('X-Service-Event', { description: 'Name of the event', schema: { type: 'string', const: name } }),
      ...Object.entries(WEBHOOK_HEADERS).map(([key, value]) => header(key, value)),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: hoist(body, components), ...exampleObjects(shown, body) } },
    },
    responses: {
      '2XX': { description: 'Received, within 10 seconds. The body of the answer is not read' },
      '410': { description: 'The receiver is gone: no further attempt' },
      default: { description: 'Anything else, a redirect too, is tried again: ten attempts over 16 hours' },
    },
  }
}

const IDEMPOTENCY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Any text of your choice. For 24 hours a call with the same key and body creates nothing new.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

function parameterObjects(schema: TSchema | undefined, place: string, components: Map<string, Json>): Json[] {
  if (!schema) return []
  const { properties, required = [] } = schema as unknown as { properties: Record<string, Json>; required?: string[] }
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = property
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description !== undefined && { description }),
      schema: hoist(rest, components),
    }
  })
}

function requestBody(op: Operation, { request }: OperationExamples, components: Map<string, Json>): Json {
  const content: Json = {}
  for (const type of op.bodyTypes ?? ['application/json']) {
    content[type] =
      type === 'text/plain'
        ? { schema: { type: 'string' }, example: 'hello' }
        : { schema: hoist(op.body, components), ...exampleObjects(request, op.body) }
  }
  return { required: true, content }
}

/** What a reader sees first: the examples by name, or the first one of the schema. */
function exampleObjects(named: NamedExamples | undefined, schema: TSchema | undefined): Json {
  const all = Object.entries(named ?? {})
  const [first] = (schema as { examples?: readonly unknown[] } | undefined)?.examples ?? []
  if (all.length === 0) return first === undefined ? {} : { example: first }
  if (all.length === 1) return { example: all[0]?.[1] }
  return { examples: Object.fromEntries(all.map(([summary, value]) => [keyOf(summary), { summary, value }])) }
}

/** `Above the threshold` is `above-the-threshold`. */
const keyOf = (summary: string) =>
  summary
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

function responses(op: Operation, { replies }: OperationExamples, components: Map<string, Json>): Json {
  const byStatus: Json = {}
  for (const [status, reply] of Object.entries(op.success)) {
    byStatus[status] = replyObject(reply, replies?.[Number(status)], components)
  }
  if (op.nodeErrors) return { ...byStatus, ...nodeErrorResponses(op.nodeErrors, components) }
  if (op.oauthErrors) return { ...byStatus, ...oauthErrorResponses(op.oauthErrors, components) }
  const codesByStatus = Map.groupBy(errorCodesOf(op), (code) => String(ERRORS[code].status))
  for (const [status, codes] of [...codesByStatus].sort()) {
    if (byStatus[status]) continue
    byStatus[status] = {
      description: codes.map((code) => `\`${code}\`: ${meaningOf(code, op)}`).join('\n\n'),
      content: { 'application/json': { schema: errorSchema(op, codes, components) } },
    }
  }
  return byStatus
}

function replyObject(
  { description, headers, schema }: SuccessReply,
  shown: NamedExamples | undefined,
  components: Map<string, Json>,
): Json {
  return {
    description,
    ...(headers && {
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, meaning]) => [name, { description: meaning, schema: { type: 'string' } }]),
      ),
    }),
    ...(schema && {
      content: { 'application/json': { schema: hoist(schema, components), ...exampleObjects(shown, schema) } },
    }),
  }
}

function meaningOf(code: ErrorCode, { rateNote }: Operation): string {
  const { meaning } = ERRORS[code]
  return code === 'RATE_LIMITED' && rateNote !== undefined ? `${meaning} ${rateNote}.` : meaning
}

/** In area D a wrong key has a body of its own, beside the other reasons for a 401. */
function errorSchema({ area }: Operation, codes: readonly ErrorCode[], components: Map<string, Json>): unknown {
  const common = hoist(ErrorBody, components)
  if (area !== AREA_LETTERS.verification || !codes.includes('INVALID_API_KEY')) return common
  return { anyOf: [common, hoist(InvalidKeyBody, components)] }
}

const NODE_ALWAYS_POSSIBLE: readonly NodeErrorCode[] = [
  'NODE_KEY_MISSING',
  'NODE_KEY_REJECTED',
  'NODE_INVALID_JSON',
  'NODE_FIELD_INVALID',
  'NODE_RATE_LIMITED',
  'NODE_TOO_LARGE',
  'NODE_MEDIA_TYPE',
  'NODE_INTERNAL',
  'NODE_STORE_DOWN',
]

function nodeErrorResponses(codes: readonly NodeErrorCode[], components: Map<string, Json>): Json {
  const byHttp = Map.groupBy([...codes, ...NODE_ALWAYS_POSSIBLE], (code) => String(NODE_ERRORS[code].http))
  return Object.fromEntries(
    [...byHttp].sort().map(([http, inHttp]) => [
      http,
      {
        description: inHttp
          .map((code) => {
            const { status, message, meaning } = NODE_ERRORS[code]
            return `\`status\` ${status}, \`${message}\`: ${meaning}`
          })
          .join('\n\n'),
        content: { 'application/json': { schema: hoist(NodeError, components) } },
      },
    ]),
  )
}

function oauthErrorResponses(errors: Readonly<Record<number, string>>, components: Map<string, Json>): Json {
  const content = { 'application/json': { schema: hoist(OAuthError, components) } }
  return Object.fromEntries(Object.entries(errors).map(([status, description]) => [status, { description, content }]))
}

/** Copies a schema, moving every titled part into `components` and leaving a reference in its place. */
function hoist(schema: unknown, components: Map<string, Json>): unknown {
  if (Array.isArray(schema)) return schema.map((part) => hoist(part, components))
  if (typeof schema !== 'object' || schema === null) return schema
  const copy: Json = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'title' && typeof value === 'string') continue
    if (key === 'patternProperties') copy.additionalProperties = hoist(anyProperty(value), components)
    else copy[key] = key === 'examples' ? value : hoist(value, components)
  }
  const title = (schema as Json).title
  if (typeof title !== 'string') return copy
  components.set(title, copy)
  return { $ref: `#/components/schemas/${title}` }
}

/** TypeBox writes a record as one pattern that fits every name; readers of the document expect the plain form. */
function anyProperty(patterns: unknown): unknown {
  const [schema] = Object.values(patterns as Json)
  return schema
}
