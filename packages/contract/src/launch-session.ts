import Type from 'typebox'
import { DOCUMENT_TYPES } from './documents.ts'
import { Cannot, LAUNCH_EVENTS, Pace } from './launch-steps.ts'
import { EVENTS_PER_CALL, UTC_OFFSET_MINUTES_MAX } from './limits.ts'
import { Brand, PageLink, TEMPLATE_KINDS } from './settings.ts'
import { FLOW_STATUSES, SESSION_STATES } from './states.ts'
import { VERIFICATION_TYPES } from './verification-request.ts'

/* A session as its devices see it. */

export const SessionId = Type.String({ minLength: 36, maxLength: 36 })
const Hash = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'base64url of SHA-256' })

/** A public key on P-256, as a JWK. */
export const DeviceKey = Type.Object(
  {
    kty: Type.Literal('EC'),
    crv: Type.Literal('P-256'),
    x: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
    y: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
  },
  { title: 'DeviceKey', additionalProperties: false },
)
export type DeviceKey = Type.Static<typeof DeviceKey>

export const OpenBody = Type.Object(
  {
    sessionId: SessionId,
    deviceKey: DeviceKey,
    platform: Type.Enum(['mobile', 'desktop'], { description: 'What the page takes the device for' }),
    handoffCode: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    locale: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    clientTime: Type.Integer({ description: 'Unix milliseconds by the device’s clock' }),
    utcOffsetMinutes: Type.Optional(
      Type.Integer({
        minimum: -UTC_OFFSET_MINUTES_MAX,
        maximum: UTC_OFFSET_MINUTES_MAX,
        description:
          'Minutes by which the device’s time zone is ahead of UTC. Compared between the devices of a handoff',
      }),
    ),
  },
  { title: 'LaunchOpen', additionalProperties: false },
)
export type OpenBody = Type.Static<typeof OpenBody>

/** What every device call answers: where the flow stands. */
export const LaunchState = Type.Object(
  {
    sessionId: SessionId,
    state: Type.Enum([...SESSION_STATES]),
    role: Type.Enum(['holder', 'viewer'], { description: 'A viewer watches another device run the flow' }),
    attempt: Type.Integer(),
    attemptsLeft: Type.Integer(),
    expiresAt: Type.String({ format: 'date-time' }),
    flowStatus: Type.Union([Type.Enum([...FLOW_STATUSES]), Type.Null()]),
    /** Codes a page may show; a page never learns which check failed. */
    errors: Type.Array(Type.Integer()),
    redirectUrl: Type.Union([Type.String(), Type.Null()], {
      description:
        'Where to send the user; null until the flow has ended, and for devices that had no part in the session',
    }),
    code: Type.Optional(
      Type.String({
        description:
          'The one-time code of the end, which `redirectUrl` carries too: for the one browser that the result belongs to',
      }),
    ),
    livemode: Type.Boolean(),
    documentAttemptsLeft: Type.Optional(
      Type.Integer({ description: 'Tries of the document step that are left, where the session has come to need one' }),
    ),
    localKeyBound: Type.Optional(
      Type.Boolean({
        description:
          'An ENROLL that succeeded and came with the key of a local token, to the device that ran it: whether the key is on record now. The token is kept only then',
      }),
    ),
    tokenBound: Type.Optional(
      Type.Boolean({
        description:
          'An ENROLL that succeeded and made a homomorphic token, to the device that ran it: whether the token is the person’s now. The device keeps its key only then',
      }),
    ),
    numberNeeded: Type.Optional(
      Type.Boolean({
        description:
          'true on a device that took the session over and has not sent the number of the first screen yet (`launchNumber`): before that nothing else is taken',
      }),
    ),
    cannot: Type.Optional({
      ...Cannot,
      description: 'Kinds of movement that the user has said they cannot make, on this device or the one before',
    }),
    pace: Type.Optional({ ...Pace, description: 'The user has asked for more time for each movement' }),
  },
  { title: 'LaunchState' },
)
export type LaunchState = Type.Static<typeof LaunchState>

/** What a page must know of an ENROLL, SIGN-IN or VERIFY session beside its steps. */
export const VerificationFacts = Type.Object(
  {
    realm: Type.String({
      description: 'Names the tenant and its mode: local tokens of one realm are used in no other',
    }),
    version: Type.Literal('FACE3_3', { description: 'The feature vector that is wanted' }),
    sendImages: Type.Boolean(),
    estimateAge: Type.Boolean(),
    matching: Type.Enum(['server', 'local_first'], {
      description: '`local_first`: after a hit on the device the vector is not sent',
    }),
    templates: Type.Optional(
      Type.Enum([...TEMPLATE_KINDS], {
        description:
          'What is stored of a face. Not `vector`: the page sends no vector but a token or a probe (`launchTokenBegin`). Absent: `vector`',
      }),
    ),
    migrates: Type.Optional(
      Type.Boolean({
        description:
          'SIGN-IN and VERIFY by token: whether a device without a key may send a vector this once, if its user agrees, with a token that replaces the stored vector (`launchTokenBegin` with `for: successor`)',
      }),
    ),
  },
  { title: 'VerificationFacts' },
)
export type VerificationFacts = Type.Static<typeof VerificationFacts>

