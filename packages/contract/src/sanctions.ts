import Type from 'typebox'
import { RATES, type Rate, SANCTIONS_LIMITS } from './limits.ts'
import { NAME_MATCH_KINDS, ROW_WARNINGS } from './match-words.ts'
import { type Operation, operation } from './operation.ts'
import { RUN_LIMITS } from './run-limits.ts'

const { scoreThresholdDefault, fieldChars, peoplePerMatch } = SANCTIONS_LIMITS

/** The specification's own words, so the server checks the number itself instead of leaving it to the schema. */
export const SCORE_THRESHOLD_MESSAGE = 'scoreThreshold must be between 0 and 1'

/**
 * Answers have up to a million rows. Written with a plain `type` these fields are serialised without a validator run per
 * row, which a union would cost.
 */
const oneOf = <const T extends readonly string[]>(values: T, description: string) =>
  Type.Unsafe<T[number]>(Type.String({ enum: [...values], description }))
const numberOrNull = (description: string) => Type.Unsafe<number | null>({ type: ['number', 'null'], description })

const texts = (description: string) => Type.Array(Type.String(), { description })
const entityId = Type.String({ description: 'The list’s own id of the entry' })
const score = Type.Number({ minimum: 0, maximum: 1, description: 'How alike, 0 to 1' })
const rowKey = Type.Optional(
  Type.String({ description: 'Extension: stands for the row in the hits of the run; only with `run`' }),
)
const warnings = Type.Array(
  oneOf(
    ROW_WARNINGS,
    '`INVALID_DOB`: not written `YYYY-MM-DD`, `YYYY-MM` or `YYYY`, or no date from 1850 to 2100, so only the name was compared. `PARTIAL_DOB`: a year or a month, ' +
      'compared as such. `EMPTY_NAME`: neither first nor last name. `MISSING_FIELDS`: the row ends before all four columns. ' +
      '`NAME_NOT_COMPARABLE`: initials or signs only, so it was compared with nobody. `STALE_EXCEPTION`: an exception for this id names another person, so it does not hold',
  ),
  { description: 'Extension: what is odd about the row' },
)

const STALE =
  'Extension: true when the source of the list was not checked with success for three times its period, so that newly listed ' +
  'people may be missing; of a collection, when that is so for one of its lists'

/** The four columns as they stand in the file, spaces included. */
const echo = {
  id: Type.String({ description: 'Your own id of the row' }),
  firstname: Type.String({ description: 'As in the file' }),
  lastname: Type.String({ description: 'As in the file' }),
  dob: Type.String({ description: 'As in the file; may be empty' }),
}

export const MatchExplanation = Type.Object(
  {
    nameScore: Type.Number({ description: 'The score of the name alone' }),
    name: Type.Array(
      Type.Object({
        query: Type.String({ description: 'A word of the row’s name' }),
        listed: Type.String({ description: 'The word of the listed name it was paired with' }),
        kind: oneOf(NAME_MATCH_KINDS, 'How the two agree'),
        similarity: Type.Number({ description: '0 to 1' }),
      }),
      { description: 'The words that were paired' },
    ),
    unmatchedQuery: texts('Words of the row’s name without a partner'),
    unmatchedListed: texts('Words of the listed name without a partner'),
    notes: texts('Sentences for the person who reviews the match'),
    dob: Type.Object(
      {
        effect: Type.Number({ description: 'What the birth date added to the score; negative when it speaks against' }),
        kind: Type.String({ description: 'How the dates compare' }),
        text: Type.String({ description: 'The same as a sentence' }),
      },
      { description: 'What the birth dates say' },
    ),
  },
  { title: 'MatchExplanation', description: 'Extension: why the entry has its score' },
)
export type MatchExplanation = Type.Static<typeof MatchExplanation>

export const ListedMatch = Type.Object(
  {
    entityId,
    name: Type.String({ description: 'The name the entry is known by' }),
    matchedName: Type.String({ description: 'The name or alias that matched' }),
    score,
    birthDate: texts('As far as the list knows them: `1958-04-03`, `1958-04`, `1958`'),
    countries: texts('Lower-case ISO 3166 codes where the list gives them'),
    topics: texts('OpenSanctions topics such as `sanction` or `role.pep`'),
    programs: texts('Programmes or legal bases as the list names them'),
    sourceUrl: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'The entry at its publisher' }),
    dataset: Type.String({ description: 'The list the entry is on' }),
    listVersion: Type.String({ description: 'The version of that list' }),
    explanation: MatchExplanation,
    entityKey: Type.Optional(
      Type.String({ description: 'Extension: stands for the entry in the hits of the run; only with `run`' }),
    ),
  },
  { title: 'ListedMatch' },
)
export type ListedMatch = Type.Static<typeof ListedMatch>

