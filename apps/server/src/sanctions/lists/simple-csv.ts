import { parseIsoBirth } from './births.ts'
import { countriesCoded } from './countries.ts'
import { readTable, splitMulti } from './csv-lines.ts'
import type { ListedEntity } from './listed.ts'
import { toListed } from './normalise.ts'
import { type ListSource, listError, newTally, skip, type Tally } from './source.ts'

/** What the file must have; `program_ids` came later and is read where it is. */
export const SIMPLE_COLUMNS = ['id', 'schema', 'name', 'aliases', 'birth_date', 'countries', 'sanctions', 'dataset']

/** Reads OpenSanctions' `targets.simple.csv`, the older form of 15 columns and the newer of 16, by its header. */
export async function* readSimpleCsv(source: ListSource, tally: Tally = newTally()): AsyncGenerator<ListedEntity> {
  const rows = readTable(source, (columns, line) => {
    const missing = SIMPLE_COLUMNS.find((column) => !columns.includes(column))
    if (missing) throw listError(source.name, line, `the column "${missing}" is missing`)
  })
  for await (const { line, get } of rows) {
    tally.read++
    const id = get('id').trim()
    const schema = get('schema').trim()
    if (id === '' || schema === '') throw listError(source.name, line, 'the entity has no id or no schema')
    const programs = splitMulti(get('program_ids')).filter((text) => text.trim() !== '')
    const listed = toListed({
      id,
      schema,
      names: [
        { text: get('name'), kind: 'name' },
        ...splitMulti(get('aliases')).map((text) => ({ text, kind: 'alias' as const })),
      ],
      births: splitMulti(get('birth_date')).flatMap((text) => parseIsoBirth(text) ?? []),
      countries: countriesCoded(splitMulti(get('countries'))),
      // The file has no topics: what an entry is on the list for is known by the list.
      topics: [],
      programs: programs.length > 0 ? programs : splitMulti(get('sanctions')),
      sourceUrl: null,
      datasets: splitMulti(get('dataset')),
    })
    if (listed) yield listed
    else skip(tally, 'no name')
  }
}
