import Type from 'typebox'
import { SANCTIONS_LIMITS } from './limits.ts'
import { type Operation, operation } from './operation.ts'

const { fieldChars, pageDefault, pageMax } = SANCTIONS_LIMITS

const field = (description: string) => Type.String({ maxLength: fieldChars, description })

export const CreateExceptionBody = Type.Object(
  {
    recordId: Type.String({ minLength: 1, maxLength: fieldChars, description: '`id` of the row' }),
    firstname: field('As in the row: when a name or the date changes, the exception no longer applies'),
    lastname: field('As in the row'),
    dob: field('As in the row'),
    entityId: Type.String({
      minLength: 1,
      maxLength: SANCTIONS_LIMITS.entityIdChars,
      description: 'The listed entry this person is not',
    }),
    reason: Type.String({ minLength: 1, maxLength: SANCTIONS_LIMITS.reasonChars, description: 'For your auditor' }),
    expiresAt: Type.String({
      format: 'date-time',
      description: `In the future, at most ${SANCTIONS_LIMITS.exceptionYearsMax} years ahead`,
    }),
  },
  {
    title: 'CreateException',
    additionalProperties: false,
    examples: [
      {
        recordId: '0017',
        firstname: 'Ana',
        lastname: 'Example',
        dob: '1990-05-04',
        entityId: 'demo-0004',
        reason: 'Passport seen; the listed person is 30 years older',
        expiresAt: '2027-11-15T00:00:00.000Z',
      },
    ],
  },
)
export type CreateExceptionBody = Type.Static<typeof CreateExceptionBody>

export const ExceptionRecord = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'UUIDv7' }),
    recordId: Type.String({ description: '`id` of the row' }),
    entityId: Type.String({ description: 'The list’s own id of the entry' }),
    reason: Type.String({ description: 'For your auditor' }),
    expiresAt: Type.String({ format: 'date-time', description: 'From then on the entry is shown again' }),
    createdAt: Type.String({ format: 'date-time', description: 'When it was made' }),
    createdBy: Type.String({ description: 'Id of the API key that made it' }),
  },
  { title: 'Exception' },
)
export type ExceptionRecord = Type.Static<typeof ExceptionRecord>

export const ExceptionPage = Type.Object(
  {
    items: Type.Array(ExceptionRecord, { description: 'The exceptions, newest first' }),
    count: Type.Integer({ description: 'Number of `items` on this page' }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Send it back as `cursor` for the next page; null on the last page',
    }),
  },
  { title: 'ExceptionPage' },
)
export type ExceptionPage = Type.Static<typeof ExceptionPage>

export const createException = operation({
  operationId: 'createException',
  area: 'B',
  method: 'POST',
  path: '/v2/open-sanctions/exceptions',
  summary: 'Except a person from a match',
  description:
    'Says that one person of yours is not one listed entry. Later files show that entry for that person under ' +
    '`silenced` instead of as a match, until the exception ends or the person’s name or birth date changes.',
  auth: 'required',
  scope: 'sanctions:run',
  body: CreateExceptionBody,
  idempotent: true,
  success: {
    201: {
      description: 'Created',
      schema: ExceptionRecord,
      headers: { 'Idempotency-Replayed': '`true` when an earlier call made the exception' },
    },
  },
  errors: [
    'INVALID_JSON',
    'VALIDATION_FAILED',
    'IDEMPOTENCY_MISMATCH',
    'GONE',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
  ],
})

export const listExceptions = operation({
  operationId: 'listExceptions',
  area: 'B',
  method: 'GET',
  path: '/v2/open-sanctions/exceptions',
  summary: 'List exceptions',
  description: 'Pages through the exceptions, newest first. Go by `nextCursor`, not by the count.',
  auth: 'required',
  scope: 'sanctions:run',
  query: Type.Object(
    {
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageMax, default: pageDefault })),
      cursor: Type.Optional(Type.String({ maxLength: 200, description: '`nextCursor` of the page before' })),
      recordId: Type.Optional(Type.String({ maxLength: fieldChars, description: 'Only those of this row id' })),
    },
    { additionalProperties: false },
  ),
  success: { 200: { description: 'One page', schema: ExceptionPage } },
  errors: ['VALIDATION_FAILED'],
})

export const deleteException = operation({
  operationId: 'deleteException',
  area: 'B',
  method: 'DELETE',
  path: '/v2/open-sanctions/exceptions/:id',
  summary: 'Delete an exception',
  description: 'From now on the entry matches again. A second delete answers 404.',
  auth: 'required',
  scope: 'sanctions:run',
  params: Type.Object({ id: Type.String() }),
  success: { 204: { description: 'Deleted', schema: null } },
  errors: ['NOT_FOUND'],
})

export const EXCEPTION_OPERATIONS: readonly Operation[] = [createException, listExceptions, deleteException]
