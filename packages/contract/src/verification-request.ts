import Type from 'typebox'
import { Callback } from './age-request.ts'
import { ignoredFields } from './ignored-fields.ts'
import { SESSION_LIMITS, VERIFICATION_LIMITS } from './limits.ts'

export const VERIFICATION_TYPES = ['ENROLL', 'SIGN-IN', 'VERIFY'] as const
export type VerificationType = (typeof VERIFICATION_TYPES)[number]

export const VERIFICATION_REQUIREMENTS = ['face', 'identity_document', 'passkey'] as const
export type VerificationRequirement = (typeof VERIFICATION_REQUIREMENTS)[number]

export const DEBUG_LEVELS = ['1', '2', '3'] as const

const { urlChars, localeChars, lifetimeSecondsMin, lifetimeSecondsMax, lifetimeSecondsDefault } = SESSION_LIMITS
const redirect = (description: string) => Type.String({ minLength: 1, maxLength: urlChars, description })
export const shortText = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, ...(description !== undefined && { description }) })

export const ContactInformation = Type.Object(
  {
    email: Type.Optional(shortText(VERIFICATION_LIMITS.contactChars, 'Comes back in the webhook as it was given')),
    phone: Type.Optional(shortText(VERIFICATION_LIMITS.contactChars, 'Comes back in the webhook as it was given')),
  },
  {
    title: 'ContactInformation',
    additionalProperties: false,
    description: 'How you reach the person: for your own records, nothing is sent there',
  },
)
export type ContactInformation = Type.Static<typeof ContactInformation>

export const CreateVerificationBody = Type.Object(
  {
    type: Type.Enum([...VERIFICATION_TYPES], {
      description: '`ENROLL` registers a face, `SIGN-IN` finds its person again, `VERIFY` compares with one person',
    }),
    redirectURL: redirect('Where the browser is sent at the end, with `sessionId`, `status` and `code` in its query'),
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
          os: Type.Optional(shortText(VERIFICATION_LIMITS.deviceInfoChars, 'Operating system')),
          model: Type.Optional(shortText(VERIFICATION_LIMITS.deviceInfoChars, 'Model of the device')),
          resolution: Type.Optional(shortText(VERIFICATION_LIMITS.deviceInfoChars, 'Of its screen')),
        },
        { additionalProperties: false, description: 'What you know of the user’s device; nothing is decided by it' },
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
