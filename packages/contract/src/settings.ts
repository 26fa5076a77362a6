import Type from 'typebox'
import { DOCUMENT_TYPES } from './documents.ts'
import { SETTINGS_LIMITS } from './limits.ts'
import { RiskOverrides } from './risk.ts'
import { RUN_LIMITS } from './run-limits.ts'

/** Signatures with a public key only. A shared secret (HS256) or none at all is not on offer. */
export const TOKEN_ALGORITHMS = [
  'ES256',
  'ES384',
  'ES512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'EdDSA',
] as const
export type TokenAlgorithm = (typeof TOKEN_ALGORITHMS)[number]

export const DEFAULT_TOKEN_ALGORITHMS: readonly TokenAlgorithm[] = ['ES256', 'RS256', 'PS256', 'EdDSA']

/** What area D stores of an enrolled face. */
export const TEMPLATE_KINDS = ['vector', 'token', 'token_on_device'] as const
export type TemplateKind = (typeof TEMPLATE_KINDS)[number]

const { retentionSecondsMin, retentionSecondsMax, sessionSecondsMin, sessionSecondsMax } = SETTINGS_LIMITS
const { failedComparisonsMin, failedComparisonsMax } = SETTINGS_LIMITS

const issuerFields = {
  issuer: Type.String({
    // No spaces and no control characters, so that it can stand beside other text without being taken for it.
    pattern: '^[!-~]+$',
    minLength: 1,
    maxLength: SETTINGS_LIMITS.issuerChars,
    description: 'Must equal the claim `iss`, letter for letter',
  }),
  jwksUri: Type.String({
    pattern: '^https?://',
    maxLength: SETTINGS_LIMITS.urlChars,
    description: 'Where the issuer publishes its keys; https unless the installation allows otherwise',
  }),
  audience: Type.String({
    pattern: '^[!-~]+$',
    minLength: 1,
    maxLength: SETTINGS_LIMITS.audienceChars,
    description: 'Must be the claim `aud` or among its values',
  }),
}
const algorithms = Type.Array(Type.Enum([...TOKEN_ALGORITHMS]), {
  minItems: 1,
  uniqueItems: true,
  default: [...DEFAULT_TOKEN_ALGORITHMS],
  description: 'Signature algorithms that are taken',
})
const subjectToMetadata = Type.Boolean({
  default: false,
  description: 'Whether a hash of the claim `sub` is kept in the metadata of the session',
})

/** An identity provider whose tokens a tenant's users may bring, as it is entered. */
export const TenantIssuerInput = Type.Object(
  { ...issuerFields, algorithms: Type.Optional(algorithms), subjectToMetadata: Type.Optional(subjectToMetadata) },
  { title: 'TenantIssuerInput', additionalProperties: false },
)
export type TenantIssuerInput = Type.Static<typeof TenantIssuerInput>

export const TenantIssuer = Type.Object(
  { ...issuerFields, algorithms, subjectToMetadata },
  { title: 'TenantIssuer', additionalProperties: false },
)
export type TenantIssuer = Type.Static<typeof TenantIssuer>

const colour = (description: string) =>
  Type.Union([Type.String({ pattern: '^#[0-9a-f]{6}$' }), Type.Null()], { default: null, description })
const logo = Type.Union(
  [
    Type.String({
      pattern: '^data:image/(png|webp|svg\\+xml);base64,[A-Za-z0-9+/]+={0,2}$',
      maxLength: SETTINGS_LIMITS.logoChars,
    }),
    Type.Null(),
  ],
  { default: null, description: 'PNG, WebP or SVG as a data URL in base64, at most 24 KB with all its letters' },
)
const brandName = Type.String({
  minLength: 1,
  maxLength: SETTINGS_LIMITS.brandNameChars,
  description: 'Who asks, as users know it',
})
const primary = colour(
  'Ground of buttons, `#rrggbb` in lower case. Dark or white text on it must have a contrast of 4.5',
)
const background = colour(
  'Ground of the page, in the same form and with the same rule; `primary` must have a contrast of 3 to it',
)

/** How the launch page shows itself to a tenant's users. */
export const Brand = Type.Object(
  { name: brandName, logo, primary, background },
  { title: 'Brand', additionalProperties: false, description: 'Name, logo and colours of the host on the page' },
)
export type Brand = Type.Static<typeof Brand>

