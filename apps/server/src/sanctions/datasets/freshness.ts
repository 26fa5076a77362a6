import type { Clock } from '../../platform/clock.ts'
import type { DatasetFiles, DatasetId, LastCheck } from './files.ts'
import { knownPeriodMs } from './known.ts'

/** A list whose source was not checked with success for this many periods is stale. */
export const STALE_AFTER_PERIODS = 3

export interface Freshness {
  /** When the source last confirmed the version in service, or a person imported it. */
  checkedAt: Date
  isStale: boolean
}

/**
 * Counts from the last successful check and not from the last change: a list that its publisher left unchanged is fresh. A list of an
 * older release has no such time yet; its import counts.
 */
export function freshnessOf(
  dataset: DatasetId,
  { checked, importedAt }: { checked: LastCheck | null; importedAt: string },
  now: Date,
): Freshness {
  const checkedAt = checked?.at ?? new Date(importedAt)
  const periodMs = periodOf(dataset, checked)
  const ageMs = now.getTime() - checkedAt.getTime()
  return { checkedAt, isStale: periodMs !== null && ageMs > STALE_AFTER_PERIODS * periodMs }
}

/** A folder may be looked at every five minutes, but a public list is not stale after fifteen. */
function periodOf(dataset: DatasetId, checked: LastCheck | null): number | null {
  const known = knownPeriodMs(dataset)
  const stated = checked?.everyMs ?? null
  return known === null ? stated : Math.max(known, stated ?? 0)
}

/** The last check of a list is read from its file at most this often, however many files are screened. */
const READ_EVERY_MS = 2_000

export function createFreshnessReader(files: Pick<DatasetFiles, 'lastCheck'>, clock: Clock) {
  const read = new Map<string, { atMs: number; check: Promise<LastCheck | null> }>()

  function lastCheck(dataset: DatasetId): Promise<LastCheck | null> {
    const name = `${dataset.tenantId ?? ''}/${dataset.name}`
    const nowMs = clock.monotonicMs()
    let known = read.get(name)
    if (!known || nowMs - known.atMs >= READ_EVERY_MS) {
      known = { atMs: nowMs, check: files.lastCheck(dataset) }
      read.set(name, known)
    }
    return known.check
  }

  return async (dataset: DatasetId, importedAt: string): Promise<Freshness> =>
    freshnessOf(dataset, { checked: await lastCheck(dataset), importedAt }, clock.now())
}
