import Type from 'typebox'
import { Callback } from './age.ts'
import { CaptureConditions } from './capture-conditions.ts'
import { consent } from './consent.ts'
import { DocumentRecord } from './document-record.ts'
import { DOCUMENT_TYPES } from './documents.ts'
import { ignoredFields } from './ignored-fields.ts'
import { Indicators } from './indicators.ts'
import { CAPTURE_ASSURANCE } from './launch-steps.ts'
import { SESSION_LIMITS, VERIFICATION_LIMITS } from './limits.ts'
import { type Operation, operation } from './operation.ts'
import { CONFIRM_ERRORS, ConfirmedReturn, ConfirmReturnBody, codeHash } from './returns.ts'
import { RiskEvaluation } from './risk.ts'
import { OF_PURGED, sessionListQuery } from './session-list.ts'
import { SESSION_OUTCOMES, VERIFICATION_STATES } from './states.ts'

export const VERIFICATION_TYPES = ['ENROLL', 'SIGN-IN', 'VERIFY'] as const
export type VerificationType = (typeof VERIFICATION_TYPES)[number]

export const VERIFICATION_REQUIREMENTS = ['face', 'identity_document', 'passkey'] as const
export type VerificationRequirement = (typeof VERIFICATION_REQUIREMENTS)[number]

export const DEBUG_LEVELS = ['1', '2', '3'] as const

const { urlChars, localeChars, lifetimeSecondsMin, lifetimeSecondsMax, lifetimeSecondsDefault } = SESSION_LIMITS
const redirect = (description: string) => Type.String({ minLength: 1, maxLength: urlChars, description })
const shortText = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, ...(description !== undefined && { description }) })

export const ContactInformation = Type.Object(
  {
    email: Type.Optional(shortText(VERIFICATION_LIMITS.contactChars)),
    phone: Type.Optional(shortText(VERIFICATION_LIMITS.contactChars)),
  },
  { title: 'ContactInformation', additionalProperties: false },
)
export type ContactInformation = Type.Static<typeof ContactInformation>

export const CreateVerificationBody = Type.Object(
  {
    type: Type.Enum([...VERIFICATION_TYPES], {
      description: '`ENROLL` registers a face, `SIGN-IN` finds its person again, `VERIFY` compares with one person',
    }),
    redirectURL: redirect('Where the browser is sent at the end, with `sessionId`, `status` and `code` in its query'),
    redirectUrl: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: urlChars,
        deprecated: true,
        description: 'An older spelling of `redirectURL`, still taken instead of it',
      }),
    ),
    callback: Callback,
    locale: Type.Optional(Type.String({ minLength: 1, maxLength: localeChars, description: 'Language of the page' })),
    enableDesktop: Type.Optional(
      Type.Boolean({ default: false, description: 'Lets the flow run on a desktop computer, which is less secure' }),
    ),
    sendImages: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'The page says that the selfie is shared, and the webhook carries it, once',
      }),
    ),
    estimateAge: Type.Optional(
      Type.Boolean({ default: false, description: 'ENROLL: the age is estimated on the device' }),
    ),
    transactionID: Type.Optional(
      shortText(VERIFICATION_LIMITS.transactionChars, 'Comes back in the webhook as `transactionId`'),
    ),
    deviceInfo: Type.Optional(
      Type.Object(
        {
          os: Type.Optional(shortText(VERIFICATION_LIMITS.deviceInfoChars)),
          model: Type.Optional(shortText(VERIFICATION_LIMITS.deviceInfoChars)),
          resolution: Type.Optional(shortText(VERIFICATION_LIMITS.deviceInfoChars)),
        },
        { additionalProperties: false },
      ),
    ),
    debugMode: Type.Optional(
      Type.Union([Type.Boolean(), Type.Array(Type.Enum([...DEBUG_LEVELS]), { maxItems: 3, uniqueItems: true })], {
        default: false,
        description: '`true` is level 2; of several levels the highest counts',
      }),
    ),
    requirements: Type.Optional(
      Type.Array(Type.Enum([...VERIFICATION_REQUIREMENTS]), {
        minItems: 1,
        maxItems: 3,
        uniqueItems: true,
        default: ['face'],
        description:
          'ENROLL: `face`, or it with `identity_document`, `passkey` or both; the steps come in this order. SIGN-IN and VERIFY: `face`, or it with `passkey`',
      }),
    ),
    sessionExpiry: Type.Optional(
      Type.Union(
        [
          Type.Integer({ minimum: lifetimeSecondsMin, maximum: lifetimeSecondsMax }),
          Type.String({ minLength: 2, maxLength: 40 }),
        ],
        {
          default: lifetimeSecondsDefault,
          description: 'Seconds, an ISO 8601 duration (`PT15M`) or a moment in UTC (`2026-01-31T12:00:00Z`)',
        },
      ),
    ),
    puid: Type.Optional(shortText(VERIFICATION_LIMITS.personChars, 'Extension. VERIFY: the person to compare with')),
    customerId: Type.Optional(
      shortText(
        VERIFICATION_LIMITS.personChars,
        'Extension: your own name for the person. ENROLL binds it, VERIFY finds the person by it',
      ),
    ),
    nonce: Type.Optional(
      shortText(VERIFICATION_LIMITS.nonceChars, 'Extension. VERIFY: comes back in the webhook unchanged'),
    ),
    contactInformation: Type.Optional(ContactInformation),
    ...ignoredFields,
  },
  {
    title: 'CreateVerification',
    additionalProperties: false,
    examples: [
      {
        type: 'ENROLL',
        redirectURL: 'https://shop.example/welcome',
        callback: { url: 'https://shop.example/hooks/ostiary' },
        transactionID: 'order-4711',
      },
    ],
  },
)
export type CreateVerificationBody = Type.Static<typeof CreateVerificationBody>

