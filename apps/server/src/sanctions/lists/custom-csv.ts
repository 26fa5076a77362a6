import { createHash } from 'node:crypto'
import { parseIsoBirth } from './births.ts'
import { countriesCoded } from './countries.ts'
import { readTable, splitMulti, type TableRow } from './csv-lines.ts'
import type { BirthDate, ListedEntity } from './listed.ts'
import { firstWebAddress, toListed } from './normalise.ts'
import { type ListSource, listError, newTally, type Tally } from './source.ts'

const COLUMNS = [
  'id',
  'name',
  'firstname',
  'lastname',
  'aliases',
  'dob',
  'countries',
  'topics',
  'programs',
  'schema',
  'url',
]
const SCHEMAS = ['Person', 'LegalEntity', 'Organization', 'Company', 'PublicBody', 'Vessel', 'Airplane', 'Vehicle']

/** What is wrong with the columns of a tenant's list, if anything. */
export function customColumnsProblem(columns: readonly string[]): string | undefined {
  // Unknown columns are refused because a misspelt "alias" would silently lose every alias.
  const unknown = columns.find((column) => !COLUMNS.includes(column))
  if (unknown !== undefined) return `the column "${unknown}" is not one of ${COLUMNS.join(', ')}`
  const named = columns.includes('name') || (columns.includes('firstname') && columns.includes('lastname'))
  return named ? undefined : 'there is no column "name", nor "firstname" and "lastname"'
}

/**
 * Reads a tenant's own list. Unlike a published list, its author can correct it, so every error is refused with its line
 * instead of being skipped.
 */
export async function* readCustomCsv(source: ListSource, tally: Tally = newTally()): AsyncGenerator<ListedEntity> {
  const rows = readTable(source, (columns, line) => {
    const problem = customColumnsProblem(columns)
    if (problem) throw listError(source.name, line, problem)
  })
  const ids = new Set<string>()
  for await (const row of rows) {
    tally.read++
    const fail = (problem: string) => listError(source.name, row.line, problem)
    const id = row.get('id').trim() || idOf(row)
    if (ids.has(id)) throw fail('the id was used before')
    ids.add(id)
    const url = row.get('url').trim()
    const sourceUrl = firstWebAddress([url])
    if (url !== '' && sourceUrl === null) throw fail('the url is not an http or https address')
    const listed = toListed({
      id,
      schema: schemaOf(row, fail),
      names: [
        { text: nameOf(row), kind: 'name' },
        ...splitMulti(row.get('aliases')).map((text) => ({ text, kind: 'alias' as const })),
      ],
      births: birthsOf(row, fail),
      countries: countriesCoded(splitMulti(row.get('countries'))),
      topics: splitMulti(row.get('topics')),
      programs: splitMulti(row.get('programs')),
      sourceUrl,
      datasets: [],
    })
    if (!listed) throw fail('there is no name')
    yield listed
  }
}

/** A digest of the row's content, not its position: an exception must not pass to another person in a later file. */
function idOf(row: TableRow): string {
  const text = [nameOf(row), row.get('aliases'), row.get('dob'), row.get('schema')].join('\n')
  return `p-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}

function nameOf(row: TableRow): string {
  return row.get('name').trim() || `${row.get('firstname')} ${row.get('lastname')}`
}

function schemaOf(row: TableRow, fail: (problem: string) => Error): string {
  const wanted = row.get('schema').trim().toLowerCase()
  const schema = wanted === '' ? 'Person' : SCHEMAS.find((known) => known.toLowerCase() === wanted)
  if (schema === undefined) throw fail(`the schema is not one of ${SCHEMAS.join(', ')}`)
  return schema
}

function birthsOf(row: TableRow, fail: (problem: string) => Error): BirthDate[] {
  return splitMulti(row.get('dob')).flatMap((text) => {
    if (text.trim() === '') return []
    const birth = parseIsoBirth(text)
    if (!birth) throw fail('a dob is not a date such as 1962, 1962-03 or 1962-03-04')
    return birth
  })
}
