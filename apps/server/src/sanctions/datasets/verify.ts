import { calibrate } from '../engine/calibration.ts'
import { openList } from '../engine/open-list.ts'
import { scoreNames } from '../engine/pair.ts'
import { findMatches, type SearchableList } from '../engine/screen.ts'
import { BrokenSnapshot, checkRecords, openSnapshot, type SnapshotFacts } from '../engine/snapshot.ts'
import { readName } from '../names/tokens.ts'

/** A name must find its own entry with this score. */
const CANARY_SCORE = 0.99
const ROUNDING = 1e-4

/** The checks before a snapshot is put into service: all bytes match their checksums, and its canaries are found. */
export async function verifySnapshot(path: string): Promise<SnapshotFacts> {
  const { facts, index, expansions, recordsAt, recordsLength } = await openSnapshot(path)
  await checkRecords(path)
  const { dataset, version } = facts
  const list = openList({
    dataset,
    version,
    index,
    expansions,
    records: { path, at: recordsAt, length: recordsLength },
  })
  try {
    for (const canary of facts.canaries) checkCanary(list, canary)
  } finally {
    list.close()
  }
  return facts
}

function checkCanary(list: SearchableList, { name: text, entityId }: SnapshotFacts['canaries'][number]): void {
  const name = readName(text)
  // "J. Vorberg" does not reach this score even against itself. Such a name must reach its own score.
  const scoreMin = Math.min(CANARY_SCORE, calibrate(scoreNames(name, name)) - ROUNDING)
  if (scoreMin <= 0) return
  const found = findMatches(list, name, null, scoreMin).some(({ entity }) => list.record(entity).id === entityId)
  if (!found) throw new BrokenSnapshot(`The entry ${entityId} is not found by its own name`)
}
