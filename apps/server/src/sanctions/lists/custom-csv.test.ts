import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readCustomCsv } from './custom-csv.ts'
import { collect, textSource } from './testing/sources.ts'

const read = (text: string) => collect(readCustomCsv(textSource('own.csv', text)))

describe('readCustomCsv', () => {
  test('reads every column', async () => {
    const text =
      'ID,Name,Aliases,DOB,Countries,Topics,Programs,Schema,URL\nc-7,Ada Moon,"Moonie; Ada ""Nib"" Moon",1962-03;1963,FR;Germany,fraud,House rule,legalentity,https://lists.example/7\n'
    assert.deepEqual(await read(text), [
      {
        id: 'c-7',
        schema: 'LegalEntity',
        names: [
          { text: 'Ada Moon', kind: 'name' },
          { text: 'Moonie', kind: 'alias' },
          { text: 'Ada "Nib" Moon', kind: 'alias' },
        ],
        births: [
          { from: 19620301, to: 19620331, circa: false },
          { from: 19630101, to: 19631231, circa: false },
        ],
        countries: ['fr', 'de'],
        topics: ['fraud'],
        programs: ['House rule'],
        sourceUrl: 'https://lists.example/7',
        datasets: [],
      },
    ])
  })

  test('needs no more than a name', async () => {
    const entities = await read('firstName,lastName\r\nAda,Moon\r\n\r\n,Sunn\r\n')
    assert.deepEqual(
      entities.map(({ schema, names }) => [schema, names[0]?.text]),
      [
        ['Person', 'Ada Moon'],
        ['Person', 'Sunn'],
      ],
    )
    const [moved] = await read('firstName,lastName\nEva,Sunn\nAda,Moon\n').then((all) => all.slice(1))
    assert.match(String(moved?.id), /^p-[0-9a-f]{16}$/)
    assert.equal(moved?.id, entities[0]?.id, 'a person keeps the id when rows are added before')
    assert.deepEqual(await read('name\n'), [])
  })

  const failing: [string, string, string][] = [
    ['a misspelt column', 'name,alias\n', 'line 1: the column "alias" is not one of '],
    ['no name column', 'id,firstname\n', 'line 1: there is no column "name", nor "firstname" and "lastname"'],
    ['no name', 'id,name\n1,Ada\n2,\n', 'line 3: there is no name'],
    ['a repeated id', 'id,name\n1,Ada\n1,Eva\n', 'line 3: the id was used before'],
    ['the same person twice', 'name\nAda\nAda\n', 'line 3: the id was used before'],
    ['a bad date', 'name,dob\nAda,04.03.1962\n', 'line 2: a dob is not a date such as'],
    ['an unknown schema', 'name,schema\nAda,Robot\n', 'line 2: the schema is not one of'],
    ['a bad address', 'name,url\nAda,javascript:1\n', 'line 2: the url is not an http or https address'],
    ['a wrong count', 'name,dob\n"Ada\nMoon",1962\nEva\n', 'line 4: has 1 fields, the header 2'],
  ]
  for (const [what, text, message] of failing)
    test(`refuses ${what}`, () =>
      assert.rejects(read(text), (error: Error) => error.message.startsWith(`own.csv, ${message}`)))
})
