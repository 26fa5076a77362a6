import Type from 'typebox'
import { ignoredFields } from './ignored-fields.ts'
import { AGE_LIMITS, SESSION_LIMITS } from './limits.ts'

export const RETURN_FORMATS = ['threshold', 'exact', 'both'] as const
export type ReturnFormat = (typeof RETURN_FORMATS)[number]

export const AGE_REQUIREMENTS = ['face', 'identity_document'] as const
export type AgeRequirement = (typeof AGE_REQUIREMENTS)[number]

export const anyObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, description }))

const threshold = (description: string) =>
  Type.Number({ minimum: AGE_LIMITS.thresholdMin, maximum: AGE_LIMITS.thresholdMax, description })

const matchThreshold = (options: { default?: number; description: string }) =>
  Type.Number({ minimum: 0, maximum: 1, ...options })

export const Callback = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: SESSION_LIMITS.urlChars,
      description: 'Receives the webhook, as a POST',
    }),
    headers: Type.Optional(
      Type.Unsafe<Record<string, string>>(
        Type.Object(
          {},
          { additionalProperties: Type.String(), description: 'Sent with the webhook: at most 20, 4 KB together' },
        ),
      ),
    ),
  },
  { title: 'Callback', additionalProperties: false, description: 'Where the result goes as a webhook' },
)
export type Callback = Type.Static<typeof Callback>

export const CreateSessionBody = Type.Object(
  {
    redirectUrl: Type.String({
      minLength: 1,
      maxLength: SESSION_LIMITS.urlChars,
      description:
        'Where the user goes when the flow ends, with `sessionId` and `flowStatus` added to its query, which otherwise stays; never a result',
    }),
    ageThreshold: threshold('The age to compare with; decimals are allowed'),
    locale: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: SESSION_LIMITS.localeChars,
        description: 'Language of the page (BCP 47). Without one, the browser’s',
      }),
    ),
    enableDesktop: Type.Optional(
      Type.Boolean({ default: false, description: 'Lets the flow run on a desktop computer, which is less secure' }),
    ),
    requirements: Type.Optional(
      Type.Array(Type.Enum([...AGE_REQUIREMENTS]), {
        minItems: 1,
        maxItems: 2,
        uniqueItems: true,
        default: ['face'],
        description: 'Steps to run, in this order',
      }),
    ),
    documentAgeReturnFormat: Type.Optional(
      Type.Enum([...RETURN_FORMATS], {
        default: 'threshold',
        description:
          'What `result.documentAge` tells: the comparison, whole years, or both. Only then do the years leave the device',
      }),
    ),
    facialAgeEstimationReturnFormat: Type.Optional(
      Type.Enum([...RETURN_FORMATS], {
        default: 'threshold',
        description: 'What `result.facialAgeEstimation` tells: the comparison, the years, or both',
      }),
    ),
    faceMatchThreshold: Type.Optional(
      matchThreshold({
        default: AGE_LIMITS.faceMatchThresholdDefault,
        description: 'Least score for captured face and document face to match',
      }),
    ),
    compareThreshold: Type.Optional(
      matchThreshold({ description: 'Another name of `faceMatchThreshold`; both must be equal' }),
    ),
    documentAgeThreshold: Type.Optional(threshold('For the age in the document; `ageThreshold` when absent')),
    stepUpEnabled: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Asks for a document when the face estimate is below `ageThreshold`',
      }),
    ),
    documentInDoubt: Type.Optional(
      Type.Boolean({
        description:
          'Extension: whether step-up asks for a document also when the face estimate is doubtful. Without it the tenant’s setting ' +
          '`documentInDoubt`; where it is false such a result has the risk flag `BH_AGE_IN_DOUBT`, and never `ALLOW`',
      }),
    ),
    callback: Type.Optional(Callback),
    metadata: Type.Optional(anyObject('Any JSON object of at most 8 KB; comes back unchanged in the result')),
    sessionExpiry: Type.Optional(
      Type.Integer({
        minimum: SESSION_LIMITS.lifetimeSecondsMin,
        maximum: SESSION_LIMITS.lifetimeSecondsMax,
        default: SESSION_LIMITS.lifetimeSecondsDefault,
        description: 'Extension: seconds until the session expires. More than a day needs the tenant’s permission',
      }),
    ),
    ...ignoredFields,
  },
  {
    title: 'CreateSession',
    additionalProperties: false,
    examples: [
      {
        redirectUrl: 'https://shop.example/age-checked',
        ageThreshold: 30,
        stepUpEnabled: true,
        documentInDoubt: true,
        documentAgeThreshold: 18,
      },
    ],
  },
)
export type CreateSessionBody = Type.Static<typeof CreateSessionBody>
