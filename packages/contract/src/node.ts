import Type, { type TSchema } from 'typebox'
import { NODE_LIMITS } from './limits.ts'
import type { NodeErrorCode } from './node-errors.ts'
import {
  BUILT_IN_VERSIONS,
  type BuiltInVersion,
  DEFAULT_PATH_VERSION,
  DEFAULT_PLAIN_VERSION,
  FACE_MODELS,
  MODEL_VERSION_PATTERN,
} from './node-versions.ts'
import { type Operation, operation } from './operation.ts'

export * from './node-versions.ts'

const MODEL_LIST = BUILT_IN_VERSIONS.map((name) => `\`${name}\` (${FACE_MODELS[name].dimension})`).join(', ')
const version = (fallback: BuiltInVersion) =>
  Type.String({
    pattern: MODEL_VERSION_PATTERN,
    default: fallback,
    examples: [fallback],
    description: `Face model version: ${BUILT_IN_VERSIONS.map((name) => `\`${name}\``).join(', ')}, or the name of a model that your tenant has declared`,
  })

export const Feature = Type.Object(
  {
    type: Type.String({ description: 'What the vector describes, for example `face`; at most 64 characters' }),
    embedding_vector: Type.Array(Type.Number(), {
      minItems: NODE_LIMITS.vectorMin,
      maxItems: NODE_LIMITS.vectorMax,
      description:
        `Finite numbers, exactly as many as the model version has: ${MODEL_LIST}, declared models ${NODE_LIMITS.vectorMin} to ` +
        `${NODE_LIMITS.vectorMax}. The vector is normalised`,
    }),
  },
  { title: 'Feature' },
)
export type Feature = Type.Static<typeof Feature>

const apiKey = Type.Optional(Type.String({ description: 'The API key, unless it is in the header `x-api-key`' }))
const sealedFeatures = Type.String({
  description:
    'Encrypted with the API key (docs/api/biometrics.md): a compact JWE that holds a JSON array of 1 to 10 Feature objects',
})
const metadata = Type.Optional(
  Type.Object(
    {
      id: Type.Optional(Type.String({ maxLength: NODE_LIMITS.metadataIdChars, description: 'Your name for the user' })),
    },
    { additionalProperties: false, description: '`id` is bound to the person and kept as a keyed hash only' },
  ),
)
const candidates = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: NODE_LIMITS.candidatesMax,
    default: 1,
    description: 'How many candidates to return at most; above 1 the reply has `PI_list`',
  }),
)
const userIdentifier = Type.Optional(
  Type.String({
    maxLength: NODE_LIMITS.userIdentifierChars,
    description: 'Compares with this one person only (1:1): a `puid` or the `metadata.id` given at enrolment',
  }),
)
const plainVersion = Type.Optional(version(DEFAULT_PLAIN_VERSION))

const VersionParams = Type.Object({ version: version(DEFAULT_PATH_VERSION) })

const body = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object({ api_key: apiKey, ...properties }, { additionalProperties: false })

const statusField = (description: string) => Type.Integer({ description })
const message = Type.String()
const statusCode = Type.Integer({ description: 'The HTTP status again' })
const puid = Type.String({ description: 'The person' })
const guid = Type.String({ description: 'The group in which the person is searched: one per tenant and mode' })
const sealedPuid = Type.String({ description: 'The person, encrypted with the API key' })
const sealedGuid = Type.String({ description: 'The group, encrypted with the API key' })
const enrollLevel = Type.Integer({ description: '1: one or two good vectors, 2: three or four, 3: five or more' })
/** The lower edges of the bands of a hit's score. The first is the threshold itself. */
export const SCORE_BANDS = [0.5, 0.9, 0.99] as const
const score = Type.Number({
  description:
    `Calibrated, 0 to 1; 0.5 is the decision threshold. Unless the tenant set \`nodeScores\` to \`exact\`, the lower edge of its band: ` +
    SCORE_BANDS.join(', '),
})
const replay = Type.Optional(
  Type.Literal(true, {
    description: 'The features are those of the enrolment itself, sent again, not a new picture; absent otherwise',
  }),
)
/** The specification writes the score of an unrecognised user as text on the encrypted endpoints. */
const scoreOrText = Type.Unsafe<number | string>({
  type: ['number', 'string'],
  description: 'A number for a recognised user; the text `-1` when there is none',
})

