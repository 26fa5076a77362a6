import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readFtm } from './ftm.ts'
import { newTally } from './source.ts'
import { collect, textSource } from './testing/sources.ts'

const line = (entity: object) => JSON.stringify({ id: 'T-1', schema: 'Person', properties: {}, ...entity })
const read = (text: string, tally = newTally()) => collect(readFtm(textSource('entities.ftm.json', text), tally))

describe('readFtm', () => {
  test('reads an entity', async () => {
    const properties = {
      name: ['Ada Moon', 'Ада Мун'],
      alias: ['A. Moon'],
      previousName: ['Ada Sunn'],
      weakAlias: ['Moonie'],
      firstName: ['Ada'],
      lastName: ['Moon'],
      birthDate: ['1962-03', 'unknown', '1962-02-30'],
      nationality: ['fr'],
      citizenship: ['FR', 'Belgium'],
      country: ['de'],
      topics: ['sanction'],
      programId: ['EX-1'],
      program: ['Example regime'],
      sourceUrl: ['javascript:1', 'https://lists.example/1'],
    }
    assert.deepEqual(await read(`\ufeff${line({ properties, datasets: ['ex_list'] })}\r\n`), [
      {
        id: 'T-1',
        schema: 'Person',
        names: [
          { text: 'Ada Moon', kind: 'name' },
          { text: 'Ада Мун', kind: 'name' },
          { text: 'A. Moon', kind: 'alias' },
          { text: 'Ada Sunn', kind: 'alias' },
          { text: 'Moonie', kind: 'weak' },
        ],
        births: [{ from: 19620301, to: 19620331, circa: false }],
        countries: ['fr', 'be', 'de'],
        topics: ['sanction'],
        programs: ['EX-1', 'Example regime'],
        sourceUrl: 'https://lists.example/1',
        datasets: ['ex_list'],
      },
    ])
  })

  test('builds a name from its parts only for entities without a name', async () => {
    const parts = { firstName: ['Ada', 'Ада'], secondName: ['Io'], fatherName: ['Sol', 'Sól'], lastName: ['Moon'] }
    const [built] = await read(line({ properties: { name: [' '], ...parts } }))
    assert.deepEqual(built?.names, [
      { text: 'Ada Io Moon', kind: 'name' },
      { text: 'Ада Io Moon', kind: 'name' },
    ])
    const [lastOnly] = await read(line({ properties: { lastName: 'Moon' } }))
    assert.deepEqual(lastOnly?.names, [{ text: 'Moon', kind: 'name' }])
    const [aliasOnly] = await read(line({ properties: { alias: ['Moonie'] } }))
    assert.deepEqual(aliasOnly?.names, [{ text: 'Moonie', kind: 'alias' }])
  })

  test('counts what it leaves out', async () => {
    const tally = newTally()
    const lines = [
      line({ properties: { name: ['Ada Moon'] } }),
      '',
      line({ schema: 'Sanction', properties: { program: ['Example'] } }),
      line({ schema: 'Position', properties: { name: ['Keeper of the Tides'] } }),
      line({ schema: 'Wormhole', properties: { name: ['Unheard Of'] } }),
    ]
    assert.deepEqual(
      (await read(lines.join('\n'), tally)).map(({ schema }) => schema),
      ['Person', 'Wormhole'],
    )
    assert.deepEqual(tally, { read: 4, skipped: { 'no name': 1, 'not a party': 1 } })
  })

  test('fails on the first bad line, by its number and without its content', async () => {
    const good = line({ properties: { name: ['Ada Moon'] } })
    const failing: [string, string][] = [
      ['{"id": "T-2", "caption": "Secret Name', 'is not valid JSON'],
      ['[]', 'is not an entity'],
      [line({ id: '' }), 'the entity has no id'],
      [line({ schema: 3 }), 'the entity has no schema'],
      [line({ properties: [] }), 'the entity has no properties'],
      [line({ properties: { name: [{ text: 'x' }] } }), '"name" is not a list of texts'],
    ]
    for (const [bad, problem] of failing)
      await assert.rejects(read(`${good}\n\n${bad}\n${good}`), { message: `entities.ftm.json, line 3: ${problem}` })
    const latin1 = Buffer.from(`${good}\n{"id":"M\u00fcller"}\n`, 'latin1')
    await assert.rejects(collect(readFtm(textSource('e.json', latin1))), { message: 'e.json, line 2: is not UTF-8' })
  })
})
