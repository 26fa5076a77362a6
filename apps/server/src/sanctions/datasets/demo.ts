import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { INDEX_FORMAT, writeSnapshot } from '../engine/snapshot.ts'
import { readCustomCsv } from '../lists/custom-csv.ts'
import type { DatasetFiles, DatasetId } from './files.ts'
import { DEMO } from './known.ts'
import { verifySnapshot } from './verify.ts'

const DEMO_CSV = new URL('../../../demo/demo.csv', import.meta.url)
const DATASET: DatasetId = { name: DEMO, tenantId: null }
const KEPT = 2

interface Deps {
  clock: Clock
  ids: Ids
  log?: Log
}

/**
 * Puts the bundled list of invented people into service, so that a fresh installation can screen at once. Builds it from its
 * CSV, in milliseconds, when it is missing or when the CSV or the index format changed. Uses a temporary folder where the
 * folder of the datasets is not writable.
 */
export async function ensureDemo(files: DatasetFiles, deps: Deps): Promise<void> {
  try {
    await serveDemo(files, deps)
  } catch (err) {
    if (!isNotWritable(err)) throw err
    deps.log?.warn({ err }, 'the folder of the datasets is not writable')
    files.relocate(DEMO, await mkdtemp(join(tmpdir(), 'ostiary-demo-')))
    await serveDemo(files, deps)
  }
}

/** The same on every machine, so that documentation can quote it. */
export function demoVersion(csv: Uint8Array = readFileSync(DEMO_CSV)): string {
  return `${sha256(csv).slice(0, 8)}-${INDEX_FORMAT}`
}

async function serveDemo(files: DatasetFiles, { clock, ids }: Deps): Promise<void> {
  const csv = readFileSync(DEMO_CSV)
  const version = demoVersion(csv)
  if (!(await isWhole(files.pathOf(DATASET, version)))) await makeDemo(files, csv, version, { clock, ids })
  if ((await files.current(DATASET)) === version) return
  await files.putIntoService(DATASET, version)
  await files.prune(DATASET, KEPT)
}

async function makeDemo(files: DatasetFiles, csv: Buffer, version: string, { clock, ids }: Deps): Promise<void> {
  const draft = await files.draftOf(DATASET, version, ids.nextUnbound())
  const source = {
    name: 'demo.csv',
    bytes: csv.length,
    async *open() {
      yield csv
    },
  }
  try {
    await writeSnapshot(draft, readCustomCsv(source), {
      dataset: DEMO,
      version,
      title: 'Invented people, to try the service with',
      licence: 'Apache-2.0, as Ostiary itself',
      kind: 'other',
      createdAt: clock.now().toISOString(),
      sources: [{ name: 'demo.csv', sha256: sha256(csv) }],
      skipped: {},
    })
    await verifySnapshot(draft)
    await files.keep(draft, DATASET, version)
  } finally {
    await rm(draft, { force: true })
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

const NOT_WRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'])

function isNotWritable(error: unknown): boolean {
  return NOT_WRITABLE.has((error as NodeJS.ErrnoException).code ?? '')
}

async function isWhole(path: string): Promise<boolean> {
  return verifySnapshot(path).then(
    () => true,
    () => false,
  )
}
