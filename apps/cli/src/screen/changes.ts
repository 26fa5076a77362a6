import type { HitChange } from '@ostiary/contract'
import type { ScreeningChange, ScreeningChanges } from '@ostiary/sdk'
import { explainShort, score } from './explain.ts'
import { type Line, type Look, layOut } from './hits-table.ts'
import { count, personOf } from './screening.ts'

const HEADER = ['CHANGE', 'ROW', 'SCORE', 'NAME', 'LISTED NAME', 'LIST, ENTRY', 'WHY']
const CAPS = [7, 20, 16, 24, 26, 20]
const UNKNOWN = '-'

/** One line per hit that is new, changed or gone. */
export function changesTable(changes: ScreeningChanges, look: Look): string {
  return layOut(HEADER, allOf(changes).map(lineOf), CAPS, look)
}

/** New ones first: they are what the reader looks for. */
export function allOf({ new: added, changed, gone }: ScreeningChanges): ScreeningChange[] {
  return [...added, ...changed, ...gone]
}

function lineOf({ change, row, match, score: now, earlierScore }: ScreeningChange): Line {
  const entry = match ? [match.name, `${match.dataset} ${match.entityId}`] : [UNKNOWN, UNKNOWN]
  const person = row ? [row.id, personOf(row)] : [UNKNOWN, '(not in this file)']
  return {
    cells: [change, person[0] ?? '', scores(earlierScore, now), person[1] ?? '', ...entry],
    why: match ? explainShort(match) : reasonWithoutMatch(change),
  }
}

function reasonWithoutMatch(change: HitChange): string {
  return change === 'gone' ? 'no longer a match' : 'beyond the entries that are shown for this row'
}

function scores(earlier: number | null, now: number | null): string {
  if (earlier === null || now === null || earlier === now) return score(now ?? earlier ?? 0)
  return `${score(earlier)}>${score(now)}`
}

/** One sentence. */
export function changesSummary({ since, new: added, gone, changed }: ScreeningChanges): string {
  if (!since) return 'There is no earlier run: the next one will be compared with this'
  const day = (since.completedAt ?? since.startedAt).slice(0, 10)
  const counts = `${count(added.length)} new, ${count(gone.length)} gone, ${count(changed.length)} changed`
  return `${counts} since run ${since.id} of ${day} (version ${since.version})`
}

/** What a script needs of a change. */
export function changeJson({ change, row, match, score: now, earlierScore, rowKey, entityKey }: ScreeningChange) {
  return {
    ...{ change, score: now, earlierScore, row: row ?? null },
    ...{ entityId: match?.entityId ?? null, listedName: match?.name ?? null, rowKey, entityKey },
  }
}
