import Type from 'typebox'
import { DeviceKey, LaunchEvent, OpenBody, SealedEvent } from './launch-session.ts'
import { EVENTS_PER_CALL, LAUNCH_LIMITS } from './limits.ts'

/** One sampled frame, quantised: angles in tenths of a degree, the rest in thousandths. */
export const CaptureFrame = Type.Object(
  {
    /** Milliseconds after the start of the capture. */
    t: Type.Integer({ minimum: 0, maximum: 120_000 }),
    yaw: Type.Integer({ minimum: -900, maximum: 900, description: 'Left is positive' }),
    pitch: Type.Integer({ minimum: -900, maximum: 900, description: 'Up is positive' }),
    roll: Type.Integer({ minimum: -900, maximum: 900 }),
    /** How far the eyes are open. */
    eyes: Type.Integer({ minimum: 0, maximum: 1000 }),
    /** Width of the face in the picture. */
    size: Type.Integer({ minimum: 0, maximum: 1000 }),
    quality: Type.Integer({ minimum: 0, maximum: 1000 }),
    /** Estimate of this frame in tenths of a year; absent for frames that are not good enough. */
    age: Type.Optional(Type.Integer({ minimum: 0, maximum: 1200 })),
    /** First 8 bytes of SHA-256 over the frame's features: equal digests are the same picture. */
    digest: Type.String({ pattern: '^[A-Za-z0-9_-]{11}$' }),
  },
  { title: 'CaptureFrame', additionalProperties: false },
)
export type CaptureFrame = Type.Static<typeof CaptureFrame>

/** What ties any payload to the event log and to the browser. */
export const SEALED_SIGNALS = {
  /** The last entry of the event log at the time of sealing, and the entries up to it that the service may not have. */
  log: Type.Object(
    {
      seq: Type.Integer({ minimum: 1 }),
      hash: LaunchEvent.properties.hash,
      events: Type.Optional(Type.Array(SealedEvent, { minItems: 1, maxItems: EVENTS_PER_CALL })),
    },
    { additionalProperties: false },
  ),
  /** One letter per indicator in the order of INDICATOR_PATHS: 1 suspicious, 0 not, - not evaluated. */
  indicators: Type.Optional(Type.String({ pattern: '^[01-]{21}$' })),
  browser: Type.Optional(
    Type.Object(
      { kind: Type.Enum(['ordinary', 'webview', 'privacy']), phoneCamera: Type.Optional(Type.Boolean()) },
      { additionalProperties: false },
    ),
  ),
} as const
export type SealedLog = Type.Static<typeof SEALED_SIGNALS.log>

/** A score in thousandths: the cosine of two faces. */
export const MatchScore = Type.Integer({ minimum: -1000, maximum: 1000 })
export const Nonce = Type.String({ minLength: 1, maxLength: 64 })

/** What the device seals to the session's key. Everything in it is a claim of the device. */
export const CapturePayload = Type.Object(
  {
    v: Type.Literal(1),
    sessionId: OpenBody.properties.sessionId,
    nonce: Nonce,
    attempt: Type.Integer({ minimum: 1, maximum: 10 }),
    model: Type.Object(
      { id: Type.String({ maxLength: 64 }), hash: LaunchEvent.properties.hash },
      { additionalProperties: false },
    ),
    /** Age in tenths of a year, the spread of the frames' estimates, and how many frames it rests on. */
    estimate: Type.Object(
      {
        age: Type.Integer({ minimum: 0, maximum: 1200 }),
        spread: Type.Integer({ minimum: 0, maximum: 1200 }),
        frames: Type.Integer({
          minimum: 0,
          maximum: LAUNCH_LIMITS.framesMax,
          description: '0: no age was asked for, and none estimated',
        }),
      },
      { additionalProperties: false },
    ),
    face: Type.Optional(
      Type.Object(
        {
          version: Type.Literal('FACE3_3'),
          /** One byte per number, in base64url: its direction counts, not its length. */
          vector: Type.String({ pattern: '^[A-Za-z0-9_-]{683}$' }),
        },
        { additionalProperties: false, description: 'The feature vector, for enrolment and the server’s comparison' },
      ),
    ),
    /** Instead of `face`, where the tenant keeps tokens. */
    token: Type.Optional(
      Type.Object(
        {
          id: Type.String({ pattern: '^[A-Za-z0-9_-]{22}$' }),
          probeHash: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'SHA-256 of the probe that was sent' }),
        },
        { additionalProperties: false, description: 'The token or probe that this capture belongs to' },
      ),
    ),
    /** SIGN-IN and VERIFY: a new token that replaces the person’s old one, or the stored vector, if the session succeeds. */
    successor: Type.Optional(
      Type.Object(
        {
          id: Type.String({ pattern: '^[A-Za-z0-9_-]{22}$' }),
          probeHash: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
        },
        { additionalProperties: false, description: 'The token that was sent by `launchTokenEnrol`' },
      ),
    ),
    /** ENROLL: the public key of the token that this browser keeps. SIGN-IN and VERIFY: what the comparison here said. */
    local: Type.Optional(
      Type.Union([
        Type.Object({ key: DeviceKey }, { additionalProperties: false }),
        Type.Object(
          { hit: Type.Boolean(), proof: Type.String({ maxLength: LAUNCH_LIMITS.proofChars }) },
          { additionalProperties: false },
        ),
      ]),
    ),
    /** Where a document was read before the face: its portrait against this face. */
    match: Type.Optional(
      Type.Object(
        {
          score: MatchScore,
          document: Type.String({ ...Nonce, description: 'The nonce of the document step' }),
        },
        { additionalProperties: false },
      ),
    ),
    /** What the passive check says: 1000 is surely live. */
    live: Type.Integer({ minimum: 0, maximum: 1000 }),
    frames: Type.Array(CaptureFrame, { minItems: 1, maxItems: LAUNCH_LIMITS.framesMax }),
    ...SEALED_SIGNALS,
    /**
     * Anything. The launch page sends `camera` here, the size of its pictures in pixels, in area D `captureConditions` (CaptureConditions), and in
     * an ENROLL `localProof`, the signature of the local key: during an upgrade a new page may meet an old process, and the last release takes new members nowhere else.
     */
    metadata: Type.Optional(Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true }))),
  },
  { title: 'CapturePayload', additionalProperties: false },
)
export type CapturePayload = Type.Static<typeof CapturePayload>
