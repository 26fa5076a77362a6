import Type from 'typebox'
import { DeviceKey } from './launch-session.ts'

/*
 * The wire between the API and the key holder (decision 0040). It is no part of the public interface. Every request and every reply is
 * signed by the service that sends it. A body with binary parts is a frame (frames.ts).
 */
export const KEY_HOLDER_PATHS = {
  key: '/v1/key',
  nonces: '/v1/nonces',
  enrolments: '/v1/enrolments',
  confirmations: '/v1/confirmations',
  evaluations: '/v1/evaluations',
  erasures: '/v1/erasures',
} as const

export const KEY_HOLDER_LIMITS = {
  /** How far the clocks of the two services may be apart, and how long a request id is remembered. */
  requestSeconds: 120,
  nonceSeconds: 300,
  /** A share that was not confirmed is deleted after this. */
  pendingSeconds: 3600,
  /** Every answer about a token comes after this time, whatever the answer is; a later one after the next multiple. */
  deadlineMs: 250,
  bodyBytes: 2 * 1024 * 1024,
  /** Of the calls whose body is JSON. */
  jsonBytes: 64 * 1024,
  /** Longer than the server waits for an answer. */
  requestTimeoutMs: 15_000,
  connections: 512,
  /** Bodies that are read at once before their signature can be verified: servers of the last release do not send their hash. */
  unprovenBodies: 16,
  headerBytes: 320 * 1024,
} as const

/** What matcher and key holder both count, each in its own database, before they evaluate (review, C4). */
export const TOKEN_BUDGET = {
  /** Of one token, accepted or not. */
  evaluationsPerDay: 50,
  /** Then the person renews the token. */
  evaluationsPerToken: 5_000,
  monthsPerToken: 24,
  /** Of one person, over all their tokens. */
  failuresPerDay: 10,
  failuresPer30Days: 60,
  /** Under a valid signature, of one token. Then it is frozen. */
  attackEvents: 3,
} as const

const Id = Type.String({ pattern: '^[A-Za-z0-9_-]{22}$' })
const Realm = Type.String({ pattern: '^[A-Za-z0-9_-]{22}$' })
const Value32 = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })

export const KeyHolderKey = Type.Object({
  sealKey: DeviceKey,
  fingerprint: Value32,
  /** The key that signs replies. */
  serviceKey: Value32,
})
export type KeyHolderKey = Type.Static<typeof KeyHolderKey>

const exact = { additionalProperties: false }
export const NonceBody = Type.Object({ realm: Realm, tokenId: Id }, exact)
export const NonceReply = Type.Object({ nonce: Value32 })

/** The text part of the frame; the binary parts are `FRAME_PARTS`. */
export const EvaluationHeader = Type.Object({ realm: Realm, account: Id, tokenId: Id, sealed: Type.String() }, exact)
export type EvaluationHeader = Type.Static<typeof EvaluationHeader>
/** The binary parts of an enrolment and of an evaluation, in this order. */
export const FRAME_PARTS = ['token', 'probe', 'evaluation'] as const

export const VERDICTS = ['accept', 'reject', 'locked'] as const
export type TokenVerdict = (typeof VERDICTS)[number]
/** Never a score and never a reason. */
export const VerdictReply = Type.Object({ verdict: Type.Enum([...VERDICTS]) })

export const ConfirmationBody = Type.Object({ realm: Realm, tokenId: Id }, exact)
export const ConfirmationReply = Type.Object({ isKnown: Type.Boolean() })

/** All that the key holder has of one token, or of one person. Repeating it is harmless. */
export const ErasureBody = Type.Union([
  Type.Object({ realm: Realm, tokenId: Id }, exact),
  Type.Object({ realm: Realm, account: Id }, exact),
])
export type ErasureBody = Type.Static<typeof ErasureBody>
export const ErasureReply = Type.Object({ erased: Type.Integer() })

/** What the device seals to the key holder at an enrolment. The key share follows as bytes. */
export const EnrolmentMessage = Type.Object(
  {
    purpose: Type.Literal('enrol'),
    realm: Realm,
    account: Id,
    tokenId: Id,
    keyHolderNonce: Value32,
    matcherNonce: Value32,
    probeHash: Value32,
    tokenHash: Value32,
    publicKeyHash: Value32,
    deviceKey: DeviceKey,
    signature: Type.String({ pattern: '^[A-Za-z0-9_-]{86}$' }),
  },
  exact,
)
export type EnrolmentMessage = Type.Static<typeof EnrolmentMessage>

/** What the device seals to the key holder with each probe. */
export const ComparisonMessage = Type.Object(
  {
    purpose: Type.Literal('compare'),
    realm: Realm,
    account: Id,
    tokenId: Id,
    keyHolderNonce: Value32,
    matcherNonce: Value32,
    probeHash: Value32,
    signature: Type.String({ pattern: '^[A-Za-z0-9_-]{86}$' }),
  },
  exact,
)
export type ComparisonMessage = Type.Static<typeof ComparisonMessage>
