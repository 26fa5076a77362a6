import Type from 'typebox'
import { CaptureConditions } from './capture-conditions.ts'
import { consent } from './consent.ts'
import { DocumentRecord } from './document-record.ts'
import { DOCUMENT_TYPES } from './documents.ts'
import { Indicators } from './indicators.ts'
import { CAPTURE_ASSURANCE } from './launch-steps.ts'
import { VERIFICATION_LIMITS } from './limits.ts'
import { type Operation, operation } from './operation.ts'
import { CONFIRM_ERRORS, ConfirmedReturn, ConfirmReturnBody, codeHash } from './returns.ts'
import { RiskEvaluation } from './risk.ts'
import { OF_PURGED, sessionListQuery } from './session-list.ts'
import { SESSION_OUTCOMES, VERIFICATION_STATES } from './states.ts'
import { ContactInformation, CreateVerificationBody, shortText, VERIFICATION_TYPES } from './verification-request.ts'

export const CreatedVerification = Type.Object(
  {
    launchUrl: Type.String({ description: 'Send the user here' }),
    sessionId: Type.String({ format: 'uuid', description: 'Names the session in all other calls' }),
    expiresAt: Type.String({ format: 'date-time', description: 'Extension' }),
    livemode: Type.Boolean({ description: 'Extension: false for sessions of test keys' }),
  },
  { title: 'CreatedVerification' },
)
export type CreatedVerification = Type.Static<typeof CreatedVerification>

export const VerificationFault = Type.Object({
  code: Type.Integer({ description: 'A session code (docs/session-codes.md)' }),
  message: Type.String({ description: 'The same in words' }),
})
export type VerificationFault = Type.Static<typeof VerificationFault>

/** A session code with its name, and why. */
const NamedFault = Type.Object({
  code: Type.Integer({ description: 'A session code (docs/session-codes.md)' }),
  name: Type.String({ description: 'Its name' }),
  reason: Type.String({ description: 'One of the reasons above' }),
})

/** How a person was recognised. `local` alone needs the tenant's permission. */
export const MATCH_METHODS = ['server', 'local', 'local+passkey', 'server+passkey', 'sandbox'] as const
export type MatchMethod = (typeof MATCH_METHODS)[number]

/**
 * The webhook of an ENROLL, SIGN-IN or VERIFY session. Of a success all of `puid`, `guid` and `identityInformation` are there;
 * of a failure none. A failed SIGN-IN has `status` `error` and `errorCodes`.
 */
