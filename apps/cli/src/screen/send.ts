import { type FileHandle, open } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SANCTIONS_LIMITS, type ScreenReply } from '@ostiary/contract'
import { type OstiaryClient, OstiaryError } from '@ostiary/sdk'
import { createPlanner, type Part, type Plan } from './parts.ts'
import { mergeReplies, type Screening } from './screening.ts'

export interface SendProgress {
  rows: number
  totalRows: number
  part: number
  parts: number
  /** Set while sending pauses: the reason and the remaining seconds. */
  pause?: { seconds: number; reason: string }
}

export interface SendOptions {
  client: OstiaryClient
  path: string
  dataset: string
  threshold: number | undefined
  version: string | undefined
  keepResults: boolean
  onProgress(progress: SendProgress): void
  limits?: { bytes: number }
  second?: () => Promise<unknown>
}

const LIMITS = { bytes: SANCTIONS_LIMITS.fileBytes }
const CHUNK_BYTES = 256 * 1024
/** If the service asks for a longer wait than this, the command fails instead of waiting. */
const PAUSE_MAX_SECONDS = 900
const PAUSES_MAX = 30
/** Retries per part, after the first part, while the service is unavailable. */
const ABSENCES_MAX = 4

/** Screens a file of any size. It sends the parts one after the other, all against one version of the dataset. */
export async function screenFile(options: SendOptions): Promise<Screening> {
  const { path, limits = LIMITS } = options
  const file = await open(path).catch((error) => {
    throw new Error(error.code === 'ENOENT' ? `There is no file ${path}` : `${path} cannot be read: ${error.message}`)
  })
  try {
    if ((await file.stat()).isDirectory()) throw new Error(`${path} is a folder: name the file in it`)
    const plan = await planFile(file, limits)
    const replies: { reply: ScreenReply; lineShift: number }[] = []
    let rows = 0
    for (const [index, part] of plan.parts.entries()) {
      const progress = { rows, totalRows: plan.rows, part: index + 1, parts: plan.parts.length }
      const version = replies[0]?.reply.summary.version ?? options.version
      const bytes = await readPart(file, plan, part)
      const reply = await sendPart(options, { bytes, version, progress }).catch((error) => {
        throw inFile(error, part)
      })
      replies.push({ reply: options.keepResults ? reply : slim(reply), lineShift: part.lineShift })
      rows += part.rows
      options.onProgress({ ...progress, rows })
    }
    return mergeReplies(basename(path), replies, options.keepResults)
  } finally {
    await file.close()
  }
}

async function planFile(file: FileHandle, limits: { bytes: number }): Promise<Plan> {
  const planner = createPlanner(limits)
  const chunk = Buffer.alloc(CHUNK_BYTES)
  for (let position = 0; ; ) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position)
    if (bytesRead === 0) return planner.end()
    planner.write(chunk.subarray(0, bytesRead))
    position += bytesRead
  }
}

async function readPart(file: FileHandle, { header }: Plan, { start, end }: Part): Promise<Uint8Array> {
  const bytes = Buffer.alloc(header.length + end - start)
  bytes.set(header)
  for (let at = header.length; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at - header.length)
    if (bytesRead === 0) throw new Error('The file became shorter while it was read')
    at += bytesRead
  }
  return bytes
}

interface Sending {
  bytes: Uint8Array
  version: string | undefined
  progress: SendProgress
}

async function sendPart(options: SendOptions, { bytes, version, progress }: Sending): Promise<ScreenReply> {
  const { client, path, dataset, threshold, onProgress, second = () => sleep(1_000) } = options
  let [pauses, absences] = [0, progress.part === 1 ? ABSENCES_MAX : 0]
  for (;;) {
    onProgress(progress)
    try {
      return await client.sanctions.screen({
        dataset,
        file: bytes,
        fileName: basename(path),
        ...(threshold !== undefined && { scoreThreshold: threshold }),
        ...(version !== undefined && { version }),
      })
    } catch (error) {
      const pause = pauseFor(error, absences)
      if (!pause || ++pauses > PAUSES_MAX) throw error
      if (pause.isAbsence) absences++
      for (let seconds = pause.seconds; seconds > 0; seconds--) {
        onProgress({ ...progress, pause: { seconds, reason: pause.reason } })
        await second()
      }
    }
  }
}

interface Pause {
  seconds: number
  reason: string
  isAbsence: boolean
}

/** How long to wait before the part is sent again, or undefined when a retry would not help. */
function pauseFor(error: unknown, absences: number): Pause | undefined {
  if (!(error instanceof OstiaryError)) return undefined
  const asked = error.retryAfterSeconds
  if (asked !== undefined && asked > PAUSE_MAX_SECONDS) return undefined
  if (error.status === 429) {
    const reason = error.code === 'TOO_MANY_FILES' ? 'other files are being screened' : 'rate limit reached'
    return { seconds: Math.max(1, Math.ceil(asked ?? 5)), reason, isAbsence: false }
  }
  if ((error.status !== 0 && error.status !== 503) || absences >= ABSENCES_MAX) return undefined
  const reason = error.status === 0 ? 'the service does not answer' : 'the service is not ready'
  return { seconds: Math.max(1, Math.ceil(asked ?? 2 ** absences)), reason, isAbsence: true }
}

/** Converts the line numbers in an error from the part to the file. */
function inFile(error: unknown, { lineShift }: Part): unknown {
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

/** Drops rows without a warning or a silenced entry: a file may have millions of rows. The summary holds the matches. */
function slim(reply: ScreenReply): ScreenReply {
  return { ...reply, results: reply.results.filter((row) => row.warnings.length > 0 || row.silenced !== undefined) }
}
