import Type from 'typebox'
import { AGE_STATUSES } from './age.ts'
import { LAUNCH_LIMITS, SANDBOX_LIMITS } from './limits.ts'
import { MOVEMENTS } from './movements.ts'
import { type Operation, operation } from './operation.ts'
import { RISK_LEVELS } from './risk.ts'
import { WebhookDelivery } from './webhooks.ts'

/** An outcome that a test session is to have: in `metadata.__test` of its creation, or by `POST /test/sessions/:id/outcome`. */
export const SandboxOutcome = Type.Object(
  {
    outcome: Type.Optional(
      Type.Enum([...AGE_STATUSES], {
        default: 'AGE_ABOVE_THRESHOLD',
        description: '`AGE_UNKNOWN` without `errors` has the code -19: all tries used up',
      }),
    ),
    errors: Type.Optional(
      Type.Array(Type.Integer({ minimum: -100, maximum: 2 }), {
        maxItems: 10,
        description: 'Session codes; with any of them the outcome is AGE_UNKNOWN',
      }),
    ),
    risk: Type.Optional(
      Type.Enum(
        RISK_LEVELS.map(({ level }) => level),
        { default: 'LOW', description: 'The level; its score is the lowest of that level, and no flag is made up' },
      ),
    ),
    delayMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: SANDBOX_LIMITS.delayMsMax,
        description: 'How long the page waits before the end; with `metadata.__test` only',
      }),
    ),
    faceAge: Type.Optional(
      Type.Number({ minimum: 0, maximum: 120, description: 'Instead of `outcome`: the age that the face step finds' }),
    ),
    documentAge: Type.Optional(Type.Number({ minimum: 0, maximum: 120, description: 'The age in the document' })),
    faceMatchScore: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'How alike the face and the document’s picture are' }),
    ),
  },
  {
    title: 'SandboxOutcome',
    additionalProperties: false,
    examples: [{ outcome: 'AGE_BELOW_THRESHOLD', risk: 'HIGH' }],
  },
)
export type SandboxOutcome = Type.Static<typeof SandboxOutcome>

/**
 * How a test session of area D can end without a person: at the start of its `transactionID` after `test:`, or by
 * `POST /test/sessions/:id/outcome`.
 */
export const VERIFICATION_TEST_OUTCOMES = ['success', 'spoof', 'expired', 'not_enrolled', 'locked'] as const
export type VerificationTestOutcome = (typeof VERIFICATION_TEST_OUTCOMES)[number]

export const SetOutcomeBody = Type.Object(
  {
    ...SandboxOutcome.properties,
    outcome: Type.Optional(
      Type.Enum([...AGE_STATUSES, ...VERIFICATION_TEST_OUTCOMES], {
        description:
          'Age sessions: `AGE_ABOVE_THRESHOLD` when absent; `AGE_UNKNOWN` without `errors` has the code -19. ENROLL, SIGN-IN and VERIFY sessions, which take `errors` or this and no other field: ' +
          '`success` when absent',
      }),
    ),
    errors: Type.Optional(
      Type.Array(Type.Integer({ minimum: -100, maximum: 2 }), {
        maxItems: 10,
        description:
          'Session codes that the result is to have. The session ends as a real one with them does: cancelled with -17, -18 or -38, expired with -8, else without a verdict',
      }),
    ),
  },
  {
    title: 'SetOutcome',
    additionalProperties: false,
    examples: [{ outcome: 'AGE_BELOW_THRESHOLD', risk: 'HIGH' }, { outcome: 'spoof' }, { errors: [-9, -19] }],
  },
)
export type SetOutcomeBody = Type.Static<typeof SetOutcomeBody>

/**
 * Instead of an outcome, in `metadata.__test` alone: the movements that every try of a test session asks for. Nothing else
 * changes: a person, or a recording of one, goes through the flow and gets the verdict that the capture earns.
 */
export const SandboxChallenge = Type.Object(
  {
    challenge: Type.Array(Type.Enum([...MOVEMENTS]), {
      minItems: LAUNCH_LIMITS.movements,
      maxItems: LAUNCH_LIMITS.movements,
      description: 'In this order; none twice in a row',
    }),
    times: Type.Optional(
      Type.Enum(['random', 'fixed'], {
        default: 'random',
        description: '`fixed`: movements and samples at the middle of their ranges, every time the same',
      }),
    ),
  },
  { title: 'SandboxChallenge', additionalProperties: false },
)
export type SandboxChallenge = Type.Static<typeof SandboxChallenge>

const shared = { area: 'C', group: 'test', auth: 'required', scope: ['age:write', 'verify:write'] } as const

export const setOutcome = operation({
  ...shared,
  operationId: 'sandboxOutcome',
  method: 'POST',
  path: '/test/sessions/:id/outcome',
  summary: 'End a test session with an outcome',
  description: 'Test keys only. The session ends as if its user had done so; its webhook is sent.',
  params: Type.Object({ id: Type.String() }),
  body: SetOutcomeBody,
  success: { 204: { description: 'Ended', schema: null } },
  errors: ['INVALID_JSON', 'VALIDATION_FAILED', 'NOT_FOUND', 'SESSION_NOT_OPEN', 'GONE'],
})

export const advanceClock = operation({
  ...shared,
  operationId: 'sandboxAdvanceClock',
  method: 'POST',
  path: '/test/clock/advance',
  summary: 'Let time pass for the tenant’s test sessions',
  description:
    'Test keys only. Everything that test sessions and their webhooks wait for (expiry, retries, deletion) comes nearer by so ' +
    'many seconds. Sessions made afterwards are not concerned; `createdAt` stays as it was.',
  body: Type.Object(
    { seconds: Type.Integer({ minimum: 1, maximum: SANDBOX_LIMITS.advanceSecondsMax }) },
    { additionalProperties: false },
  ),
  success: { 204: { description: 'Done', schema: null } },
  errors: ['INVALID_JSON', 'VALIDATION_FAILED'],
})

export const failDelivery = operation({
  ...shared,
  operationId: 'sandboxFailDelivery',
  method: 'POST',
  path: '/test/webhooks/:id/fail',
  summary: 'Let deliveries of a test webhook fail',
  description: 'Test keys only. The delivery starts again, and its next attempts count as failed without being sent.',
  params: Type.Object({ id: Type.String() }),
  query: Type.Object(
    { times: Type.Optional(Type.Integer({ minimum: 1, maximum: SANDBOX_LIMITS.failTimesMax, default: 1 })) },
    { additionalProperties: false },
  ),
  success: { 200: { description: 'The delivery', schema: WebhookDelivery } },
  errors: ['VALIDATION_FAILED', 'NOT_FOUND'],
})

export const SANDBOX_OPERATIONS: readonly Operation[] = [setOutcome, advanceClock, failDelivery]