export const VerificationWebhook = Type.Object(
  {
    sessionId: Type.String({ format: 'uuid', description: 'The session' }),
    status: Type.Enum(['SUCCESS', 'FAILED', 'error'], { description: '`error`: a SIGN-IN that failed' }),
    transactionId: Type.Optional(
      Type.String({ description: 'The `transactionID` of the creation; absent without one' }),
    ),
    message: Type.String({ description: '`Ok`, or why it failed, in words' }),
    puid: Type.Optional(Type.String({ description: 'The person' })),
    guid: Type.Optional(Type.String({ description: 'The group: all persons of this tenant and mode' })),
    identityInformation: Type.Optional(
      Type.Object(
        {
          documentType: Type.Optional(
            Type.Enum([...DOCUMENT_TYPES], { description: 'Where the session asked for an identity document' }),
          ),
          verificationDate: Type.String({ pattern: '^\\d+$', description: 'Unix milliseconds' }),
        },
        { description: 'Of a success: what was verified, and when' },
      ),
    ),
    contactInformation: Type.Optional(ContactInformation),
    errors: Type.Array(VerificationFault, { description: 'Why it failed; empty, or -37, of a success' }),
    errorCodes: Type.Optional(Type.Array(Type.Integer(), { description: 'A failed SIGN-IN: the codes alone' })),
    errorDetails: Type.Optional(
      Type.Array(NamedFault, {
        description:
          'Extension, tenants that store tokens: `no_hint`, the device holds no key of a token; `key_holder`, the key holder was away; `key_holder_pin`, the page does not know its key; `token_key`, the service sent another public key than the token’s; `token_storage`, the browser keeps nothing',
      }),
    ),
    retryAfter: Type.Optional(Type.Integer({ description: 'Seconds to wait before the next try' })),
    images: Type.Optional(
      Type.Array(
        Type.Object({
          type: Type.Literal('portrait', { description: 'The selfie' }),
          data: Type.String({ description: 'JPEG in base64' }),
        }),
        {
          description:
            'With `sendImages`, always: of a success the selfie, in the webhook and once; empty of a failure, and wherever the body is read again',
        },
      ),
    ),
    indicators: Type.Optional(Indicators),
    riskEvaluation: RiskEvaluation,
    type: Type.Enum([...VERIFICATION_TYPES], { description: 'Extension' }),
    outcome: Type.Enum([...SESSION_OUTCOMES], { description: 'Extension: one vocabulary for areas C and D' }),
    document: Type.Optional(DocumentRecord),
    estimatedAge: Type.Optional(Type.Integer({ description: 'Extension: whole years, with `estimateAge`' })),
    matchedBy: Type.Optional(Type.Enum([...MATCH_METHODS], { description: 'Extension: SIGN-IN and VERIFY' })),
    nonce: Type.Optional(Type.String({ description: 'Extension: as given at creation' })),
    codeHash: Type.Optional(codeHash('null where no browser has ended the session')),
    captureConditions: Type.Optional(CaptureConditions),
    assurance: Type.Optional(
      Type.Object(
        { ...CAPTURE_ASSURANCE },
        { description: 'Extension: with SUCCESS, how the movements differed from the usual ones, if they did' },
      ),
    ),
    consent,
    livemode: Type.Boolean({ description: 'Extension: false for sessions of test keys' }),
  },
  { title: 'VerificationWebhook' },
)
export type VerificationWebhook = Type.Static<typeof VerificationWebhook>

export const DebugEntry = Type.Object({
  at: Type.String({ format: 'date-time', description: 'When it happened' }),
  level: Type.Integer({ minimum: 1, maximum: 3, description: 'From 1, the roughest, to 3' }),
  event: Type.String({ description: 'What happened' }),
  facts: Type.Optional(
    Type.Unsafe<Record<string, unknown>>(
      Type.Object({}, { additionalProperties: true, description: 'Numbers and names that explain it' }),
    ),
  ),
})
export type DebugEntry = Type.Static<typeof DebugEntry>

export const VerificationSummary = Type.Object(
  {
    sessionId: Type.String({ format: 'uuid', description: 'The session' }),
    type: Type.Union([Type.Enum([...VERIFICATION_TYPES]), Type.Null()], { description: 'null once it is purged' }),
    state: Type.String({
      description: 'The step, as docs/api/verification.md names them; `PURGED` when it is deleted',
    }),
    outcome: Type.Union([Type.Enum([...SESSION_OUTCOMES]), Type.Null()], {
      description: 'null while it is open, and once it is purged',
    }),
    transactionId: Type.Optional(Type.String({ description: 'The `transactionID` of the creation' })),
    requirements: Type.Array(Type.String(), { description: 'The steps that were asked for, in their order' }),
    createdAt: Type.String({ format: 'date-time', description: 'When it was created' }),
    expiresAt: Type.String({ format: 'date-time', description: OF_PURGED }),
    endedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description: OF_PURGED }),
    livemode: Type.Boolean({ description: 'false for sessions of test keys' }),
    debugLog: Type.Optional(Type.Array(DebugEntry, { description: 'With `debugMode`, for 24 hours' })),
  },
  { title: 'VerificationSummary' },
)
export type VerificationSummary = Type.Static<typeof VerificationSummary>

const SessionParams = Type.Object({ sessionId: Type.String() })

/** Beside the API key, which names the account, client credentials say who is calling. */
const shared = { area: 'D', auth: 'required', takesClientCredentials: true } as const
const CREDENTIAL_ERRORS = ['INVALID_CLIENT_CREDENTIALS'] as const