/** What the service takes: a body may have the older spelling alone. The server refuses one that has neither. */
export const AcceptedVerificationBody = Type.Object(
  { ...CreateVerificationBody.properties, redirectURL: Type.Optional(CreateVerificationBody.properties.redirectURL) },
  { additionalProperties: false },
)
export type AcceptedVerificationBody = Type.Static<typeof AcceptedVerificationBody>

export const CreatedVerification = Type.Object(
  {
    launchUrl: Type.String({ description: 'Send the user here' }),
    sessionId: Type.String({ format: 'uuid' }),
    expiresAt: Type.String({ format: 'date-time', description: 'Extension' }),
    livemode: Type.Boolean({ description: 'Extension: false for sessions of test keys' }),
  },
  { title: 'CreatedVerification' },
)
export type CreatedVerification = Type.Static<typeof CreatedVerification>

export const VerificationFault = Type.Object({ code: Type.Integer(), message: Type.String() })
export type VerificationFault = Type.Static<typeof VerificationFault>

/** How a person was recognised. `local` alone needs the tenant's permission. */
export const MATCH_METHODS = ['server', 'local', 'local+passkey', 'server+passkey', 'sandbox'] as const
export type MatchMethod = (typeof MATCH_METHODS)[number]

/**
 * The webhook of an ENROLL, SIGN-IN or VERIFY session. Of a success all of `puid`, `guid` and `identityInformation` are there;
 * of a failure none. A failed SIGN-IN has `status` `error` and `errorCodes`.
 */
export const VerificationWebhook = Type.Object(
  {
    sessionId: Type.String({ format: 'uuid' }),
    status: Type.Enum(['SUCCESS', 'FAILED', 'error'], { description: '`error`: a SIGN-IN that failed' }),
    transactionId: Type.Optional(
      Type.String({ description: 'The `transactionID` of the creation; absent without one' }),
    ),
    message: Type.String(),
    puid: Type.Optional(Type.String({ description: 'The person' })),
    guid: Type.Optional(Type.String({ description: 'The group: all persons of this tenant and mode' })),
    identityInformation: Type.Optional(
      Type.Object({
        documentType: Type.Optional(
          Type.Enum([...DOCUMENT_TYPES], { description: 'Where the session asked for an identity document' }),
        ),
        verificationDate: Type.String({ pattern: '^\\d+$', description: 'Unix milliseconds' }),
      }),
    ),
    contactInformation: Type.Optional(ContactInformation),
    errors: Type.Array(VerificationFault),
    errorCodes: Type.Optional(Type.Array(Type.Integer(), { description: 'A failed SIGN-IN: the codes alone' })),
    errorDetails: Type.Optional(
      Type.Array(Type.Object({ code: Type.Integer(), name: Type.String(), reason: Type.String() }), {
        description:
          'Extension, tenants that store tokens: `no_hint`, the device holds no key of a token; `key_holder`, the key holder was away; `key_holder_pin`, the page does not know its key; `token_key`, the service sent another public key than the token’s; `token_storage`, the browser keeps nothing',
      }),
    ),
    retryAfter: Type.Optional(Type.Integer({ description: 'Seconds to wait before the next try' })),
    images: Type.Optional(
      Type.Array(Type.Object({ type: Type.Literal('portrait'), data: Type.String({ description: 'JPEG in base64' }) })),
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
    livemode: Type.Boolean({ description: 'Extension' }),
  },
  { title: 'VerificationWebhook' },
)
export type VerificationWebhook = Type.Static<typeof VerificationWebhook>

export const DebugEntry = Type.Object({
  at: Type.String({ format: 'date-time' }),
  level: Type.Integer({ minimum: 1, maximum: 3 }),
  event: Type.String(),
  facts: Type.Optional(Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true }))),
})
export type DebugEntry = Type.Static<typeof DebugEntry>

export const VerificationSummary = Type.Object(
  {
    sessionId: Type.String({ format: 'uuid' }),
    type: Type.Union([Type.Enum([...VERIFICATION_TYPES]), Type.Null()], { description: 'null once it is purged' }),
    state: Type.String({
      description: 'The step, as docs/api/verification.md names them; `PURGED` when it is deleted',
    }),
    outcome: Type.Union([Type.Enum([...SESSION_OUTCOMES]), Type.Null()], {
      description: 'null while it is open, and once it is purged',
    }),
    transactionId: Type.Optional(Type.String()),
    requirements: Type.Array(Type.String()),
    createdAt: Type.String({ format: 'date-time' }),
    expiresAt: Type.String({ format: 'date-time', description: OF_PURGED }),
    endedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description: OF_PURGED }),
    livemode: Type.Boolean(),
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
    items: Type.Array(VerificationSummary),
    count: Type.Integer(),
    nextCursor: Type.Union([Type.String(), Type.Null()]),
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
  description: 'Extension: newest first, without debug logs. All filters apply together.',
  scope: 'verify:read',
  query: Type.Object(sessionListQuery([...VERIFICATION_STATES]), { additionalProperties: false }),
  success: { 200: { description: 'One page', schema: VerificationPage } },
  errors: ['VALIDATION_FAILED', ...CREDENTIAL_ERRORS],
})

export const getVerificationWebhook = operation({
  ...shared,
  operationId: 'getVerificationWebhook',
  method: 'GET',
  path: '/v2/verification-session/:sessionId/webhook',
  summary: 'Read the webhook of a verification session again',
  description: 'Extension: the body as it was sent, without images.',
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

export const VERIFICATION_OPERATIONS: readonly Operation[] = [
  createVerification,
  getVerification,
  getVerificationWebhook,
  cancelVerification,
  confirmVerification,
  deleteVerification,
  listVerifications,
]
