export * from './consent-versions.ts'

/**
 * Every limit and every rate of the HTTP interface. The launch page imports this file by itself (`@ostiary/contract/limits`), so
 * it must not import the validator.
 */
export const LIMITS = {
  /** JSON request bodies, areas A to D. */
  jsonBodyBytes: 256 * 1024,
  /** Levels of arrays and objects inside a JSON body. */
  jsonDepth: 32,
  headerBytes: 16 * 1024,
  /** Longer paths are answered with 404. */
  pathSegmentChars: 256,
  requestTimeoutMs: 30_000,
  idempotencyKeyChars: 255,
  idempotencyHours: 24,
  apiKeyHeaderChars: 256,
} as const

export const STRING_LIMITS = {
  valueBytes: 64 * 1024,
  metadataBytes: 8 * 1024,
  ttlSecondsMax: 365 * 24 * 3600,
  pageDefault: 50,
  pageMax: 200,
  /** A page ends when it holds so much, even before `limit`. */
  pageBytes: 1024 * 1024,
} as const

export const NODE_LIMITS = {
  bodyBytes: 1024 * 1024,
  vectorMin: 128,
  vectorMax: 512,
  /** Models that one tenant may declare. */
  declaredModels: 8,
  /** Feature objects in one encrypted enrolment or prediction. */
  features: 10,
  featureTypeChars: 64,
  candidatesMax: 50,
  metadataIdChars: 256,
  userIdentifierChars: 2048,
  correlationIdChars: 128,
  /** An embedding whose badness reaches this is filtered out (specification, rule 2). */
  badEmbedding: 0.8,
  enrolAttempts: 3,
  /** How far the time in an envelope may be from ours. */
  envelopeWindowSeconds: 300,
} as const

/** Host names that belong to one tenant, at which area E serves this tenant only. */
export const HOST_LIMITS = { perTenant: 20, nameChars: 253 } as const

export const SANCTIONS_LIMITS = {
  /** The specification does not say which 2 MB it means. The larger reading refuses no file that the smaller accepts. */
  fileBytes: 2 * 1024 * 1024,
  /** The whole form: the file, its headers, and fields that are read past. */
  multipartBytes: 2.5 * 1024 * 1024,
  /** Characters in one of the four columns that are read. */
  fieldChars: 1000,
  /** A first line longer than this is no list of column names. */
  headerChars: 64 * 1024,
  scoreThresholdDefault: 0.95,
  /** Listed entries shown per row, best first; `moreMatches` counts the rest. */
  matchesPerRow: 10,
  /** People in one call of `match`. */
  peoplePerMatch: 100,
  /** Files of one key that are screened at once. */
  concurrentFiles: 2,
  reasonChars: 500,
  entityIdChars: 256,
  exceptionYearsMax: 5,
  pageDefault: 50,
  pageMax: 200,
} as const

/**
 * Limits that the launch page needs too. Each is a constant by itself, because a bundler cannot drop the other members of an
 * object.
 */
export const EVENTS_PER_CALL = 50
export const PASSKEY_ATTEMPTS = 3
/** No time zone is farther from UTC: +14:00 in the Pacific. */
export const UTC_OFFSET_MINUTES_MAX = 14 * 60

/** Sessions of both areas: age, and ENROLL, SIGN-IN or VERIFY. */
export const SESSION_LIMITS = {
  urlChars: 2048,
  localeChars: 64,
  /** Without a lifetime in the request. */
  lifetimeSecondsDefault: 900,
  lifetimeSecondsMin: 60,
  lifetimeSecondsMax: 7 * 24 * 3600,
  /** A step that is being submitted when the session ends may still arrive. */
  graceSeconds: 120,
  /** By how much a user may extend a session, once, where the tenant allows it. */
  extensionSeconds: 600,
  waitSecondsMax: 25,
  /** How long a purged session still answers 410 before it is unknown. */
  tombstoneDays: 30,
} as const

/** What a device may report about a capture, and in which steps. */
export const CONDITION_LIMITS = {
  brightness: { max: 255, step: 5 },
  lux: { max: 200_000, step: 50 },
  /** In m/s². */
  motion: { max: 100, step: 0.25 },
  pixelsMax: 8192,
  frameRate: { max: 240, step: 5 },
} as const

/** The lists of both kinds of session. */
export const SESSION_LIST_LIMITS = {
  pageDefault: 50,
  pageMax: 200,
  /** A page ends when what is stored of its requests holds so much, even before `limit`. */
  pageBytes: 1024 * 1024,
  cursorChars: 200,
  momentChars: 40,
} as const