export const createVerification = operation({
  ...shared,
  operationId: 'createVerification',
  method: 'POST',
  path: '/v2/verification-session',
  summary: 'Create a verification session',
  description:
    'Creates an ENROLL, SIGN-IN or VERIFY session and returns where to send the user. The outcome arrives by webhook. The API ' +
    'key names the account; client credentials say who calls (docs/api/verification.md).',
  scope: 'verify:write',
  body: CreateVerificationBody,
  idempotent: true,
  success: {
    201: {
      description: 'Created',
      schema: CreatedVerification,
      headers: {
        Location: 'Path of the session',
        'Content-Language': 'The session’s language, when `locale` names one that the page has (`GET /v2/locales`)',
        'X-Config-Warning':
          'Comma-separated warnings. ' +
          '`redirect-list-missing`: the tenant has no `redirectUrls`, so a live session may send its user to any https URL. ' +
          '`sign-in-needs-hint`: the tenant stores tokens, and only a browser that keeps the key of its enrolment can sign in without `puid` or `customerId`. ' +
          '`ignored-field: NAME`: the field is one of other systems and has no effect here',
        'Idempotency-Replayed': '`true` when an earlier call made the session',
      },
    },
  },
  errors: [
    'INVALID_JSON',
    'VALIDATION_FAILED',
    'INVALID_LOCALE',
    'INVALID_URL',
    ...CREDENTIAL_ERRORS,
    'IDEMPOTENCY_MISMATCH',
    'GONE',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
  ],
})

export const getVerification = operation({
  ...shared,
  operationId: 'getVerification',
  method: 'GET',
  path: '/v2/verification-session/:sessionId',
  summary: 'Read the state of a verification session',
  description: 'Extension: where the flow is, without its result.',
  scope: 'verify:read',
  params: SessionParams,
  success: { 200: { description: 'The session', schema: VerificationSummary } },
  errors: [...CREDENTIAL_ERRORS, 'NOT_FOUND'],
})

export const VerificationPage = Type.Object(
  {
    items: Type.Array(VerificationSummary, { description: 'The sessions, newest first' }),
    count: Type.Integer({ description: 'Number of `items` on this page' }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: '`cursor` of the next page; null on the last one',
    }),
  },
  { title: 'VerificationPage' },
)
export type VerificationPage = Type.Static<typeof VerificationPage>

export const listVerifications = operation({
  ...shared,
  operationId: 'listVerifications',
  method: 'GET',
  path: '/v2/verification-sessions',
  summary: 'List verification sessions',
  description:
    'Extension: newest first, without debug logs. A page also ends where the requests of its sessions have 1 MB: go on while `nextCursor` is not null. All filters apply together.',
  scope: 'verify:read',
  query: Type.Object(
    {
      ...sessionListQuery([...VERIFICATION_STATES]),
      transactionID: Type.Optional(
        shortText(VERIFICATION_LIMITS.transactionChars, 'Keeps the sessions that were created with it'),
      ),
    },
    { additionalProperties: false },
  ),
  success: { 200: { description: 'One page', schema: VerificationPage } },
  errors: ['VALIDATION_FAILED', ...CREDENTIAL_ERRORS],
})

export const getVerificationWebhook = operation({
  ...shared,
  operationId: 'getVerificationWebhook',
  method: 'GET',
  path: '/v2/verification-session/:sessionId/webhook',
  summary: 'Read the webhook of a verification session again',
  description: 'Extension: the body as it was sent, with `images` empty.',
  scope: 'verify:read',
  params: SessionParams,
  success: { 200: { description: 'The body', schema: VerificationWebhook } },
  errors: [...CREDENTIAL_ERRORS, 'NOT_FOUND', 'SESSION_OPEN', 'GONE'],
})

export const cancelVerification = operation({
  ...shared,
  operationId: 'cancelVerification',
  method: 'POST',
  path: '/v2/verification-session/:sessionId/cancel',
  summary: 'Cancel a verification session',
  description: 'Extension: ends the flow with code -38. The webhook is sent.',
  scope: 'verify:write',
  params: SessionParams,
  success: { 200: { description: 'The body of the webhook', schema: VerificationWebhook } },
  errors: [...CREDENTIAL_ERRORS, 'NOT_FOUND', 'SESSION_NOT_OPEN', 'GONE'],
})

