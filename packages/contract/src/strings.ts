import Type from 'typebox'
import { STRING_LIMITS } from './limits.ts'
import { type Operation, operation } from './operation.ts'

/** A record type would be written as a pattern, which drops names with line breaks from answers. */
const anyObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true, description }))

export const StringRecord = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'UUIDv7' }),
    value: Type.String({ description: 'The text' }),
    length: Type.Integer({ description: 'Length of `value` in Unicode code points' }),
    createdAt: Type.String({ format: 'date-time', description: 'When it was created' }),
    updatedAt: Type.String({ format: 'date-time', description: 'Always equal to `createdAt`: records do not change' }),
    expiresAt: Type.Optional(Type.String({ format: 'date-time', description: 'Extension: set by `ttlSeconds`' })),
    metadata: Type.Optional(anyObject('Extension: returned as it was given; numbers are IEEE doubles')),
    livemode: Type.Boolean({ description: 'Extension: false for records of test keys and of anonymous callers' }),
  },
  {
    title: 'StringRecord',
    examples: [
      {
        id: '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa',
        value: 'hello',
        length: 5,
        createdAt: '2026-11-15T09:30:00.000Z',
        updatedAt: '2026-11-15T09:30:00.000Z',
        livemode: false,
      },
    ],
  },
)
export type StringRecord = Type.Static<typeof StringRecord>

export const CreateStringBody = Type.Object(
  {
    value: Type.String({
      description: `1 byte to ${STRING_LIMITS.valueBytes / 1024} KiB of UTF-8, kept exactly as sent; NUL is refused`,
      minLength: 1,
      maxLength: STRING_LIMITS.valueBytes,
    }),
    metadata: Type.Optional(anyObject(`Any JSON object of at most ${STRING_LIMITS.metadataBytes / 1024} KB`)),
    ttlSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: STRING_LIMITS.ttlSecondsMax,
        description: 'The record disappears after so many seconds',
      }),
    ),
  },
  { title: 'CreateString', additionalProperties: false, examples: [{ value: 'hello' }] },
)
export type CreateStringBody = Type.Static<typeof CreateStringBody>

export const StringPage = Type.Object(
  {
    items: Type.Array(StringRecord, { description: 'The records' }),
    count: Type.Integer({ description: 'Number of `items` on this page' }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: 'Send it back as `cursor` for the next page; null on the last page',
    }),
  },
  { title: 'StringPage' },
)
export type StringPage = Type.Static<typeof StringPage>

// A malformed id is answered like an unknown one (404), so its shape is not part of the schema.
const IdParams = Type.Object({ id: Type.String() })

export const createString = operation({
  operationId: 'createString',
  area: 'A',
  method: 'POST',
  path: '/strings',
  summary: 'Create a string',
  description:
    'Stores a string and returns its record. The body may also be `text/plain`: then the whole body is the value. ' +
    'With an `Idempotency-Key` a repeated call returns the record that the first one made.',
  auth: 'optional',
  scope: 'strings:rw',
  body: CreateStringBody,
  bodyTypes: ['application/json', 'text/plain'],
  idempotent: true,
  success: {
    201: {
      description: 'Created',
      schema: StringRecord,
      headers: {
        Location: 'Path of the record',
        'Idempotency-Replayed': '`true` when an earlier call made the record',
      },
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

export const listStrings = operation({
  operationId: 'listStrings',
  area: 'A',
  method: 'GET',
  path: '/strings',
  summary: 'List strings',
  description:
    'Pages through the records, newest first. A page stays correct while records are added and deleted. It ends at ' +
    '`limit` records or 1 MB, whichever comes first: go by `nextCursor`, not by the count.',
  auth: 'optional',
  scope: 'strings:rw',
  query: Type.Object(
    {
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: STRING_LIMITS.pageMax, default: STRING_LIMITS.pageDefault }),
      ),
      cursor: Type.Optional(Type.String({ maxLength: 200, description: '`nextCursor` of the page before' })),
      order: Type.Optional(
        Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
          default: 'desc',
          description: 'By creation time; `desc` is newest first',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  success: { 200: { description: 'One page', schema: StringPage } },
  errors: ['VALIDATION_FAILED'],
})

export const getString = operation({
  operationId: 'getString',
  area: 'A',
  method: 'GET',
  path: '/strings/:id',
  summary: 'Get one string',
  description: 'Returns the record with this id.',
  auth: 'optional',
  scope: 'strings:rw',
  params: IdParams,
  success: { 200: { description: 'The record', schema: StringRecord } },
  errors: ['NOT_FOUND'],
})

export const deleteString = operation({
  operationId: 'deleteString',
  area: 'A',
  method: 'DELETE',
  path: '/strings/:id',
  summary: 'Delete one string',
  description: 'Deletes the record with this id. A second delete answers 404.',
  auth: 'optional',
  scope: 'strings:rw',
  params: IdParams,
  success: { 204: { description: 'Deleted', schema: null } },
  errors: ['NOT_FOUND'],
})

export const STRING_OPERATIONS: readonly Operation[] = [createString, listStrings, getString, deleteString]
