import Type from 'typebox'
import { SANCTIONS_LIMITS } from './limits.ts'
import { type Operation, operation } from './operation.ts'
import { RUN_LIMITS } from './run-limits.ts'

const { pageDefault, pageMax } = SANCTIONS_LIMITS

export const RUN_STATES = ['OPEN', 'COMPLETE'] as const
export type RunState = (typeof RUN_STATES)[number]
export const HIT_CHANGES = ['new', 'gone', 'changed'] as const
export type HitChange = (typeof HIT_CHANGES)[number]

const runId = Type.String({ format: 'uuid', description: 'UUIDv7' })
const dataset = Type.String({ pattern: '^[a-z0-9_]{1,64}$', description: 'The dataset that the run checks' })
const SERIES =
  'Your name for files that are compared with each other, such as `customers`. Stored as it is: put no personal data into it'
const series = Type.String({ pattern: '^[a-z0-9._-]{1,64}$', description: SERIES })
const orNull = <T extends Type.TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

export const CreateRunBody = Type.Object(
  { dataset, series: Type.Optional(series) },
  { title: 'CreateRun', additionalProperties: false, examples: [{ dataset: 'demo', series: 'customers' }] },
)
export type CreateRunBody = Type.Static<typeof CreateRunBody>

export const CompleteRunBody = Type.Object(
  {
    parts: Type.Integer({ minimum: 1, maximum: RUN_LIMITS.parts, description: 'How many parts the file was sent in' }),
  },
  { title: 'CompleteRun', additionalProperties: false, examples: [{ parts: 3 }] },
)
export type CompleteRunBody = Type.Static<typeof CompleteRunBody>

const runExample = {
  id: '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa',
  state: 'COMPLETE',
  dataset: 'demo',
  series: 'customers',
  version: '392a6256-1',
  scorerVersion: '1',
  scoreThreshold: 0.95,
  parts: 3,
  rows: 120_000,
  hits: 41,
  startedAt: '2026-11-15T02:00:00.000Z',
  completedAt: '2026-11-15T02:01:12.000Z',
  deletedAt: '2027-11-15T02:01:12.000Z',
}

export const RunRecord = Type.Object(
  {
    id: runId,
    state: Type.Enum([...RUN_STATES], { description: 'Only a `COMPLETE` run can be compared' }),
    dataset,
    series: orNull(Type.String(), SERIES),
    version: orNull(Type.String(), 'The version of the dataset; null before the first part'),
    scorerVersion: orNull(Type.String(), 'The version of the matching rules; null before the first part'),
    scoreThreshold: orNull(Type.Number(), 'The threshold; null before the first part'),
    parts: Type.Integer({ description: 'Parts that have arrived' }),
    rows: Type.Integer({ description: 'Rows of these parts' }),
    hits: Type.Integer({ description: 'Pairs of a row and a listed entry at or above the threshold' }),
    startedAt: Type.String({ format: 'date-time', description: 'When it was begun' }),
    completedAt: orNull(Type.String({ format: 'date-time' }), 'null while the run is open'),
    deletedAt: Type.String({
      format: 'date-time',
      description: 'When it will be deleted, by the tenant’s setting `screeningRunDays` as it is now',
    }),
  },
  {
    title: 'ScreeningRun',
    examples: [runExample],
  },
)
export type RunRecord = Type.Static<typeof RunRecord>

const nextCursor = orNull(Type.String(), 'Send it back as `cursor` for the next page; null on the last page')
const pageCount = Type.Integer({ description: 'Number of `items` on this page' })

export const RunPage = Type.Object(
  { items: Type.Array(RunRecord, { description: 'The runs, newest first' }), count: pageCount, nextCursor },
  { title: 'ScreeningRunPage', examples: [{ items: [runExample], count: 1, nextCursor: null }] },
)
export type RunPage = Type.Static<typeof RunPage>

export const RunHit = Type.Object(
  {
    rowKey: Type.String({ description: 'Stands for the row: the `rowKey` of the answers for its parts' }),
    entityKey: Type.String({ description: 'Stands for the listed entry: the `entityKey` of the answers' }),
    score: orNull(Type.Number(), 'In this run; null when the hit is gone'),
    change: Type.Optional(
      Type.Enum([...HIT_CHANGES], {
        description:
          'Only with `since`. `new`: the earlier run had no such hit. `gone`: this run has it no more. `changed`: both have it, and its ' +
          'score, the name or birth date in the row, or what the list says about the entry is another',
      }),
    ),
    earlierScore: Type.Optional(
      orNull(Type.Number(), 'Only with `since`: in the earlier run; null when the hit is new'),
    ),
  },
  { title: 'ScreeningHit', description: 'A row and a listed entry, as keyed hashes: nothing of either is stored' },
)
export type RunHit = Type.Static<typeof RunHit>