/** The same as it is entered: what is not named is the page's own. */
export const BrandInput = Type.Object(
  {
    name: brandName,
    logo: Type.Optional(logo),
    primary: Type.Optional(primary),
    background: Type.Optional(background),
  },
  { title: 'BrandInput', additionalProperties: false },
)
export type BrandInput = Type.Static<typeof BrandInput>

const httpsUrl = Type.String({ pattern: '^https://', minLength: 9, maxLength: SETTINGS_LIMITS.urlChars })

/** An address that the page links to, for all languages or for each. */
export const PageLink = Type.Union(
  [
    httpsUrl,
    Type.Record(Type.String({ pattern: '^(default|[a-z]{2,3}(-[A-Za-z]{2,4})?)$' }), httpsUrl, {
      minProperties: 1,
      maxProperties: SETTINGS_LIMITS.linkLanguages,
      additionalProperties: false,
    }),
    Type.Null(),
  ],
  { title: 'PageLink' },
)

const pageLink = (description: string) => ({
  ...PageLink,
  default: null,
  description: `${description}: an https URL, or one for each language (\`{"default": "https://…", "de": "https://…"}\`, tags of \`GET /v2/locales\`); null: none`,
})

/** Every setting but the issuers and the brand, which are entered with less than they are read with. */
const fields = {
  retentionSeconds: Type.Integer({
    minimum: retentionSecondsMin,
    maximum: retentionSecondsMax,
    default: 86_400,
    description: 'How long a session and its result are kept after its end',
  }),
  redirectUrls: Type.Array(Type.String({ minLength: 1, maxLength: SETTINGS_LIMITS.urlChars }), {
    maxItems: SETTINGS_LIMITS.redirectUrls,
    uniqueItems: true,
    default: [],
    description:
      'Where users may be sent back to: origins (`https://shop.example`) or URLs under which everything is allowed ' +
      '(`https://shop.example/age/`). Empty: any https URL, unless `redirectListRequired` is set',
  }),
  redirectListRequired: Type.Boolean({
    default: false,
    description: 'Whether sessions are refused while `redirectUrls` is empty',
  }),
  resultRequiresKey: Type.Boolean({
    default: false,
    description: 'Whether reading a result takes the API key as well as the token',
  }),
  alwaysReturnAge: Type.Boolean({
    default: false,
    description:
      'Whether `result.age` is given even where only thresholds were asked for. It is then the estimate of the face: the years of a document leave the device only with `exact` or `both`',
  }),
  faceAgeMarginYears: Type.Number({
    minimum: 0,
    maximum: SETTINGS_LIMITS.faceAgeMarginYearsMax,
    default: 0,
    description: 'A face estimate closer to the threshold than this decides nothing by itself: AGE_UNKNOWN',
  }),
  documentInDoubt: Type.Boolean({
    default: false,
    description:
      'Whether step-up asks for a document also when a face estimate is doubtful: frames that disagree, or strong behavioural flags; and whether a log with gaps ' +
      'leads to the document instead of another try. Otherwise a doubtful result has the risk flag `BH_AGE_IN_DOUBT`, which recommends REVIEW. A session may say otherwise',
  }),
  enforceBlock: Type.Boolean({
    default: false,
    description: 'Whether the risk recommendation BLOCK ends a session without a verdict (-34)',
  }),
  risk: RiskOverrides,
  defaultLocale: Type.String({
    pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$',
    maxLength: 35,
    default: 'en',
    description: 'Language of the page when neither the call nor the browser names one that exists',
  }),
  sessionSecondsMax: Type.Integer({
    minimum: sessionSecondsMin,
    maximum: sessionSecondsMax,
    default: 86_400,
    description: 'Longest lifetime that a call may ask for',
  }),
  clientCredentials: Type.Enum(['live', 'always', 'never'], {
    default: 'live',
    description: 'Which calls of area D need client credentials beside the API key: those of live keys, all, or none',
  }),
  signInMatching: Type.Enum(['server', 'local_with_passkey', 'local'], {
    default: 'local_with_passkey',
    description:
      'What a hit on the user’s own device counts for. `server`: nothing, the server compares every time. ' +
      '`local_with_passkey`: enough together with a passkey. `local`: enough by itself, which trusts the device',
  }),
  templates: Type.Enum([...TEMPLATE_KINDS], {
    default: 'vector',
    description:
      'What area D stores of an enrolled face. `vector`: a feature vector, which the server searches. Experimental: `token`, an encrypted token that two services ' +
      'compare without decrypting it, for one named person at a time; `token_on_device`: the same, and only the user’s browser keeps the token (docs/token.md)',
  }),
  migrateVectors: Type.Boolean({
    default: false,
    description:
      'With `templates` on tokens, for people who were enrolled by vector: whether their next SIGN-IN or VERIFY, with their consent, still sends a vector, ' +
      'stores a token instead, and deletes the stored vector (docs/token.md)',
  }),
  redirectCode: Type.Boolean({
    default: false,
    description:
      'Age sessions: whether the redirect carries a one-time `code`, and the result its hash. Sessions of area D always have it',
  }),
  signInHandoff: Type.Boolean({
    default: true,
    description: 'Whether a SIGN-IN may be handed over to another device by QR code',
  }),
  failedComparisonsPerHour: Type.Integer({
    minimum: failedComparisonsMin,
    maximum: failedComparisonsMax,
    default: 10_000,
    description:
      'Faces that area D may compare in vain in an hour, over all people and networks. Beyond it an alarm is raised and ' +
      'sessions that compare wait (-35)',
  }),
  nodeScores: Type.Enum(['bands', 'exact'], {
    default: 'bands',
    description:
      'What area E tells of how alike two faces are. `bands`: the lower edge of one of three bands (0.5, 0.9, 0.99). `exact`: four ' +
      'digits, from which a caller with some hundred answers can compute the enrolled vector',
  }),
  documentTypes: Type.Array(Type.Enum([...DOCUMENT_TYPES]), {
    minItems: 1,
    uniqueItems: true,
    default: [...DOCUMENT_TYPES],
    description: 'Documents that count in the document step; any other is refused (-28)',
  }),
  documentExpiryGraceDays: Type.Integer({
    minimum: 0,
    maximum: SETTINGS_LIMITS.expiryGraceDaysMax,
    default: 0,
    description: 'For how many days after its expiry a document still counts; later it is refused (-26)',
  }),
  documentReuseCheck: Type.Boolean({
    default: false,
    description:
      'Whether a document that was shown in another session on the same day (UTC) raises a flag. A mark of its number is kept for that: not anonymous, ' +
      'because the key can test numbers (docs/privacy.md). The page says so',
  }),
  alternativeUrl: pageLink(
    'Another way than this check, which the page offers to users who cannot or do not want to go on, and in the document step to those who have no document that is read',
  ),
  privacyUrl: pageLink('The host’s privacy notice, which the page links to'),
  supportUrl: pageLink('Where users get help, which the page links to'),
  userMayExtend: Type.Boolean({
    default: false,
    description:
      'Whether a user may extend a session once, by ten minutes and never beyond `sessionSecondsMax`. Off because the host knows an `expiresAt` from the create call; reads and the webhook then have a later one',
  }),
  screeningRunDays: Type.Integer({
    minimum: 0,
    maximum: RUN_LIMITS.daysMax,
    default: 0,
    description:
      'For how many days runs of area B are kept, so that a later one can be compared with them; 0: none are. Of a run the rows and entries that ' +
      'matched are kept, as keyed hashes. A change holds for runs that exist, too',
  }),
  debugInLive: Type.Boolean({
    default: false,
    description: 'Whether live sessions of area D may be created with `debugMode`',
  }),
  embedOrigins: Type.Array(Type.String({ minLength: 1, maxLength: SETTINGS_LIMITS.urlChars }), {
    maxItems: SETTINGS_LIMITS.embedOrigins,
    uniqueItems: true,
    default: [],
    description:
      'Origins (`https://shop.example`) whose pages may show the launch page in a frame or a popup, and get ' +
      'its progress. Empty: none',
  }),
}
const manyIssuers = { maxItems: SETTINGS_LIMITS.issuers, default: [] }

