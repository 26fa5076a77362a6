import { calibrate } from '../engine/calibration.ts'
import { openList } from '../engine/open-list.ts'
import { scoreNames } from '../engine/pair.ts'
import { findMatches, type SearchableList } from '../engine/screen.ts'
import { BrokenSnapshot, checkRecords, openSnapshot, type SnapshotFacts } from '../engine/snapshot.ts'
import { readName } from '../names/tokens.ts'

/** A name must find its own entry with this score. */
const CANARY_SCORE = 0.99
const ROUNDING = 1e-4

/** All that is asked of a snapshot before people are screened with it: whole to the last byte, and it finds its own. */
export async function verifySnapshot(path: string): Promise<SnapshotFacts> {
  const { facts, index, recordsAt, recordsLength } = await openSnapshot(path)
  await checkRecords(path)
  const { dataset, version } = facts
  const list = openList({ dataset, version, index, records: { path, at: recordsAt, length: recordsLength } })
  try {
    for (const canary of facts.canaries) askCanary(list, canary)
  } finally {
    list.close()
  }
  return facts
}

function askCanary(list: SearchableList, { name: text, entityId }: SnapshotFacts['canaries'][number]): void {
  const name = readName(text)
  // "J. Vorberg" is too little to be sure even against itself; then it must reach what comparing it alone gives.
  const least = Math.min(CANARY_SCORE, calibrate(scoreNames(name, name)) - ROUNDING)
  if (least <= 0) return
  const found = findMatches(list, name, null, least).some(({ entity }) => list.record(entity).id === entityId)
  if (!found) throw new BrokenSnapshot(`The entry ${entityId} is not found by its own name`)
}
