/**
 * The process that builds a snapshot from a list. It is separate because it needs gigabytes for minutes and reads untrusted
 * files: a crash here does not affect the process that screens people. It receives no settings and no secrets.
 */
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { systemClock } from '../../platform/clock.ts'
import { checkRecords, readRecords, type SnapshotFacts, writeSnapshot } from '../engine/snapshot.ts'
import type { ListedEntity } from '../lists/listed.ts'
import { type ListFormat, type ListProgress, readList } from '../lists/read-list.ts'
import { fileSource, type ListSource } from '../lists/source.ts'
import { verifySnapshot } from './verify.ts'

interface FromFiles {
  format: ListFormat
  files: { path: string; sha256: string }[]
}

interface FromSnapshot {
  snapshot: string
  entries: number
}

export interface BuildJob {
  /** The path of the snapshot to write. */
  draft: string
  /** The path of the next `current.json`, which the parent process writes. */
  draftOfCurrent: string
  from: FromFiles | FromSnapshot
  facts: Omit<SnapshotFacts, 'entries' | 'names' | 'words' | 'canaries' | 'format'>
}

export interface BuildProgress {
  stage: 'reading' | 'indexing' | 'checking'
  bytes: number
  totalBytes: number | null
  entities: number
}

export type FromBuild =
  | { kind: 'progress'; progress: BuildProgress }
  | { kind: 'done'; facts: SnapshotFacts }
  | { kind: 'failed'; name: string; message: string }

const REPORT_EVERY_MS = 100
/** A `LegalEntity` may be a person: lists use it where the kind is unknown. */
const SCREENED = new Set(['Person', 'LegalEntity'])

type Report = (change: Partial<BuildProgress>) => void

async function build({ draft, from, facts }: BuildJob): Promise<SnapshotFacts> {
  const progress: BuildProgress = { stage: 'reading', bytes: 0, totalBytes: null, entities: 0 }
  const report: Report = (change) => sendProgress(Object.assign(progress, change))
  const entities = 'snapshot' in from ? recordsOf(from, report) : listOf(from, facts.skipped, report)
  const made = await writeSnapshot(draft, untilRead(entities, report), facts)
  // A tenant may empty its own list. A published list without people is the wrong file.
  if (made.entries === 0 && 'format' in from && from.format !== 'custom-csv') throw new Error('Nobody is on the list')
  report({ stage: 'checking' })
  return verifySnapshot(draft)
}

async function* untilRead(entities: AsyncIterable<ListedEntity>, report: Report): AsyncGenerator<ListedEntity> {
  yield* entities
  report({ stage: 'indexing' })
}

async function* recordsOf({ snapshot, entries }: FromSnapshot, report: Report): AsyncGenerator<ListedEntity> {
  await checkRecords(snapshot)
  let count = 0
  for await (const entity of readRecords(snapshot)) {
    yield entity
    // There are no bytes to count here, so the progress counts entries.
    report({ entities: ++count, bytes: count, totalBytes: entries })
  }
}

async function* listOf(
  { format, files }: FromFiles,
  skipped: Record<string, number>,
  report: Report,
): AsyncGenerator<ListedEntity> {
  let notPersons = 0
  const onProgress = ({ bytes, totalBytes, entities, skipped: unread }: ListProgress) => {
    Object.assign(skipped, unread)
    report({ bytes, totalBytes, entities })
  }
  for await (const entity of readList({ format, files: await Promise.all(files.map(sameFile)), onProgress })) {
    if (SCREENED.has(entity.schema)) yield entity
    else notPersons++
  }
  if (notPersons > 0) skipped['not a person'] = notPersons
}

/** Checks that the indexed bytes are those whose checksum the snapshot stores. */
async function sameFile({ path, sha256 }: FromFiles['files'][number]): Promise<ListSource> {
  const source = await fileSource(path)
  return {
    ...source,
    async *open() {
      const hash = createHash('sha256')
      for await (const chunk of source.open()) {
        hash.update(chunk)
        yield chunk
      }
      if (hash.digest('hex') !== sha256) throw new Error(`${path}: changed while it was read`)
    },
  }
}

let lastReport = Number.NEGATIVE_INFINITY
let lastStage = ''
function sendProgress(progress: BuildProgress): void {
  const now = systemClock.monotonicMs()
  if (progress.stage === lastStage && now - lastReport < REPORT_EVERY_MS) return
  lastReport = now
  lastStage = progress.stage
  send({ kind: 'progress', progress })
}

/** A message that cannot be delivered is not an error: the 'disconnect' handler below ends the process. */
function send(message: FromBuild): void {
  process.send?.(message, undefined, undefined, () => undefined)
}

process.once('message', (job: BuildJob) => {
  // The parent process has ended, so no process would rename its drafts or clean up.
  process.once('disconnect', () => process.exit())
  process.once('exit', () => {
    for (const draft of [job.draft, job.draftOfCurrent]) rmSync(draft, { force: true })
  })
  build(job).then(
    (facts) => send({ kind: 'done', facts }),
    ({ name, message }: Error) => send({ kind: 'failed', name, message }),
  )
})
