/** Every limit of the wire in one place. */
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

export const SANCTIONS_LIMITS = {
  /** The specification says 2 MB without saying which; the larger reading refuses nobody who was promised a place. */
  fileBytes: 2 * 1024 * 1024,
  /** The whole form: the file, its headers, and fields that are read past. */
  multipartBytes: 2.5 * 1024 * 1024,
  rows: 50_000,
  /** Characters in one of the four columns that are read. */
  fieldChars: 1000,
  /** A first line longer than this is no list of column names. */
  headerChars: 64 * 1024,
  scoreThresholdDefault: 0.95,
  /** Listed entries shown per row, best first; `moreMatches` counts the rest. */
  matchesPerRow: 10,
  /** Files of one key that are screened at once. */
  concurrentFiles: 2,
  reasonChars: 500,
  entityIdChars: 256,
  exceptionYearsMax: 5,
  pageDefault: 50,
  pageMax: 200,
} as const

export interface Rate {
  perSecond: number
  /** What a caller may save up, where ten seconds' worth would not be one request. */
  burstSeconds?: number
}

const perMinute = (requests: number): Rate => ({ perSecond: requests / 60, burstSeconds: 60 })

/**
 * Requests per second, per key (or per address for anonymous callers). Each caller may save up ten seconds'
 * worth (`burstSeconds` where given) and spend it in a burst, so twice the rate holds for ten seconds.
 */
export const RATES = {
  strings: { live: { perSecond: 20 }, test: { perSecond: 10 }, anonymous: { perSecond: 2 } },
  /** Files, not small requests: six a minute, and a newcomer may send all six at once. */
  sanctions: { live: perMinute(6), test: perMinute(3), anonymous: perMinute(1) },
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
  /** Tokens last ten minutes; a host asks for one now and then. Without a key, per address. */
  token: { live: { perSecond: 20 }, test: { perSecond: 10 }, anonymous: { perSecond: 5 } },
  webhooks: { live: { perSecond: 20 }, test: { perSecond: 10 } },
  sandbox: { live: { perSecond: 10 }, test: { perSecond: 10 } },
} as const satisfies Record<string, { live: Rate; test: Rate; anonymous?: Rate }>
export type RateName = keyof typeof RATES

/** Unknown API keys that one address may try per second; each costs a look-up. */
export const UNKNOWN_KEYS: Rate = { perSecond: 2 }

/** Reads of one result: a host that asks oftener should use `wait` or a webhook. */
export const RESULT_POLLS: Rate = { perSecond: 1 }

/** Calls of the launch page. */
export const LAUNCH_RATES = {
  session: { perSecond: 1, burstSeconds: 60 },
  address: { perSecond: 5, burstSeconds: 60 },
} as const satisfies Record<string, Rate>

/** Wrong keys that one address may present to the key check of area E. */
export const WRONG_KEY_CHECKS = { perSecond: 10 / 60, burstSeconds: 60 } as const

/** Unrecognised predictions of one key after which an alarm is raised: someone may be probing the gallery. */
export const PROBING_ALARM = { perSecond: 1000 / 3600, burstSeconds: 3600 } as const

export const BURST_SECONDS = 10

/** What `usage_plan_id` of an API key means: a factor on the rates above. */
export const USAGE_PLANS = { standard: 1, plus: 10, unmetered: Number.POSITIVE_INFINITY } as const
export type UsagePlan = keyof typeof USAGE_PLANS