/**
 * Scores of a live face against the portrait on a document (docs/accuracy/documents.md). Not the threshold of two live faces: print and size cost
 * likeness. Between the two the page asks for better light before it sends.
 */
export const DOCUMENT_FACE_MATCH = { threshold: 0.42, betterLightFrom: 0.35 } as const

/** The document step. */
export const DOCUMENT_LIMITS = {
  /** Tries of the document step: one that was sent and not accepted, or given up. */
  attempts: 3,
  /** How long the values of a begun step hold. The user may have to fetch the document. */
  stepSeconds: 900,
  /** Begun steps of one session: a page that was reloaded begins again. */
  begins: 30,
  /** Looks at the face for the comparison only. They are no tries of the face step. */
  looks: 6,
  submitsPerStep: 5,
  /** Equal pictures that a text must come from. */
  equalFramesMin: 2,
  framesMax: 99,
  /** In thousandths. */
  confidenceMin: 500,
  yearsMax: 130,
  expiryGraceDaysMax: 3650,
  /** How long the mark of a document number is kept, where the tenant looks for repeated use. */
  reuseHours: 24,
} as const

export const AGE_LIMITS = {
  thresholdMin: 1,
  thresholdMax: 120,
  metadataBytes: 8 * 1024,
  /** The score from which a face and a document's portrait count as one person, when the host names none (docs/accuracy/documents.md). */
  faceMatchThresholdDefault: DOCUMENT_FACE_MATCH.threshold,
  /** Below this an estimate without step-up or document is within the models' error: the create call warns. */
  challengeAgeMin: 28,
} as const

export const VERIFICATION_LIMITS = {
  transactionChars: 256,
  personChars: 256,
  nonceChars: 256,
  deviceInfoChars: 256,
  contactChars: 320,
  /** The selfie of `sendImages`, a JPEG. */
  selfieBytes: 200 * 1024,
  /** What debugging keeps of one session, and for how long. */
  debugEntries: 200,
  debugHours: 24,
  /** Tries of the passkey step. */
  passkeyAttempts: PASSKEY_ATTEMPTS,
} as const

/** Failed sign-ins of one person, device or network after which the next ones wait, and how long; the last holds for all after. */
export const LOCKOUT = {
  failures: 5,
  windowSeconds: 15 * 60,
  waitSeconds: [30, 60, 300, 900],
} as const

export const PASSKEY_LIMITS = {
  perPerson: 20,
  /** How long a person may take to answer. */
  answerMs: 300_000,
} as const

/** The device API: what the launch page calls. */
export const LAUNCH_LIMITS = {
  /** The sealed payload as it arrives; about 2 KB is what a good one has. */
  sealedBytes: 4096,
  inflatedBytes: 16 * 1024,
  bodyBytes: 32 * 1024,
  /** Of a submit: a selfie may come with it, sealed like the rest. */
  submitBytes: 400 * 1024,
  proofChars: 2048,
  challengeSeconds: 90,
  attempts: 3,
  /** Asked for in one challenge. */
  movements: 3,
  submitsPerAttempt: 5,
  /** Challenges of one session that may be replaced without a try: two kinds of movement left out one by one, and the slow pace. */
  replacements: 3,
  handoffSeconds: 300,
  handoffs: 2,
  /** Codes that one session may make: one that is not used within its five minutes is replaced. */
  handoffCodes: 10,
  eventsPerCall: EVENTS_PER_CALL,
  events: 300,
  framesMin: 5,
  framesMax: 48,
  watchSeconds: 900,
  /** Enrolments by token that one session may have evaluated, accepted or not. */
  tokenEnrolments: 10,
} as const

/** Sizes of the homomorphic token and of what belongs to it, in bytes; @ostiary/token computes them, and a test compares. */
export const TOKEN_SIZES = {
  token: 11_316,
  publicKey: 45_108,
  matcherShare: 52,
  probe: 56_340,
  keyShare: 157_716,
  /** In base64url: nonces, hashes, a signature. */
  sealedBindChars: 4_096,
  /** The same with the key share. */
  sealedShareChars: 216_000,
  /** The token as the matcher seals it. */
  sealedTokenChars: 16_000,
  /** The body of an enrolment. */
  enrolBytes: 400 * 1024,
  /** The body of a probe. */
  probeBytes: 120 * 1024,
} as const

