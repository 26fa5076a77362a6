import type { RowResult, ScreenReply } from '@ostiary/contract'
import { SANCTIONS_LIMITS } from '@ostiary/contract/limits'
import { OstiaryError } from '../error.ts'
import { pause } from '../http.ts'
import { type OpenRun, openRun } from './changes.ts'
import { createMerging, type FileScreening } from './merge.ts'
import { type CutPart, cutParts, type Plan, planParts } from './parts.ts'
import type { RunsClient } from './runs.ts'
import { type ScreeningFile, sourceOf } from './source.ts'

export interface ScreenProgress {
  /** Rows that are screened. */
  rows: number
  /** Rows of the file; undefined for a stream, which is read once. */
  totalRows: number | undefined
  /** The part that is being sent, from 1. */
  part: number
  /** Undefined for a stream. */
  parts: number | undefined
  /** Set while sending pauses: the reason and the remaining seconds. */
  pause?: {
    /** How long it still takes. */
    seconds: number
    /** Why, in a sentence. */
    reason: string
  }
}

export interface ScreenAllOptions {
  /** Name of the dataset; `datasets()` lists them. */
  dataset: string
  /** The CSV, of any size. Streams are never held whole. */
  file: ScreeningFile
  /** Must end in `.csv`. Default: the file's own name, or `people.csv`. */
  fileName?: string
  /** The least score that counts as a match. Default 0.95. */
  scoreThreshold?: number
  /** An earlier version of the dataset, to repeat a check. */
  version?: string
  /** Whether `results` holds every row. Without it only rows that matched, were silenced or have a warning are kept in memory. */
  keepResults?: boolean
  /** Keep the run at the service, so that a later one can be compared with it. The tenant must keep runs (`screeningRunDays`). */
  run?: boolean
  /** Compare with an earlier run, and keep this one: the id of a run, or `last` for the newest of this dataset and series. */
  since?: string
  /** Your name for files that are compared with each other, such as `customers`. No personal data. */
  series?: string
  /** Called before and after each part, and every second of a wait. */
  onProgress?: (progress: ScreenProgress) => void
  /** Called for every row, in the order of the file. */
  onResult?: (row: RowResult) => void
  /** Bytes in one part, where something in between allows less than the service does. Default: what the service takes, 2 MB. */
  partBytes?: number
  /** Per attempt of one part. Default 60 seconds. */
  timeoutMs?: number
  /** Stops the call; it then rejects with the signal’s reason. */
  signal?: AbortSignal
}

export interface PartCall {
  dataset: string
  file: Uint8Array
  fileName: string
  scoreThreshold?: number
  version?: string
  timeoutMs?: number
  signal?: AbortSignal
  run?: string
  part?: number
}

interface Deps {
  /** Sends one part, without retries: here they are visible to the caller. */
  send(call: PartCall): Promise<ScreenReply>
  runs: RunsClient
  /** A second of waiting; tests do not wait. */
  second?: (signal: AbortSignal | undefined) => Promise<void>
}

/** If the service asks for a longer wait than this, the call fails instead of waiting. */
const PAUSE_MAX_SECONDS = 900
const PAUSES_MAX = 30
/** Retries per part, after the first part, while the service is unavailable. */
const ABSENCES_MAX = 4

/** Screens a file of any size. It sends the parts one after the other, all against one version of the dataset. */
export async function screenAll(options: ScreenAllOptions, deps: Deps): Promise<FileScreening> {
  const { dataset, series, since, signal } = options
  const source = sourceOf(options.file)
  const limits = { bytes: options.partBytes ?? SANCTIONS_LIMITS.fileBytes }
  const plan = source.isRepeatable ? await planParts(source.read(), limits) : undefined
  const isKept = options.run === true || since !== undefined
  const run = isKept ? await openRun(deps.runs, { dataset, series, since, signal }) : undefined
  try {
    const { screening, parts } = await sendAll(options, { ...deps, run, plan, chunks: cutParts(source.read(), limits) })
    return run ? { ...screening, ...(await run.complete(parts, screening.matched)) } : screening
  } catch (error) {
    await run?.abandon()
    throw error
  }
}

interface SendingAll extends Deps {
  run: OpenRun | undefined
  plan: Plan | undefined
  chunks: AsyncIterable<CutPart>
}