export const MatchedRecord = Type.Object(
  {
    ...echo,
    score: Type.Number({ minimum: 0, maximum: 1, description: 'The score of the best match' }),
    match: oneOf(['true'], 'Always `true` here'),
    dataset: Type.String({ description: 'The list of the best match' }),
    line: Type.Integer({
      description: 'Extension: the line of the file on which the row begins, or the place in `people`; the first is 1',
    }),
    matches: Type.Array(ListedMatch, {
      description: `Extension: entries at or above the threshold, best first, at most ${SANCTIONS_LIMITS.matchesPerRow}`,
    }),
    moreMatches: Type.Optional(Type.Integer({ description: 'Extension: how many more entries there are' })),
    rowKey,
  },
  { title: 'MatchedRecord' },
)
export type MatchedRecord = Type.Static<typeof MatchedRecord>

export const SilencedMatch = Type.Object(
  {
    entityId,
    score,
    exceptionId: Type.String({ format: 'uuid', description: 'The exception' }),
    reason: Type.String({ description: 'As given with the exception' }),
    expiresAt: Type.String({ format: 'date-time', description: 'When the exception ends' }),
  },
  { title: 'SilencedMatch', description: 'An entry that would have matched but for an exception' },
)
export type SilencedMatch = Type.Static<typeof SilencedMatch>

export const RowResult = Type.Object(
  {
    ...echo,
    match: oneOf(['true', 'false'], 'A string, as the specification has it'),
    score: numberOrNull('Extension: the best score that was computed; null when no entry came near'),
    warnings,
    silenced: Type.Optional(
      Type.Array(SilencedMatch, { description: 'Extension: entries left out because of an exception' }),
    ),
    rowKey,
  },
  { title: 'RowResult' },
)
export type RowResult = Type.Static<typeof RowResult>

export const ScreenReply = Type.Object(
  {
    summary: Type.Object(
      {
        total: Type.Integer({ description: 'Number of records processed' }),
        matched: Type.Object(
          {
            count: Type.Integer({ description: 'Number of matched records' }),
            records: Type.Array(MatchedRecord, { description: 'The records that matched' }),
            truncated: Type.Optional(
              Type.Boolean({
                description: 'Extension: true when rows beyond the first 5,000 matched ones show only their best match',
              }),
            ),
          },
          { description: 'What was found' },
        ),
        dataset: Type.String({ description: 'The dataset that was checked' }),
        version: Type.String({ description: 'Extension: its version; send it as `version` to repeat this check' }),
        scorerVersion: Type.String({ description: 'Extension: the version of the matching rules' }),
        scoreThreshold: Type.Number({ description: 'Extension: the threshold that was used' }),
        runId: Type.String({ description: 'Extension: the name of this check, for your records' }),
        warnings: Type.Integer({ description: 'Extension: number of records with a warning' }),
        stale: Type.Boolean({ description: STALE }),
      },
      { description: 'The file as a whole' },
    ),
    results: Type.Array(RowResult, { description: 'One entry per record, in the order of the file' }),
  },
  {
    title: 'ScreenReply',
    examples: [
      {
        summary: {
          total: 1,
          matched: { count: 0, records: [] },
          dataset: 'demo',
          version: '2026-11-15',
          scorerVersion: '1',
          scoreThreshold: scoreThresholdDefault,
          runId: '019f1c2e-7a40-7b3c-8f00-5d2b9c41e6aa',
          warnings: 0,
          stale: false,
        },
        results: [
          {
            id: '0017',
            firstname: 'Ana',
            lastname: 'Example',
            dob: '1990-05-04',
            match: 'false',
            score: null,
            warnings: [],
          },
        ],
      },
    ],
  },
)
export type ScreenReply = Type.Static<typeof ScreenReply>

export const Dataset = Type.Object(
  {
    name: Type.String({ description: 'Names the list in calls' }),
    title: Type.String({ description: 'Its name for people' }),
    entries: Type.Integer({ description: 'Number of listed people and organisations' }),
    version: Type.String({ description: 'The version in use' }),
    updatedAt: Type.String({ format: 'date-time', description: 'When that version was imported' }),
    licence: Type.String({ description: 'On what terms the publisher gives the data' }),
    kind: oneOf(['list', 'collection'], 'A collection is checked as all its members together'),
    members: Type.Optional(texts('Names of the lists in a collection')),
    stale: Type.Boolean({ description: STALE }),
    versions: texts('Versions that can be checked again with `version`, newest first'),
  },
  { title: 'Dataset' },
)
export type Dataset = Type.Static<typeof Dataset>

export const DatasetList = Type.Object(
  { datasets: Type.Array(Dataset, { description: 'The lists that can be checked' }) },
  { title: 'DatasetList' },
)
export type DatasetList = Type.Static<typeof DatasetList>

const scoreThreshold = Type.Optional(
  Type.Number({
    exclusiveMinimum: 0,
    maximum: 1,
    default: scoreThresholdDefault,
    description: 'The least score that counts as a match',
  }),
)

const DatasetParams = Type.Object({
  dataset: Type.String({ pattern: '^[a-z0-9_]{1,64}$', description: 'Name of a dataset, for example `demo`' }),
})

const perMinute = ({ perSecond }: Rate) => Math.round(perSecond * 60)
const FILES = RATES.sanctions
const FILES_NOTE =
  `Files: ${perMinute(FILES.live)} a minute with a live key, ${perMinute(FILES.test)} with a test key, ${perMinute(FILES.anonymous)} without a key; ` +
  `single people go to /v2/open-sanctions/match/{dataset}, ${RATES['sanctions-match'].live.perSecond} calls a second`