export const WEBHOOK_LIMITS = {
  /** Headers in `callback.headers`, and the characters of their names and values together. */
  headers: 20,
  headerBytes: 4 * 1024,
  urlChars: 2048,
  /** For the whole exchange: name, connection, request, and the answer to its end. */
  timeoutMs: 10_000,
  /** Waits between the attempts, in seconds; each is varied by up to a fifth, so that receivers are not hit in step. */
  retrySeconds: [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800],
  /** A longer `Retry-After` is taken for this. */
  retryAfterSecondsMax: 3600,
  pageDefault: 50,
  pageMax: 200,
  /** Deliveries that one call of `POST /webhooks/replay` sends again. */
  replayMax: 10_000,
} as const

export const SETTINGS_LIMITS = {
  retentionSecondsMin: 3_600,
  retentionSecondsMax: 30 * 86_400,
  sessionSecondsMin: 60,
  sessionSecondsMax: 7 * 86_400,
  expiryGraceDaysMax: DOCUMENT_LIMITS.expiryGraceDaysMax,
  faceAgeMarginYearsMax: 20,
  failedComparisonsMin: 10,
  failedComparisonsMax: 1_000_000,
  redirectUrls: 100,
  urlChars: 2_048,
  issuers: 10,
  issuerChars: 256,
  audienceChars: 256,
  embedOrigins: 20,
  brandNameChars: 60,
  /** Languages of one link: all of the page's, and the default. */
  linkLanguages: 45,
  /** The logo as it is entered: a data URL, text and all. */
  logoChars: 24 * 1024,
  /** All settings of a tenant together, as JSON. */
  bytes: 64 * 1024,
} as const

export const TOKEN_LIMITS = {
  /** A JWT as it stands in the header, without `Bearer`. */
  bytes: 8 * 1024,
  leewaySeconds: 60,
} as const

export const OAUTH_LIMITS = {
  tokenSeconds: 600,
  /** How long a signed assertion may be good for, and how far clocks may be apart. */
  assertionSeconds: 300,
  leewaySeconds: 30,
  assertionBytes: 8 * 1024,
  clientsPerTenant: 100,
  clientNameChars: 100,
  publicKeys: 5,
} as const

export const SANDBOX_LIMITS = {
  delayMsMax: 10_000,
  advanceSecondsMax: 40 * 24 * 3600,
  failTimesMax: 20,
} as const

export interface Rate {
  perSecond: number
  /** What a caller may save up, where ten seconds' worth would not be one request. */
  burstSeconds?: number
}

// The SDK has no use for rates: its bundler leaves them out.
/*@__NO_SIDE_EFFECTS__*/
const perMinute = (requests: number): Rate => ({ perSecond: requests / 60, burstSeconds: 60 })

/**
 * Requests per second, per key (or per address for anonymous callers). Each caller may save up ten seconds'
 * worth (`burstSeconds` where given) and spend it in a burst, so twice the rate holds for ten seconds.
 */
export const RATES = {
  strings: { live: { perSecond: 20 }, test: { perSecond: 10 }, anonymous: { perSecond: 2 } },
  /** Files, not small requests: six a minute, and a newcomer may send all six at once. */
  sanctions: { live: perMinute(6), test: perMinute(3), anonymous: perMinute(1) },
  /** People in JSON, up to a hundred in one call. */
  'sanctions-match': {
    live: { perSecond: 10 },
    test: { perSecond: 5 },
    anonymous: { perSecond: 1 / 6, burstSeconds: 60 },
  },
  /** The list of datasets and the exceptions. */
  'sanctions-manage': { live: { perSecond: 20 }, test: { perSecond: 10 }, anonymous: { perSecond: 2 } },
  'node-enroll': { live: { perSecond: 20 }, test: { perSecond: 5 } },
  'node-predict': { live: { perSecond: 50 }, test: { perSecond: 10 } },
  'node-delete': { live: { perSecond: 10 }, test: { perSecond: 5 } },
  'node-key-check': { live: { perSecond: 5 }, test: { perSecond: 5 } },
  'age-create': { live: { perSecond: 50 }, test: { perSecond: 10 } },
  /** Reads by the token alone count per address. */
  'age-read': { live: { perSecond: 100 }, test: { perSecond: 20 }, anonymous: { perSecond: 20 } },
  'verify-create': { live: { perSecond: 50 }, test: { perSecond: 10 } },
  'verify-read': { live: { perSecond: 100 }, test: { perSecond: 20 } },
  /** Pages of sessions: each session on a page is unsealed. Fifty at once would hold up others for a second. */
  'session-list': { live: { perSecond: 5, burstSeconds: 2 }, test: { perSecond: 5, burstSeconds: 2 } },
  /** A transaction each. */
  'session-confirm': { live: { perSecond: 50 }, test: { perSecond: 20 } },
  'session-cancel': { live: { perSecond: 25 }, test: { perSecond: 10 } },
  /** Tokens last ten minutes; a host asks for one now and then. Without a key, per address. */
  token: { live: { perSecond: 20 }, test: { perSecond: 10 }, anonymous: { perSecond: 5 } },
  webhooks: { live: { perSecond: 20 }, test: { perSecond: 10 } },
  events: { live: { perSecond: 20 }, test: { perSecond: 20 } },
  /** Hosts keep the set for minutes. Without a key, per address. */
  'webhook-keys': { live: { perSecond: 20 }, test: { perSecond: 10 }, anonymous: { perSecond: 5 } },
  sandbox: { live: { perSecond: 10 }, test: { perSecond: 10 } },
} as const satisfies Record<string, { live: Rate; test: Rate; anonymous?: Rate }>
export type RateName = keyof typeof RATES