export const confirmVerification = operation({
  ...shared,
  operationId: 'confirmVerification',
  method: 'POST',
  path: '/v2/verification-session/:sessionId/confirm',
  summary: 'Confirm that a browser has finished a verification session',
  description:
    'Extension: takes the `code` that came with the redirect. It is good once; the same `Idempotency-Key` gets the same answer ' +
    'for 24 hours. Five wrong codes void it.',
  scope: 'verify:write',
  params: SessionParams,
  body: ConfirmReturnBody,
  idempotent: true,
  success: { 200: { description: 'This browser has finished the session', schema: ConfirmedReturn } },
  errors: [...CREDENTIAL_ERRORS, ...CONFIRM_ERRORS],
})

export const deleteVerification = operation({
  ...shared,
  operationId: 'deleteVerification',
  method: 'DELETE',
  path: '/v2/verification-session/:sessionId',
  summary: 'Erase a verification session',
  description:
    'Extension: erases what the session holds, and webhooks that are not delivered yet. The person stays enrolled; to delete ' +
    'them is area E’s `deleteUser`. A flow that is still open must be cancelled first.',
  scope: 'verify:write',
  params: SessionParams,
  success: { 204: { description: 'Erased', schema: null } },
  errors: [...CREDENTIAL_ERRORS, 'NOT_FOUND', 'SESSION_OPEN', 'GONE'],
})

export const LockedPerson = Type.Object(
  {
    puid: Type.Optional(Type.String({ format: 'uuid', description: 'Our id of the person, from a result' })),
    customerId: Type.Optional(shortText(VERIFICATION_LIMITS.personChars, 'Your own name for the person')),
  },
  {
    title: 'LockedPerson',
    additionalProperties: false,
    minProperties: 1,
    description: 'By either: failures of sessions that named the other count too',
    examples: [{ customerId: 'c-1' }],
  },
)
export type LockedPerson = Type.Static<typeof LockedPerson>

export const PersonLockout = Type.Object(
  {
    locked: Type.Boolean({ description: 'Whether sessions of this person end with -35 now' }),
    retryAfter: Type.Integer({ minimum: 0, description: 'Seconds until they are compared again; 0 when not locked' }),
    failures: Type.Integer({ minimum: 0, description: 'Counted against the person at present' }),
    livemode: Type.Boolean({ description: 'Whether a live key asked' }),
  },
  {
    title: 'PersonLockout',
    additionalProperties: false,
    examples: [{ locked: true, retryAfter: 30, failures: 5, livemode: false }],
  },
)
export type PersonLockout = Type.Static<typeof PersonLockout>

const lockout = { ...shared, scope: 'verify:lockouts', method: 'POST', body: LockedPerson } as const

export const findLockout = operation({
  ...lockout,
  operationId: 'findLockout',
  path: '/v2/verification-lockout/find',
  summary: 'Look up the lockout of a person',
  description:
    'Extension: what counts against a person whose comparisons failed. The person is named in the body, because addresses are logged on the way.',
  success: { 200: { description: 'As it is', schema: PersonLockout } },
  errors: ['VALIDATION_FAILED', ...CREDENTIAL_ERRORS],
})

export const clearLockout = operation({
  ...lockout,
  operationId: 'clearLockout',
  path: '/v2/verification-lockout/clear',
  summary: 'Free a person who is locked out',
  description:
    'Extension: forgets the failures that count against the person. Those of a device or a network stay. Check who asks for it first: the lockout is what stops somebody who tries faces.',
  success: { 200: { description: 'As it was before', schema: PersonLockout } },
  errors: ['VALIDATION_FAILED', ...CREDENTIAL_ERRORS],
})

export const VERIFICATION_OPERATIONS: readonly Operation[] = [
  createVerification,
  getVerification,
  getVerificationWebhook,
  cancelVerification,
  confirmVerification,
  deleteVerification,
  listVerifications,
  findLockout,
  clearLockout,
]