export const RunHitPage = Type.Object(
  { items: Type.Array(RunHit, { description: 'The hits' }), count: pageCount, nextCursor },
  {
    title: 'ScreeningHitPage',
    examples: [
      {
        items: [
          {
            rowKey: 'Jm2aD0r1qY7cB3xLkV9s4A',
            entityKey: 'p8Xw0cZ5uT1eQ6nRfG2hYw',
            score: 1,
            change: 'new',
            earlierScore: null,
          },
        ],
        count: 1,
        nextCursor: null,
      },
    ],
  },
)
export type RunHitPage = Type.Static<typeof RunHitPage>

const RUNS = '/v2/open-sanctions/runs'
const shared = { area: 'B', auth: 'required', scope: 'sanctions:run' } as const
const RunParams = Type.Object({ id: Type.String({ description: 'Id of a run' }) })
const cursor = Type.Optional(Type.String({ maxLength: 200, description: '`nextCursor` of the page before' }))
const BODY_ERRORS = ['INVALID_JSON', 'VALIDATION_FAILED', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const

export const createRun = operation({
  ...shared,
  operationId: 'createRun',
  method: 'POST',
  path: RUNS,
  summary: 'Begin a run',
  description:
    'Extension: begins a run, whose hits are kept as keyed hashes so that a later run can be compared with it. Send each part of the file with ' +
    `\`run\` and \`part\`, then complete the run. A run that is not completed within ${RUN_LIMITS.openHours} hours is deleted. Only for tenants whose setting \`screeningRunDays\` is above 0.`,
  body: CreateRunBody,
  success: { 201: { description: 'Begun', schema: RunRecord } },
  errors: [...BODY_ERRORS, 'RUNS_NOT_KEPT', 'RUN_CONFLICT'],
})

export const completeRun = operation({
  ...shared,
  operationId: 'completeRun',
  method: 'POST',
  path: `${RUNS}/:id/complete`,
  summary: 'Complete a run',
  description:
    'Extension: says that all parts were sent. Refused while one is missing. A second call with the same number answers the same.',
  params: RunParams,
  body: CompleteRunBody,
  success: { 200: { description: 'Complete', schema: RunRecord } },
  errors: [...BODY_ERRORS, 'NOT_FOUND', 'RUN_CONFLICT'],
})

export const listRuns = operation({
  ...shared,
  operationId: 'listRuns',
  method: 'GET',
  path: RUNS,
  summary: 'List runs',
  description: 'Extension: pages through the runs that are kept, newest first. Go by `nextCursor`, not by the count.',
  query: Type.Object(
    {
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageMax, default: pageDefault })),
      cursor,
      dataset: Type.Optional(dataset),
      series: Type.Optional(series),
      state: Type.Optional(Type.Enum([...RUN_STATES])),
    },
    { additionalProperties: false },
  ),
  success: { 200: { description: 'One page', schema: RunPage } },
  errors: ['VALIDATION_FAILED'],
})

export const getRun = operation({
  ...shared,
  operationId: 'getRun',
  method: 'GET',
  path: `${RUNS}/:id`,
  summary: 'Read a run',
  description: 'Extension: one run, without its hits.',
  params: RunParams,
  success: { 200: { description: 'The run', schema: RunRecord } },
  errors: ['NOT_FOUND'],
})

export const deleteRun = operation({
  ...shared,
  operationId: 'deleteRun',
  method: 'DELETE',
  path: `${RUNS}/:id`,
  summary: 'Delete a run',
  description: 'Extension: deletes the run and its hits at once. A second delete answers 404.',
  params: RunParams,
  success: { 204: { description: 'Deleted', schema: null } },
  errors: ['NOT_FOUND'],
})

export const listRunHits = operation({
  ...shared,
  operationId: 'listRunHits',
  method: 'GET',
  path: `${RUNS}/:id/hits`,
  summary: 'List the hits of a run, or what changed since an earlier one',
  description:
    `Extension: the hits of a complete run as keyed hashes, at most ${RUN_LIMITS.hits.toLocaleString('en-US')} in all. With \`since\` only what differs from that earlier run of the same dataset; a call compares ${RUN_LIMITS.hitsPerComparison.toLocaleString('en-US')} hits of either run, so a page may be short or empty: go on while \`nextCursor\` is not null. ` +
    'The answers for the parts name each row’s `rowKey` and each match’s `entityKey`, so only you can say who it is.',
  params: RunParams,
  query: Type.Object(
    {
      since: Type.Optional(Type.String({ maxLength: 100, description: 'Id of an earlier run of the same dataset' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: RUN_LIMITS.hitsPageMax, default: pageMax })),
      cursor,
    },
    { additionalProperties: false },
  ),
  success: { 200: { description: 'One page, in the order of the keys', schema: RunHitPage } },
  errors: ['VALIDATION_FAILED', 'NOT_FOUND', 'RUN_CONFLICT'],
})

export const RUN_OPERATIONS: readonly Operation[] = [createRun, completeRun, listRuns, getRun, deleteRun, listRunHits]