/** The settings of a tenant, complete: what was never set has its default. */
export const TenantSettings = Type.Object(
  {
    ...fields,
    issuers: Type.Array(TenantIssuer, {
      ...manyIssuers,
      description: 'Identity providers whose tokens are taken. Empty: every Bearer token is refused',
    }),
    brand: Type.Union([Brand, Type.Null()], { default: null, description: 'null: the page as it comes' }),
  },
  { title: 'TenantSettings', additionalProperties: false },
)
export type TenantSettings = Readonly<Type.Static<typeof TenantSettings>>

/** The settings of a tenant as they are entered and stored: what is not named has its default. */
export const TenantSettingsInput = Type.Object(
  {
    retentionSeconds: Type.Optional(fields.retentionSeconds),
    redirectUrls: Type.Optional(fields.redirectUrls),
    redirectListRequired: Type.Optional(fields.redirectListRequired),
    resultRequiresKey: Type.Optional(fields.resultRequiresKey),
    alwaysReturnAge: Type.Optional(fields.alwaysReturnAge),
    faceAgeMarginYears: Type.Optional(fields.faceAgeMarginYears),
    documentInDoubt: Type.Optional(fields.documentInDoubt),
    enforceBlock: Type.Optional(fields.enforceBlock),
    risk: Type.Optional(fields.risk),
    defaultLocale: Type.Optional(fields.defaultLocale),
    sessionSecondsMax: Type.Optional(fields.sessionSecondsMax),
    clientCredentials: Type.Optional(fields.clientCredentials),
    signInMatching: Type.Optional(fields.signInMatching),
    templates: Type.Optional(fields.templates),
    migrateVectors: Type.Optional(fields.migrateVectors),
    redirectCode: Type.Optional(fields.redirectCode),
    signInHandoff: Type.Optional(fields.signInHandoff),
    failedComparisonsPerHour: Type.Optional(fields.failedComparisonsPerHour),
    nodeScores: Type.Optional(fields.nodeScores),
    documentTypes: Type.Optional(fields.documentTypes),
    documentExpiryGraceDays: Type.Optional(fields.documentExpiryGraceDays),
    documentReuseCheck: Type.Optional(fields.documentReuseCheck),
    alternativeUrl: Type.Optional(fields.alternativeUrl),
    privacyUrl: Type.Optional(fields.privacyUrl),
    supportUrl: Type.Optional(fields.supportUrl),
    userMayExtend: Type.Optional(fields.userMayExtend),
    screeningRunDays: Type.Optional(fields.screeningRunDays),
    debugInLive: Type.Optional(fields.debugInLive),
    embedOrigins: Type.Optional(fields.embedOrigins),
    issuers: Type.Optional(Type.Array(TenantIssuerInput, manyIssuers)),
    brand: Type.Optional(BrandInput),
  },
  { title: 'TenantSettingsInput', additionalProperties: false },
)
export type TenantSettingsInput = Type.Static<typeof TenantSettingsInput>

/** A change: what is not named stays, null goes back to the default. A list or an object is replaced as a whole. */
export type TenantSettingsPatch = { [K in keyof TenantSettingsInput]: TenantSettingsInput[K] | null }

export const TENANT_SETTINGS_DEFAULTS: TenantSettings = {
  retentionSeconds: 86_400,
  redirectUrls: [],
  redirectListRequired: false,
  resultRequiresKey: false,
  alwaysReturnAge: false,
  faceAgeMarginYears: 0,
  documentInDoubt: false,
  enforceBlock: false,
  risk: {},
  defaultLocale: 'en',
  sessionSecondsMax: 86_400,
  clientCredentials: 'live',
  signInMatching: 'local_with_passkey',
  templates: 'vector',
  migrateVectors: false,
  redirectCode: false,
  signInHandoff: true,
  failedComparisonsPerHour: 10_000,
  nodeScores: 'bands',
  documentTypes: [...DOCUMENT_TYPES],
  documentExpiryGraceDays: 0,
  documentReuseCheck: false,
  alternativeUrl: null,
  privacyUrl: null,
  supportUrl: null,
  userMayExtend: false,
  screeningRunDays: 0,
  debugInLive: false,
  embedOrigins: [],
  issuers: [],
  brand: null,
}