export const KeyValid = Type.Object(
  { status: statusField('0'), message },
  { title: 'NodeKeyValid', examples: [{ status: 0, message: 'API Key is valid' }] },
)
export const EnrollReply = Type.Object(
  { status: statusField('0'), message, enroll_level: enrollLevel, puid: sealedPuid, guid: sealedGuid, score },
  { title: 'NodeEnrollReply' },
)
export const PlainEnrollReply = Type.Object(
  { status: statusField('0'), statusCode, message, puid, guid, enroll_level: enrollLevel },
  { title: 'NodePlainEnrollReply' },
)
const candidateList = (fields: { puid: TSchema; guid: TSchema }) =>
  Type.Optional(
    Type.Array(Type.Object({ ...fields, score }), {
      description: 'With `K` above 1: best first; people of equal score are ordered by `puid`',
    }),
  )

export const PredictReply = Type.Object(
  {
    status: statusField('0, or -1 when the user is not enrolled'),
    message,
    puid: Type.Optional(sealedPuid),
    guid: Type.Optional(sealedGuid),
    enroll_level: Type.Optional(enrollLevel),
    score: Type.Optional(scoreOrText),
    PI_list: candidateList({ puid: sealedPuid, guid: sealedGuid }),
    replay,
  },
  { title: 'NodePredictReply' },
)
export const PlainPredictReply = Type.Object(
  {
    status: statusField('0, or -1 when the user is not enrolled'),
    statusCode,
    message,
    puid: Type.Optional(puid),
    guid: Type.Optional(guid),
    score: Type.Optional(score),
    enroll_level: Type.Optional(enrollLevel),
    PI_list: candidateList({ puid, guid }),
    replay,
  },
  { title: 'NodePlainPredictReply' },
)
export const DeleteReply = Type.Object(
  { status: statusField('200'), message },
  { title: 'NodeDeleteReply', examples: [{ status: 200, message: 'delete successful' }] },
)

const CORRELATION = {
  'x-correlation-id': {
    description: 'For tracking: echoed and logged. Letters, digits and `._:-`; anything else is ignored',
    schema: { type: 'string', maxLength: NODE_LIMITS.correlationIdChars },
  },
}
const ENCRYPTION = {
  'x-encryption-version': { description: 'Version of the encryption', schema: { type: 'string', default: '1' } },
  ...CORRELATION,
}
const ENCODING = {
  'x-encoding': {
    description: '`rot13` writes `puid` and `guid` in ROT13, both ways. It protects nothing',
    schema: { type: 'string', enum: ['rot13'] },
  },
  ...CORRELATION,
}

const common = { area: 'E', method: 'POST', auth: 'required', scope: 'node:*', errors: [] } as const
const SEALED_ERRORS = [
  'NODE_FEATURES_INVALID',
  'NODE_FEATURES_UNREADABLE',
  'NODE_ENCRYPTION_VERSION',
  'NODE_VERSION_UNKNOWN',
] as const satisfies readonly NodeErrorCode[]

export const checkNodeKey = operation({
  ...common,
  operationId: 'checkNodeKey',
  path: '/node/api-key/checkApiKeyValid',
  summary: 'Check an API key',
  description: 'Says whether the key may be used on this area now.',
  body: body({}),
  headers: CORRELATION,
  success: { 200: { description: 'The key is valid', schema: KeyValid } },
  nodeErrors: [],
})