async function sendAll(
  options: ScreenAllOptions,
  { run, plan, chunks, ...deps }: SendingAll,
): Promise<{ screening: FileScreening; parts: number }> {
  const { file, onProgress, onResult, signal } = options
  const fileName = options.fileName ?? (typeof File !== 'undefined' && file instanceof File ? file.name : 'people.csv')
  const merging = createMerging(fileName, options.keepResults === true)
  let [rows, parts] = [0, 0]
  for await (const part of chunks) {
    const progress = { rows, totalRows: plan?.rows, part: ++parts, parts: plan?.parts.length }
    const version = merging.version() ?? options.version
    const call = {
      ...partCall(options, { fileName, part, version }),
      ...(run && { run: run.id, part: parts }),
    }
    const reply = await sendPart(call, { ...deps, progress, onProgress, signal }).catch((error) => {
      throw inFile(error, part)
    })
    merging.add(reply, part.lineShift)
    run?.add(reply)
    if (onResult) for (const row of reply.results) onResult(row)
    rows += part.rows
    onProgress?.({ ...progress, rows })
  }
  if (plan && plan.rows !== rows) throw new Error('The file changed while it was read: screen it again')
  return { screening: merging.end(), parts }
}

function partCall(
  { dataset, scoreThreshold, timeoutMs, signal }: ScreenAllOptions,
  { fileName, part, version }: { fileName: string; part: CutPart; version: string | undefined },
): PartCall {
  return {
    dataset,
    file: part.bytes,
    fileName,
    ...(scoreThreshold !== undefined && { scoreThreshold }),
    ...(version !== undefined && { version }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(signal && { signal }),
  }
}

interface Sending extends Omit<Deps, 'runs'> {
  progress: ScreenProgress
  onProgress: ScreenAllOptions['onProgress']
  signal: AbortSignal | undefined
}

async function sendPart(call: PartCall, sending: Sending): Promise<ScreenReply> {
  const { send, progress, onProgress, signal, second = aSecond } = sending
  let [pauses, absences] = [0, progress.part === 1 ? ABSENCES_MAX : 0]
  for (;;) {
    signal?.throwIfAborted()
    onProgress?.(progress)
    try {
      return await send(call)
    } catch (error) {
      const wait = pauseFor(error, absences)
      if (!wait || ++pauses > PAUSES_MAX) throw error
      if (wait.isAbsence) absences++
      for (let seconds = wait.seconds; seconds > 0; seconds--) {
        onProgress?.({ ...progress, pause: { seconds, reason: wait.reason } })
        await second(signal)
        signal?.throwIfAborted()
      }
    }
  }
}

const aSecond = (signal: AbortSignal | undefined) => pause(1_000, signal)

interface Wait {
  seconds: number
  reason: string
  isAbsence: boolean
}

const NOT_READY: readonly number[] = [502, 503, 504]

/** How long to wait before the part is sent again, or undefined when a retry would not help. */
function pauseFor(error: unknown, absences: number): Wait | undefined {
  if (!(error instanceof OstiaryError)) return undefined
  const asked = error.retryAfterSeconds
  if (asked !== undefined && asked > PAUSE_MAX_SECONDS) return undefined
  if (error.status === 429) {
    const reason = error.code === 'TOO_MANY_FILES' ? 'other files are being screened' : 'rate limit reached'
    return { seconds: Math.max(1, Math.ceil(asked ?? 5)), reason, isAbsence: false }
  }
  if ((error.status !== 0 && !NOT_READY.includes(error.status)) || absences >= ABSENCES_MAX) return undefined
  const reason = error.status === 0 ? 'the service does not answer' : 'the service is not ready'
  return { seconds: Math.max(1, Math.ceil(asked ?? 2 ** absences)), reason, isAbsence: true }
}

/** Converts the line numbers in an error from the part to the file. */
function inFile(error: unknown, { lineShift }: CutPart): unknown {
  if (!(error instanceof OstiaryError) || lineShift === 0) return error
  const shift = (message: string) => message.replace(/\bline (\d+)/g, (_, line) => `line ${Number(line) + lineShift}`)
  const { status, code, requestId, details } = error
  return new OstiaryError(status, {
    message: shift(error.message),
    code,
    details: details.map((detail) => ({ ...detail, message: shift(detail.message) })),
    ...(requestId !== undefined && { requestId }),
  } as ConstructorParameters<typeof OstiaryError>[1])
}
