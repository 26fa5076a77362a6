import type { ListedMatch, MatchedRecord } from '@ostiary/contract'
import type { ScreeningChanges } from '@ostiary/sdk'
import { allOf } from './changes.ts'
import { explainShort, score } from './explain.ts'
import type { Screening } from './screening.ts'

/**
 * Spreadsheets take a cell that begins with one of these for a formula; in some languages also with the full-width forms. Where the list
 * separator is a semicolon, a cell also begins after one inside our cell, and after a tab. Spaces in front do not help everywhere.
 */
const FORMULA = /(^|[;\t])([\s\u00a0]*)(?=[=+\-@＝＋－＠])|^(?=[\t\r\n])/g
/** Without a byte order mark Excel reads UTF-8 as the local code page and garbles names in other scripts. */
const BOM = '\ufeff'

type Cells = (record: MatchedRecord, match: ListedMatch) => string

const COLUMNS: readonly (readonly [string, Cells])[] = [
  ['row id', ({ id }) => id],
  ['line', ({ line }) => String(line)],
  ['firstname', ({ firstname }) => firstname],
  ['lastname', ({ lastname }) => lastname],
  ['dob', ({ dob }) => dob],
  ['score', (_, match) => score(match.score)],
  ['entity id', (_, { entityId }) => entityId],
  ['listed name', (_, { name }) => name],
  ['matched name', (_, { matchedName }) => matchedName],
  ['list', (_, { dataset }) => dataset],
  ['list version', (_, { listVersion }) => listVersion],
  ['birth dates', (_, { birthDate }) => birthDate.join('; ')],
  ['countries', (_, { countries }) => countries.join('; ')],
  ['programs', (_, { programs }) => programs.join('; ')],
  ['source url', (_, { sourceUrl }) => sourceUrl ?? ''],
  ['explanation', (_, match) => explainShort(match)],
]

/** `new` and `changed` since the earlier run. What is gone is no match, so it has no line. */
function changeColumn(changes: ScreeningChanges): readonly [string, Cells] {
  const keyOf = (rowKey?: string, entityKey?: string) => `${rowKey} ${entityKey}`
  const found = new Map(allOf(changes).map((hit) => [keyOf(hit.rowKey, hit.entityKey), hit.change]))
  return ['change', ({ rowKey }, { entityKey }) => found.get(keyOf(rowKey, entityKey)) ?? '']
}

/** One line per match, best first, for spreadsheets. Programs read `--json` instead. */
export function csvReport({ matched, changes }: Pick<Screening, 'matched' | 'changes'>): string {
  const columns = changes ? [...COLUMNS, changeColumn(changes)] : COLUMNS
  const rows = matched.flatMap((record) =>
    record.matches.map((match) => columns.map(([, cell]) => csvCell(cell(record, match)))),
  )
  const lines = [columns.map(([title]) => csvCell(title)), ...rows].map((cells) => `${cells.join(',')}\r\n`)
  return `${BOM}${lines.join('')}`
}

/** Quotes every cell, and puts an apostrophe before text that a spreadsheet would take for a formula. */
export function csvCell(text: string): string {
  const shown = text.replace(FORMULA, "$1'$2")
  return `"${shown.replaceAll('"', '""')}"`
}
