import Type from 'typebox'
import { anyObject, CreateSessionBody } from './age-request.ts'
import { consent } from './consent.ts'
import { DocumentRecord } from './document-record.ts'
import { Indicators } from './indicators.ts'
import { CAPTURE_ASSURANCE } from './launch-steps.ts'
import { SESSION_LIMITS } from './limits.ts'
import { type Operation, operation } from './operation.ts'
import { CONFIRM_ERRORS, ConfirmedReturn, ConfirmReturnBody, codeHash } from './returns.ts'
import { RiskEvaluation } from './risk.ts'
import { SessionPage, SessionSummary, sessionListQuery } from './session-list.ts'
import { AGE_STATES, FLOW_STATUSES, SESSION_OUTCOMES } from './states.ts'

export const AGE_STATUSES = ['AGE_UNKNOWN', 'AGE_BELOW_THRESHOLD', 'AGE_ABOVE_THRESHOLD', 'AGE_AT_THRESHOLD'] as const
export type AgeStatus = (typeof AGE_STATUSES)[number]
/** The result of a comparison with a threshold; it is never unknown. */
export type ThresholdResult = Exclude<AgeStatus, 'AGE_UNKNOWN'>

export const CreatedSession = Type.Object(
  {
    token: Type.String({ description: 'For the result path. Keep it on your server: it is enough to read the result' }),
    launchUrl: Type.String({ description: 'Send the user here; carries `sessionId`, which cannot read the result' }),
    expiresAt: Type.String({
      format: 'date-time',
      description: 'When the session expires if the user does not finish it',
    }),
    sessionId: Type.String({ format: 'uuid', description: 'Extension: the id in `launchUrl`' }),
    livemode: Type.Boolean({ description: 'Extension: false for sessions of test keys' }),
  },
  { title: 'CreatedSession' },
)
export type CreatedSession = Type.Static<typeof CreatedSession>

const StepAge = (description: string) =>
  Type.Object(
    {
      thresholdResult: Type.Optional(
        Type.Enum(
          AGE_STATUSES.filter((status): status is ThresholdResult => status !== 'AGE_UNKNOWN'),
          {
            description: 'Of this step against its threshold; with the format `threshold` or `both`',
          },
        ),
      ),
      exact: Type.Optional(
        Type.Number({
          description: 'Years; with the format `exact` or `both`. Of a face to a tenth, of a document whole',
        }),
      ),
    },
    { description },
  )

export const SessionProgress = Type.Object(
  {
    state: Type.String({ description: 'The step the user is at, as docs/api/age.md names them' }),
    attempt: Type.Integer({ description: 'Which try of the face step' }),
  },
  { title: 'SessionProgress', description: 'Extension: while the flow is open' },
)

