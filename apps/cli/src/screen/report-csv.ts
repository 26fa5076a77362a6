import type { ListedMatch, MatchedRecord } from '@ostiary/contract'
import { explainShort, score } from './explain.ts'
import type { Outcome } from './outcome.ts'

/** Spreadsheets read a cell that begins so as a formula; the wide forms too, in some languages. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
/** Without it Excel takes UTF-8 for the local code page, and names in other scripts are lost. */
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

/** One line per match, best first. For spreadsheets: a machine reads `--json`. */
export function csvReport({ matched }: Pick<Outcome, 'matched'>): string {
  const rows = matched.flatMap((record) =>
    record.matches.map((match) => COLUMNS.map(([, cell]) => csvCell(cell(record, match)))),
  )
  const lines = [COLUMNS.map(([title]) => csvCell(title)), ...rows].map((cells) => `${cells.join(',')}\r\n`)
  return `${BOM}${lines.join('')}`
}

/** Always in quotes; an apostrophe before what a spreadsheet would calculate. */
export function csvCell(text: string): string {
  const shown = FORMULA.test(text) ? `'${text}` : text
  return `"${shown.replaceAll('"', '""')}"`
}