export const nodeEnroll = operation({
  ...common,
  operationId: 'nodeEnroll',
  path: '/node/:version/enroll',
  summary: 'Enrol a user, encrypted',
  description:
    'Enrols the face described by the features, or returns the existing user when it is enrolled already. ' +
    'Calls may be repeated: one face is one user. Encrypt again for each call.',
  params: VersionParams,
  body: body({ features: Type.Optional(sealedFeatures), metadata }),
  headers: ENCRYPTION,
  success: { 200: { description: 'Enrolled now or before', schema: EnrollReply } },
  nodeErrors: ['NODE_ENROLL_FEATURES_MISSING', ...SEALED_ERRORS, 'NODE_ENROLL_REFUSED', 'NODE_ENROLL_FAILED'],
})

export const nodePlainEnroll = operation({
  ...common,
  operationId: 'nodePlainEnroll',
  path: '/node/plainEnroll',
  summary: 'Enrol a user',
  description: 'As the encrypted enrolment, with one Feature object in clear. A new user has message `Ok`.',
  body: body({ version: plainVersion, features: Type.Optional(Feature), metadata }),
  headers: ENCODING,
  success: {
    200: { description: 'Enrolled now (`Ok`) or before (`User Already Enrolled`)', schema: PlainEnrollReply },
  },
  nodeErrors: [
    'NODE_ENROLL_FEATURES_MISSING',
    'NODE_FEATURES_INVALID',
    'NODE_VERSION_UNKNOWN',
    'NODE_ENROLL_REFUSED',
    'NODE_ENROLL_FAILED',
  ],
})

export const nodePredict = operation({
  ...common,
  operationId: 'nodePredict',
  path: '/node/:version/predict',
  summary: 'Recognise a user, encrypted',
  description: 'Finds who has this face among the users of your tenant, or compares with one of them.',
  params: VersionParams,
  body: body({ features: Type.Optional(sealedFeatures), K: candidates, user_identifier: userIdentifier }),
  headers: ENCRYPTION,
  success: { 200: { description: 'Recognised (`status` 0) or not (`status` -1)', schema: PredictReply } },
  nodeErrors: ['NODE_PREDICT_FEATURES_MISSING', ...SEALED_ERRORS, 'NODE_PREDICT_FAILED'],
})

export const nodePlainPredict = operation({
  ...common,
  operationId: 'nodePlainPredict',
  path: '/node/plainPredict',
  summary: 'Recognise a user',
  description: 'As the encrypted prediction, with one Feature object in clear.',
  body: body({
    version: plainVersion,
    features: Type.Optional(Feature),
    K: candidates,
    user_identifier: userIdentifier,
  }),
  headers: ENCODING,
  success: { 200: { description: 'Recognised (`status` 0) or not (`status` -1)', schema: PlainPredictReply } },
  nodeErrors: ['NODE_PREDICT_FEATURES_MISSING', 'NODE_FEATURES_INVALID', 'NODE_VERSION_UNKNOWN', 'NODE_PREDICT_FAILED'],
})

export const nodeDeleteUser = operation({
  ...common,
  operationId: 'nodeDeleteUser',
  path: '/node/:version/deleteUser',
  summary: 'Delete a user',
  description:
    'Deletes the user and all biometric data of the user, of every model version: by `puid`, or without one by the `metadata.id` given at enrolment.',
  params: VersionParams,
  body: body({
    puid: Type.Optional(
      Type.String({
        description: 'Encrypted with the API key: as a reply gave it, or encrypted by you for `deleteUser`',
      }),
    ),
    metadata,
  }),
  headers: ENCRYPTION,
  success: { 200: { description: 'Deleted', schema: DeleteReply } },
  nodeErrors: [
    'NODE_PUID_MISSING',
    'NODE_DELETE_FAILED',
    'NODE_PUID_UNREADABLE',
    'NODE_ENCRYPTION_VERSION',
    'NODE_VERSION_UNKNOWN',
  ],
})

export const NODE_OPERATIONS: readonly Operation[] = [
  checkNodeKey,
  nodeEnroll,
  nodePlainEnroll,
  nodePredict,
  nodePlainPredict,
  nodeDeleteUser,
]
