import type {
  CreateExceptionBody,
  DatasetList,
  ExceptionPage,
  ExceptionRecord,
  ScreenPeopleBody,
  ScreenReply,
} from '@ostiary/contract'
import { type CallOptions, idempotencyHeaders, type Send } from './http.ts'
import type { FileScreening } from './screening/merge.ts'
import { createRunsClient, type RunsClient } from './screening/runs.ts'
import { type PartCall, type ScreenAllOptions, screenAll } from './screening/screen-all.ts'
import { allPages } from './session-list.ts'

export interface ScreenOptions {
  /** Name of the dataset; `datasets()` lists them. */
  dataset: string
  /** The CSV with the columns `id`, `firstname`, `lastname` and `dob`. */
  file: Blob | Uint8Array | string
  /** Must end in `.csv`. Default: the file's own name, or `people.csv`. */
  fileName?: string
  /** The least score that counts as a match. Default 0.95. */
  scoreThreshold?: number
  /** An earlier version of the dataset, to repeat a check. */
  version?: string
  /** The open run that this file is a part of, and the number of the part. `screenAll` sets them. */
  run?: string
  /** The number of the part, from 1. */
  part?: number
  /** Per attempt. Default 60 seconds: a large file takes longer than other calls. */
  timeoutMs?: number
  /** Stops the call; it then rejects with the signal’s reason. */
  signal?: AbortSignal | undefined
}

export interface MatchOptions {
  /** Name of the dataset; `datasets()` lists them. */
  dataset: string
  /** One to 100 people. */
  people: ScreenPeopleBody['people']
  /** The least score that counts as a match. Default 0.95. */
  scoreThreshold?: number
  /** Stops the call; it then rejects with the signal’s reason. */
  signal?: AbortSignal | undefined
}

export interface CreateExceptionOptions extends CallOptions {
  /** Makes the call repeatable across restarts of your program. By default each call gets a new key. */
  idempotencyKey?: string
}

export interface ListExceptionsOptions extends CallOptions {
  /** How many on a page. */
  limit?: number
  /** `nextCursor` of the page before. */
  cursor?: string
  /** Only the exceptions of this row id. */
  recordId?: string
}

const SCREEN_TIMEOUT_MS = 60_000
const EXCEPTIONS = '/v2/open-sanctions/exceptions'

/** Area B. */
export function createSanctionsClient(send: Send) {
  const listExceptions = ({ signal, timeoutMs, ...query }: ListExceptionsOptions = {}): Promise<ExceptionPage> =>
    send({ operation: 'listExceptions', method: 'GET', path: EXCEPTIONS, query, signal, timeoutMs })

  const runs: RunsClient = createRunsClient(send)

  function screenOne(options: ScreenOptions | PartCall, more: { maxRetries?: number } = {}): Promise<ScreenReply> {
    const { dataset, scoreThreshold, version, timeoutMs, signal, run, part, ...upload } = options
    return send({
      operation: 'screenFile',
      method: 'POST',
      path: `/v2/open-sanctions/file/${encodeURIComponent(dataset)}`,
      query: { scoreThreshold, version, run, part },
      body: formWith(upload),
      timeoutMs: timeoutMs ?? SCREEN_TIMEOUT_MS,
      signal,
      ...more,
    })
  }

  return {
    /** Screens every row of a file of up to 2 MB. */
    screen: (options: ScreenOptions): Promise<ScreenReply> => screenOne(options),
    /**
     * Screens a file of any size: in parts, one after the other, all against one version of the dataset. It waits where the rate
     * limit asks for it, and says so to `onProgress`.
     */
    screenAll: (options: ScreenAllOptions): Promise<FileScreening> =>
      screenAll(options, { runs, send: (part) => screenOne(part, { maxRetries: 0 }) }),
    /** Runs that the tenant keeps, to compare one with an earlier one. */
    runs,
    /** Screens up to 100 people without a file. The answer is that of a file with these rows. */
    match({ dataset, people, scoreThreshold, signal }: MatchOptions): Promise<ScreenReply> {
      return send({
        operation: 'screenPeople',
        method: 'POST',
        path: `/v2/open-sanctions/match/${encodeURIComponent(dataset)}`,
        query: { scoreThreshold },
        body: { people },
        signal,
      })
    },
    /** The lists that can be checked, with their versions. */
    async datasets(options: CallOptions = {}): Promise<DatasetList['datasets']> {
      const call = { operation: 'listDatasets', method: 'GET', path: '/v2/open-sanctions/datasets' }
      const { datasets } = await send<DatasetList>({ ...options, ...call })
      return datasets
    },
    /** Entries that are not to be shown again for a row. */
    exceptions: {
      /** Leaves an entry out for a row, until a time that you name. */
      create: (
        body: CreateExceptionBody,
        { idempotencyKey, ...options }: CreateExceptionOptions = {},
      ): Promise<ExceptionRecord> =>
        send({
          ...options,
          operation: 'createException',
          method: 'POST',
          path: EXCEPTIONS,
          body,
          headers: idempotencyHeaders(idempotencyKey),
        }),
      /** One page of exceptions, newest first. */
      list: listExceptions,
      /** All exceptions, page by page. */
      all: (options: Omit<ListExceptionsOptions, 'cursor'> = {}): AsyncGenerator<ExceptionRecord> =>
        allPages((page) => listExceptions({ ...options, ...page })),
      /** Ends an exception: the entry is shown again. */
      delete: (id: string, options: CallOptions = {}): Promise<void> => {
        const path = `${EXCEPTIONS}/${encodeURIComponent(id)}`
        return send({ ...options, operation: 'deleteException', method: 'DELETE', path })
      },
    },
  }
}

function formWith({ file, fileName }: Pick<ScreenOptions, 'file' | 'fileName'>): FormData {
  const form = new FormData()
  // Bytes are copied, so that a retry sends what the first attempt sent.
  const blob = file instanceof Blob ? file : new Blob([typeof file === 'string' ? file : new Uint8Array(file)], CSV)
  form.append('file', blob, fileName ?? (blob instanceof File ? blob.name : 'people.csv'))
  return form
}
const CSV = { type: 'text/csv' }
