import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, listFtm, parseFtm, parseJson } from './ftm.ts'
import { readLines } from './lines.ts'
import type { ListedEntity } from './listed.ts'
import { fileSource, type ListSource, listError, newTally, type Tally } from './source.ts'

/** A version is used as the name of a folder, so only OpenSanctions' own format is accepted. */
const VERSION = /^\d{14}-[a-z0-9]+$/

/**
 * The delta files from version `since` to the newest version in `<dir>/delta.json`, oldest first. It does not follow the
 * addresses in delta.json: the operator downloads each file to `<dir>/<version>/entities.delta.json`. Versions without changes
 * are not in delta.json, so `since` may be missing there. If `since` is older than the oldest version, there may be a gap:
 * then it fails, and the full list must be imported.
 */
export async function findDeltas(dir: string, since: string): Promise<ListSource[]> {
  const file = join(dir, 'delta.json')
  const index: unknown = parseJson(file, 1, await readFile(file, 'utf8'))
  if (!isObject(index) || !isObject(index.versions)) throw listError(file, 1, 'names no versions')
  // OpenSanctions names the newest first. A version begins with its time, so that sorting puts them in order.
  const versions = Object.keys(index.versions).sort()
  const strange = versions.find((version) => !VERSION.test(version))
  if (strange !== undefined) throw listError(file, 1, 'a version is not of the form 20240527134702-zbn')
  const [oldest] = versions
  if (oldest === undefined || !VERSION.test(since) || since < oldest)
    throw listError(file, 1, `the chain does not reach back to ${since}: load the whole list`)
  const later = versions.filter((version) => version > since)
  return Promise.all(later.map((version) => fileSource(join(dir, version, 'entities.delta.json'))))
}

/**
 * The base with the deltas applied in their order. Only what changed is held in memory. A changed entity takes the place
 * of the old one; new ones come last. ADD and MOD both set the entity, so that a delta may be applied twice.
 */
export async function* readFtmWithDeltas(
  base: ListSource,
  deltas: readonly ListSource[],
  tally: Tally = newTally(),
): AsyncGenerator<ListedEntity> {
  const changed = new Map<string, ListedEntity | null>()
  for (const delta of deltas) await readDelta(delta, changed, tally)
  for await (const lines of readLines(base)) {
    for (const { line, text } of lines) {
      const entity = parseFtm(parseJson(base.name, line, text), base.name, line)
      const replaced = changed.get(entity.id)
      // Marked as deleted: a base that repeats an id must not restore the old entity.
      if (replaced) changed.set(entity.id, null)
      const listed = replaced === undefined ? listFtm(entity, tally) : replaced
      if (listed) yield listed
    }
  }
  for (const added of changed.values()) if (added) yield added
}

async function readDelta(delta: ListSource, changed: Map<string, ListedEntity | null>, tally: Tally): Promise<void> {
  for await (const lines of readLines(delta)) {
    for (const { line, text } of lines) {
      const change = parseJson(delta.name, line, text)
      if (!isObject(change) || !isObject(change.entity)) throw listError(delta.name, line, 'is not a change')
      if (change.op === 'ADD' || change.op === 'MOD') {
        const entity = parseFtm(change.entity, delta.name, line)
        changed.set(entity.id, listFtm(entity, tally))
      } else if (change.op === 'DEL' && typeof change.entity.id === 'string') {
        changed.set(change.entity.id, null)
      } else throw listError(delta.name, line, 'has no operation ADD, MOD or DEL')
    }
  }
}
