import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readSimpleCsv } from './simple-csv.ts'
import { newTally } from './source.ts'
import { collect, textSource } from './testing/sources.ts'

const OLD =
  'id,schema,name,aliases,birth_date,countries,addresses,identifiers,sanctions,phones,emails,dataset,first_seen,last_seen,last_change'
const NEW = OLD.replace('emails,', 'emails,program_ids,')
const read = (text: string, tally = newTally()) => collect(readSimpleCsv(textSource('targets.simple.csv', text), tally))

describe('readSimpleCsv', () => {
  test('reads 16 columns', async () => {
    const row =
      '"T-1","Company","Works ""Star""","A Works;""Works """"Moon""""; East""","1999;2001-02-03","de;at","","","""""","","","EX-1;EX-2","Example List;Other List","","",""'
    assert.deepEqual(await read(`${NEW}\n${row}\n`), [
      {
        id: 'T-1',
        schema: 'Company',
        names: [
          { text: 'Works "Star"', kind: 'name' },
          { text: 'A Works', kind: 'alias' },
          { text: 'Works "Moon"; East', kind: 'alias' },
        ],
        births: [
          { from: 19990101, to: 19991231, circa: false },
          { from: 20010203, to: 20010203, circa: false },
        ],
        countries: ['de', 'at'],
        topics: [],
        programs: ['EX-1', 'EX-2'],
        sourceUrl: null,
        datasets: ['Example List', 'Other List'],
      },
    ])
  })

  test('reads 15 columns, and takes the sanctions where there are no programmes', async () => {
    const [entity] = await read(`${OLD}\nT-1,Person,Ada Moon,,,,,,"""Notice; one"";Notice two",,,Example,,,\n`)
    assert.deepEqual(entity?.programs, ['Notice; one', 'Notice two'])
    assert.deepEqual(entity?.names, [{ text: 'Ada Moon', kind: 'name' }])
  })

  test('counts rows without a name', async () => {
    const tally = newTally()
    assert.deepEqual(await read(`${OLD}\nT-1,Person,"""""",,,,,,,,,,,,\n`, tally), [])
    assert.deepEqual(tally, { read: 1, skipped: { 'no name': 1 } })
  })

  test('fails on another header, a wrong count and a row without id', async () => {
    await assert.rejects(read('id,name\n'), { message: 'targets.simple.csv, line 1: the column "schema" is missing' })
    await assert.rejects(read(`${OLD}\nT-1,Person,Ada\n`), {
      message: 'targets.simple.csv, line 2: has 3 fields, the header 15',
    })
    await assert.rejects(read(`${OLD}\n\n,Person,Ada,,,,,,,,,,,,\n`), {
      message: 'targets.simple.csv, line 3: the entity has no id or no schema',
    })
  })
})