/** Files that are refused before anything is screened cost none of the allowance above, up to so many. */
export const REFUSED_FILES = perMinute(10)

/** Reads of one result: a host that asks oftener should use `wait` or a webhook. */
export const RESULT_POLLS: Rate = { perSecond: 1 }
/** The one-time code of a session's end: wrong ones that the host may send, and how long an answer can be asked for again. */
export const RETURN_LIMITS = { wrongCodes: 5, repeatHours: 24 } as const

/** Calls of the launch page. */
export const LAUNCH_RATES = {
  session: { perSecond: 1, burstSeconds: 60 },
  address: { perSecond: 5, burstSeconds: 60 },
  /** Enrolments by token, per address: each takes 150 to 200 ms of a processor, half of them the key holder's. */
  tokenEnrolments: { perSecond: 1, burstSeconds: 60 },
} as const satisfies Record<string, Rate>

/** Unrecognised predictions of one key after which an alarm is raised: someone may be probing for enrolled people. */
export const PROBING_ALARM = { perSecond: 1000 / 3600, burstSeconds: 3600 } as const

/**
 * How often a live tenant's keys together may come near one person in area E: hits and near misses. From the 60th in an hour or the
 * 300th in a day the operator gets an alarm and the key tells one band. There are never more than `most`: half of them at once, the others as
 * they come back, evenly over the hour or the day; a key that has used up a person's waits for the next one. Each answer tells something of the
 * enrolled vector: 90 of them leave a reconstruction below a cosine of 0.75 (docs/decisions/0065-the-pause-is-a-token.md).
 */
export const HIT_BUDGET = {
  hour: { alarm: 60, most: 90 },
  day: { alarm: 300, most: 330 },
  /** How long a key tells one band after its last answer over the alarm. */
  holdSeconds: 3600,
} as const

export const BURST_SECONDS = 10
/**
 * IPv6 prefixes that a request counts against, and how many times one address's allowance they have. One subscriber has a /64 at least, often a
 * /56, and anybody can rent a /48, which holds 65,536 of the first. Each wider network has a little more, so that a caller who has used up
 * its own allowance does not use up that of all neighbours. A whole /48 has 1.2 times what one IPv4 address has, which may be a whole carrier too.
 */
export const NETWORK_PREFIXES = [
  { bits: 64, factor: 1 },
  { bits: 56, factor: 1.1 },
  { bits: 48, factor: 1.2 },
] as const

/** Failures that one network may have (docs/configuration.md, "Limits"). Each is counted over all processes. */
export const FAILURE_LIMITS = {
  /** API keys that do not exist; each costs a look-up. */
  'unknown-keys': { perSecond: 2, burstSeconds: BURST_SECONDS },
  /** Wrong keys presented to the key check of area E. */
  'key-checks': { perSecond: 10 / 60, burstSeconds: 60 },
  'client-credentials': { perSecond: 2, burstSeconds: BURST_SECONDS },
  /** Wrong and expired codes of a handoff, per tenant. */
  'handoff-codes': { perSecond: 20 / 600, burstSeconds: 600 },
  /** Not per network, but per key: an alarm. */
  'node-misses': PROBING_ALARM,
  /** Not per network, but per tenant and mode: faces that area D compared in vain. The tenant's setting `failedComparisonsPerHour` is the rate. */
  'failed-comparisons': { perSecond: 10_000 / 3600, burstSeconds: 3600 },
} as const satisfies Record<string, Required<Rate>>
export type FailureLimitName = keyof typeof FAILURE_LIMITS

/** What `usage_plan_id` of an API key means: a factor on the rates above. */
export const USAGE_PLANS = { standard: 1, plus: 10, unmetered: Number.POSITIVE_INFINITY } as const
export type UsagePlan = keyof typeof USAGE_PLANS