export const AgeResult = Type.Object(
  {
    token: Type.String({ description: 'As in the path' }),
    sessionId: Type.String({ format: 'uuid', description: 'The id in `launchUrl`' }),
    sessionStatus: Type.Enum([...AGE_STATUSES], {
      description:
        'The verdict. `AGE_UNKNOWN` while the flow is open and wherever there is none. `AGE_AT_THRESHOLD`: the threshold’s own year, for "at least" a yes',
    }),
    status: Type.Enum([...AGE_STATUSES], { description: 'Always equal to `sessionStatus`' }),
    flowStatus: Type.Union([Type.Enum([...FLOW_STATUSES]), Type.Null()], { description: 'null until the flow ends' }),
    result: Type.Object(
      {
        age: Type.Optional(
          Type.Number({ description: 'Whole years; only when a return format includes `exact`, or the tenant asks' }),
        ),
        confidenceScore: Type.Optional(
          Type.Number({ description: 'Score of the comparison of face and document; absent when none ran' }),
        ),
        faceMatch: Type.Optional(
          Type.Boolean({ description: 'Whether face and document match; absent when no comparison ran' }),
        ),
        documentAge: Type.Optional(StepAge('Present when a document was read')),
        facialAgeEstimation: Type.Optional(StepAge('Present when the face step gave an estimate')),
      },
      { description: 'What the steps found; empty where they are not to be told' },
    ),
    thresholds: Type.Object(
      {
        ageThreshold: Type.Number({ description: 'For the estimate of the face' }),
        compareThreshold: Type.Number({ description: 'Least score for face and document to match' }),
        faceMatchThreshold: Type.Number({ description: 'Always equal to `compareThreshold`' }),
        documentAgeThreshold: Type.Number({ description: 'Extension: for the age in the document' }),
      },
      { description: 'What the ages and the score were compared with' },
    ),
    metadata: anyObject('As given at creation'),
    indicators: Type.Optional(Indicators),
    riskEvaluation: RiskEvaluation,
    document: Type.Optional(
      Type.Union([DocumentRecord, Type.Null()], {
        description:
          'Extension: what the device said about the document that was accepted, or whose face was another one; null otherwise',
      }),
    ),
    errors: Type.Array(Type.Integer(), {
      description: 'Session codes (docs/session-codes.md); empty when all went well',
    }),
    errorDetails: Type.Array(
      Type.Object({
        code: Type.Integer({ description: 'As in `errors`' }),
        name: Type.String({ description: 'Its name' }),
        reason: Type.Optional(Type.String({ description: 'Where the code has several reasons' })),
      }),
      { description: 'Extension: the same codes by name' },
    ),
    outcome: Type.Union([Type.Enum([...SESSION_OUTCOMES]), Type.Null()], {
      description: 'Extension: one vocabulary for areas C and D; SUCCEEDED means that there is a verdict',
    }),
    assurance: Type.Object(
      {
        level: Type.Enum(['none', 'estimate', 'document', 'sandbox'], {
          description: '`none` while and where there is no verdict; `sandbox`: a test key chose it',
        }),
        method: Type.String({ description: 'The same in words' }),
        ...CAPTURE_ASSURANCE,
      },
      {
        description:
          'Extension: what the verdict rests on. An estimate on a device is no verified age, and a document that was read there is the word of that device',
      },
    ),
    createdAt: Type.String({ format: 'date-time', description: 'Extension: when the session was created' }),
    expiresAt: Type.String({ format: 'date-time', description: 'Extension: when it expires' }),
    endedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'Extension: when the flow ended; null while it is open',
    }),
    codeHash: Type.Optional(codeHash('Present where the tenant has set `redirectCode`')),
    consent,
    livemode: Type.Boolean({ description: 'Extension: false for sessions of test keys' }),
    progress: Type.Optional(SessionProgress),
  },
  { title: 'AgeResult' },
)
export type AgeResult = Type.Static<typeof AgeResult>

const TokenParams = Type.Object({ token: Type.String() })

export const createSession = operation({
  operationId: 'createSession',
  area: 'C',
  method: 'POST',
  path: '/session',
  summary: 'Create an age session',
  description:
    'Creates a session and returns where to send the user. `Authorization: Bearer <JWT>` is optional and is checked against ' +
    'the tenant’s identity providers. `X-Config-Warning` names settings that will disappoint.',
  auth: 'required',
  scope: 'age:write',
  body: CreateSessionBody,
  idempotent: true,
  headers: {
    Authorization: {
      description: 'Optional: a bearer JWT of an identity provider that the tenant has configured',
      schema: { type: 'string' },
    },
  },
  success: {
    201: {
      description: 'Created',
      schema: CreatedSession,
      headers: {
        Location: 'Path of the session',
        'Content-Language': 'The session’s language, when `locale` names one that the page has (`GET /v2/locales`)',
        'X-Config-Warning': 'Comma-separated warnings; docs/api/age.md lists them',
        'Idempotency-Replayed': '`true` when an earlier call made the session',
      },
    },
  },
  errors: [
    'INVALID_JSON',
    'VALIDATION_FAILED',
    'INVALID_LOCALE',
    'INVALID_URL',
    'INVALID_TOKEN',
    'IDEMPOTENCY_MISMATCH',
    'GONE',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
  ],
})