export const screenFile = operation({
  operationId: 'screenFile',
  area: 'B',
  method: 'POST',
  path: '/v2/open-sanctions/file/:dataset',
  summary: 'Screen a CSV of people',
  description:
    'Compares every row of the file with the entries of the dataset. The file is UTF-8 text of at most 2 MB ' +
    '(2,097,152 bytes), with any number of rows; its first line names the columns `id`, `firstname`, `lastname` and `dob` in any order, other columns are ' +
    'ignored. Columns are separated by commas, semicolons or tabs. Files of callers without a key are not stored.',
  auth: 'optional',
  scope: 'sanctions:run',
  rateNote: FILES_NOTE,
  params: DatasetParams,
  query: Type.Object(
    {
      scoreThreshold,
      version: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 2_000,
          description: 'Extension: an earlier version of the dataset, to repeat a check; the current one when absent',
        }),
      ),
      run: Type.Optional(
        Type.String({
          format: 'uuid',
          description: 'Extension: the open run that this file is a part of; needs a key',
        }),
      ),
      part: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: RUN_LIMITS.parts,
          description:
            'Extension: the number of the part in the run, 1 when absent. A part that is sent again replaces what it had sent',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  body: Type.Object(
    {
      file: Type.String({
        format: 'binary',
        contentMediaType: 'text/csv',
        description: 'A file whose name ends in `.csv`',
      }),
    },
    { title: 'ScreenForm' },
  ),
  bodyTypes: ['multipart/form-data'],
  success: { 200: { description: 'The results', schema: ScreenReply } },
  errors: [
    'VALIDATION_FAILED',
    'NO_FILE',
    'NOT_A_CSV_FILE',
    'MISSING_CSV_HEADERS',
    'INVALID_CSV',
    'UNKNOWN_DATASET',
    'PAYLOAD_TOO_LARGE',
    'FILE_TOO_LARGE',
    'FILE_TOO_COSTLY',
    'UNSUPPORTED_MEDIA_TYPE',
    'TOO_MANY_FILES',
    'DATASET_UNAVAILABLE',
    'NOT_FOUND',
    'RUNS_NOT_KEPT',
    'RUN_CONFLICT',
  ],
})

const personField = (description: string) => Type.Optional(Type.String({ maxLength: fieldChars, description }))

export const ScreenPeopleBody = Type.Object(
  {
    people: Type.Array(
      Type.Object(
        {
          id: personField('Your own name for the record; comes back'),
          firstname: personField('First name'),
          lastname: personField('Last name'),
          dob: personField('Date of birth, `YYYY-MM-DD`, `YYYY-MM` or `YYYY`'),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: peoplePerMatch, description: 'Each is checked by itself' },
    ),
  },
  {
    title: 'ScreenPeople',
    additionalProperties: false,
    examples: [{ people: [{ id: '0017', firstname: 'Vardo', lastname: 'Quellmar', dob: '1961-04-17' }] }],
  },
)
export type ScreenPeopleBody = Type.Static<typeof ScreenPeopleBody>

export const screenPeople = operation({
  operationId: 'screenPeople',
  area: 'B',
  method: 'POST',
  path: '/v2/open-sanctions/match/:dataset',
  summary: 'Screen one person, or up to a hundred',
  description:
    'Extension: the same check as for the rows of a file, with the same answer, for people in JSON. `line` of a matched record is the place in `people`, from 1.',
  auth: 'optional',
  scope: 'sanctions:run',
  rateNote: `Calls: ${RATES['sanctions-match'].live.perSecond} a second with a live key, ${RATES['sanctions-match'].test.perSecond} with a test key, ${perMinute(RATES['sanctions-match'].anonymous)} a minute without a key; each may have up to ${peoplePerMatch} people`,
  params: DatasetParams,
  query: Type.Object({ scoreThreshold }, { additionalProperties: false }),
  body: ScreenPeopleBody,
  success: { 200: { description: 'The results', schema: ScreenReply } },
  errors: [
    'INVALID_JSON',
    'VALIDATION_FAILED',
    'UNKNOWN_DATASET',
    'PAYLOAD_TOO_LARGE',
    'FILE_TOO_COSTLY',
    'UNSUPPORTED_MEDIA_TYPE',
    'TOO_MANY_FILES',
    'DATASET_UNAVAILABLE',
  ],
})

export const listDatasets = operation({
  operationId: 'listDatasets',
  area: 'B',
  method: 'GET',
  path: '/v2/open-sanctions/datasets',
  summary: 'List the datasets',
  description: 'Names, sizes and versions of the datasets a file can be checked against. Your own lists need your key.',
  auth: 'optional',
  scope: 'sanctions:run',
  success: { 200: { description: 'All datasets', schema: DatasetList } },
  errors: [],
})

export const SANCTIONS_OPERATIONS: readonly Operation[] = [screenFile, screenPeople, listDatasets]