/** What a page must know of the document step before it begins. */
export const DocumentFacts = Type.Object(
  {
    when: Type.Enum(['always', 'step_up'], {
      description: '`always`: the host asks for a document. `step_up`: only if the face does not decide',
    }),
    acceptedTypes: Type.Array(Type.Enum([...DOCUMENT_TYPES])),
    ageFormat: Type.Union([Type.Enum(['threshold', 'exact', 'both']), Type.Null()], {
      description: 'Whether the age leaves the device in whole years (`exact`, `both`); null: no age is asked for',
    }),
    reuseCheck: Type.Boolean({ description: 'Whether a mark of the document’s number is kept for a day' }),
  },
  { title: 'DocumentFacts' },
)
export type DocumentFacts = Type.Static<typeof DocumentFacts>

export const OpenedSession = Type.Object(
  {
    ...LaunchState.properties,
    type: Type.Enum(['AGE', ...VERIFICATION_TYPES]),
    verification: Type.Union([VerificationFacts, Type.Null()], { description: 'null for age sessions' }),
    requirements: Type.Array(Type.String()),
    host: Type.String({ description: 'Name of the host that the user goes back to, such as `shop.example`' }),
    handoff: Type.Boolean({ description: 'Whether the session may be handed over to another device' }),
    locale: Type.String(),
    consentVersion: Type.String({
      description: 'Always `1`, for pages of earlier releases. A page sends the version of the text that it shows',
    }),
    sealKey: DeviceKey,
    brand: Type.Union([Brand, Type.Null()], { description: 'How the host wants the page to look; null: as it comes' }),
    document: Type.Optional(
      Type.Union([DocumentFacts, Type.Null()], {
        description:
          'What the page must know of the document step before it begins; null: this session never asks for a document',
      }),
    ),
    alternativeUrl: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'For pages of the last release: `links.alternative` in the language of the session; null: none',
      }),
    ),
    links: Type.Optional(
      Type.Object(
        { alternative: PageLink, privacy: PageLink, support: PageLink },
        {
          title: 'PageLinks',
          description: 'Pages of the host, in all their languages: another way than this check, privacy notice, help',
        },
      ),
    ),
    mayExtend: Type.Optional(
      Type.Boolean({
        description: 'Whether the user may extend the session now (`launchExtend`): once, where the tenant allows it',
      }),
    ),
    ages: Type.Optional(
      Type.Union(
        [
          Type.Object({
            age: Type.Number({ description: 'The age that the host asks for: `documentAgeThreshold`' }),
            estimate: Type.Union([Type.Number(), Type.Null()], {
              description:
                'What the estimate of a face has to reach by itself: `ageThreshold` and the tenant’s margin; null where that is the same, or no face decides',
            }),
          }),
          Type.Null(),
        ],
        { description: 'What an age session asks for, so that the page can tell the user before it begins' },
      ),
    ),
    eventsTravel: Type.Optional(
      Type.Boolean({
        description:
          'Whether `launchChallenge` and `launchFailure` take `events`, and the sealed payloads of `launchSubmit` and `launchDocumentSubmit` take `log.events`. Absent: a process of an earlier release, which takes them by `launchEvents` alone',
      }),
    ),
    embedOrigins: Type.Array(Type.String(), {
      description: 'Origins that the page may tell how far it is, when one of them opened or frames it',
    }),
  },
  { title: 'OpenedSession' },
)
export type OpenedSession = Type.Static<typeof OpenedSession>

export const LaunchEvent = Type.Object(
  {
    seq: Type.Integer({ minimum: 1 }),
    /** Milliseconds by the device's monotonic clock, from its own zero. */
    t: Type.Integer({ minimum: 0 }),
    type: Type.Enum([...LAUNCH_EVENTS]),
    /** A movement's number, an attempt, an error code: what the type needs. */
    n: Type.Optional(Type.Integer()),
    hash: Hash,
  },
  { title: 'LaunchEvent', additionalProperties: false },
)
export type LaunchEvent = Type.Static<typeof LaunchEvent>

/** Entries of the log that one call appends. */
export const LaunchEvents = Type.Array(LaunchEvent, { minItems: 1, maxItems: EVENTS_PER_CALL })

/** An entry inside a sealed payload: `t`, `type`, and `n` if it has one. Number and hash of the last one stand beside them; the service computes the rest. */
export const SealedEvent = Type.Union([
  Type.Tuple([LaunchEvent.properties.t, LaunchEvent.properties.type]),
  Type.Tuple([LaunchEvent.properties.t, LaunchEvent.properties.type, Type.Integer()]),
])
export type SealedEvent = Type.Static<typeof SealedEvent>

/** Of a call that takes entries of the log with it. */
export const TravellingEvents = Type.Optional({
  ...LaunchEvents,
  description: 'Entries of the log up to this call. They count as if `launchEvents` had sent them just before it',
})