export const getSessionResult = operation({
  operationId: 'getSessionResult',
  area: 'C',
  method: 'GET',
  path: '/session/:token/result',
  summary: 'Read the result',
  description:
    'The token is enough; a key that is sent must be the owner’s. Until the flow ends `flowStatus` is null and `Retry-After` ' +
    'says when to ask again; `wait` holds the answer back until then.',
  auth: 'optional',
  scope: 'age:read',
  params: TokenParams,
  query: Type.Object(
    {
      wait: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: SESSION_LIMITS.waitSecondsMax,
          description: 'Extension: seconds to wait for the end of the flow',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  success: {
    200: {
      description: 'The result',
      schema: AgeResult,
      headers: { 'Retry-After': 'Seconds, while the flow is open' },
    },
  },
  errors: ['VALIDATION_FAILED', 'NOT_FOUND', 'GONE', 'RATE_LIMITED'],
})

export const getSession = operation({
  operationId: 'getSession',
  area: 'C',
  method: 'GET',
  path: '/session/:token',
  summary: 'Read the state of a session',
  description: 'Extension: where the flow is, without the result.',
  auth: 'required',
  scope: 'age:read',
  params: TokenParams,
  success: { 200: { description: 'The session', schema: SessionSummary } },
  errors: ['NOT_FOUND', 'GONE'],
})

export const cancelSession = operation({
  operationId: 'cancelSession',
  area: 'C',
  method: 'POST',
  path: '/session/:token/cancel',
  summary: 'Cancel a session',
  description: 'Extension: ends the flow as `CANCELLED` with code -38. The webhook is sent.',
  auth: 'required',
  scope: 'age:write',
  params: TokenParams,
  success: { 200: { description: 'The result', schema: AgeResult } },
  errors: ['NOT_FOUND', 'SESSION_NOT_OPEN', 'GONE'],
})

export const confirmSession = operation({
  operationId: 'confirmSession',
  area: 'C',
  method: 'POST',
  path: '/session/:token/confirm',
  summary: 'Confirm that a browser has finished a session',
  description:
    'Extension: takes the `code` that came with the redirect, where the tenant has set `redirectCode`. It is good once; the same ' +
    '`Idempotency-Key` gets the same answer for 24 hours. Five wrong codes void it.',
  auth: 'required',
  scope: 'age:write',
  params: TokenParams,
  body: ConfirmReturnBody,
  idempotent: true,
  success: { 200: { description: 'This browser has finished the session', schema: ConfirmedReturn } },
  errors: CONFIRM_ERRORS,
})

export const deleteSession = operation({
  operationId: 'deleteSession',
  area: 'C',
  method: 'DELETE',
  path: '/session/:token',
  summary: 'Erase a session',
  description:
    'Extension: erases the result, the metadata and webhooks that are not delivered yet, before the retention period ends. ' +
    'A flow that is still open must be cancelled first.',
  auth: 'required',
  scope: 'age:write',
  params: TokenParams,
  success: { 204: { description: 'Erased', schema: null } },
  errors: ['NOT_FOUND', 'SESSION_OPEN', 'GONE'],
})

export const listSessions = operation({
  operationId: 'listSessions',
  area: 'C',
  method: 'GET',
  path: '/sessions',
  summary: 'List sessions',
  description:
    'Extension: newest first. A page also ends where the requests of its sessions have 1 MB: go on while `nextCursor` is not null. `metadata` keeps the sessions whose metadata has these texts, numbers or booleans at its top ' +
    'level. All filters apply together.',
  auth: 'required',
  scope: 'age:read',
  query: Type.Object(
    {
      ...sessionListQuery([...AGE_STATES]),
      metadata: Type.Optional(
        Type.String({
          maxLength: 1000,
          description: 'A JSON object: `{"orderId":"A-7"}` keeps the sessions whose metadata has these values',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  success: { 200: { description: 'One page', schema: SessionPage } },
  errors: ['VALIDATION_FAILED'],
})

export const AGE_OPERATIONS: readonly Operation[] = [
  createSession,
  getSessionResult,
  getSession,
  cancelSession,
  confirmSession,
  deleteSession,
  listSessions,
]
