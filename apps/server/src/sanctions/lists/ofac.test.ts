import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { missingAliasFiles, ofacPart, readOfac } from './ofac.ts'
import { joinRemarks, readRemarks, turnPersonName } from './ofac-remarks.ts'
import { newTally } from './source.ts'
import { collect, textSource } from './testing/sources.ts'

const row = (number: number, name: string, type: string, program: string, remarks: string, flag = '-0- ') =>
  `${number},"${name}",${type},"${program}",-0- ,-0- ,-0- ,-0- ,-0- ,${flag},-0- ,${remarks}\r\n`

const SDN = [
  row(
    11,
    'MOON, Ada van der',
    '"individual"',
    'EX1] [EX2',
    `"DOB 12 Mar 1962; alt. DOB 1963; nationality Freedonia; citizen Cuba; a.k.a. 'THE 'TIDE''; a.k.a. 'BAY, Mona'."`,
  ),
  row(12, 'STAR WORKS, LTD.', '-0- ', 'EX3', '-0- '),
  row(13, 'SEA HARE', '"vessel"', 'EX1; EX4', '-0- ', '"Panama"'),
  row(14, 'XQ-ABC', '"aircraft"', 'EX1', '-0- '),
  '\x1a',
].join('')
const ALT =
  '11,1,"aka","LUNE, Ada",-0- \r\n11,2,"fka","SUNN, Ada","weak alias"\r\n12,3,"nka","STELLA, INC.",-0- \r\n99,4,"aka","NOBODY",-0- \r\n\x1a'
const ADD =
  '11,1,"1 Bay St","Tideton","Germany",-0- \r\n12,2,-0- ,-0- ,"Region: Tidelands",-0- \r\n12,3,-0- ,-0- ,"undetermined",-0- \r\n'

describe('readOfac', () => {
  test('joins the files', async () => {
    const tally = newTally()
    const sources = [textSource('alt.csv', ALT), textSource('sdn.csv', SDN), textSource('add.csv', ADD)]
    const entities = await collect(readOfac(sources, tally))
    assert.deepEqual(entities[0], {
      id: 'ofac-11',
      schema: 'Person',
      names: [
        { text: 'Ada van der MOON', kind: 'name' },
        { text: 'Ada LUNE', kind: 'alias' },
        { text: 'Ada SUNN', kind: 'weak' },
        { text: "THE 'TIDE'", kind: 'weak' },
        { text: 'Mona BAY', kind: 'weak' },
      ],
      births: [
        { from: 19620312, to: 19620312, circa: false },
        { from: 19630101, to: 19631231, circa: false },
      ],
      countries: ['freedonia', 'cu', 'de'],
      topics: ['sanction'],
      programs: ['EX1', 'EX2'],
      sourceUrl: null,
      datasets: ['us_ofac_sdn'],
    })
    assert.deepEqual(
      entities.slice(1).map(({ schema, names, countries, programs }) => ({ schema, names, countries, programs })),
      [
        {
          schema: 'Organization',
          names: [
            { text: 'STAR WORKS, LTD.', kind: 'name' },
            { text: 'STELLA, INC.', kind: 'alias' },
          ],
          countries: ['tidelands'],
          programs: ['EX3'],
        },
        { schema: 'Vessel', names: [{ text: 'SEA HARE', kind: 'name' }], countries: ['pa'], programs: ['EX1', 'EX4'] },
        { schema: 'Airplane', names: [{ text: 'XQ-ABC', kind: 'name' }], countries: [], programs: ['EX1'] },
      ],
    )
    assert.deepEqual(tally, { read: 4, skipped: { 'alias of no entity': 1 } })
  })

  test('goes on with the comments in the middle of a word', async () => {
    const begun = 'Passport 1; '.repeat(90).slice(0, 990)
    const remarks = `${begun}; DOB 12 M`
    assert.equal(remarks.length, 1_000)
    const sdn = row(21, 'MOON, Ada', 'individual', 'EX1', `"${remarks}"`)
    const comments = `21,"ar 1962; a.k.a. 'TIDE'."\r\n\x1a`
    const sources = [textSource('sdn-2030.csv', sdn), textSource('sdn_comments.csv', comments)]
    const [entity] = await collect(readOfac(sources))
    assert.deepEqual(entity?.births, [{ from: 19620312, to: 19620312, circa: false }])
    assert.deepEqual(entity?.names[1], { text: 'TIDE', kind: 'weak' })
  })

  test('takes a header, and the end mark of a spreadsheet', async () => {
    const text = `ID,Name,Type,Program,F,G,H,I,J,K,L,Remarks\n${row(31, 'MOON, Ada', 'individual', 'EX1', '-0-')}\x1a,,,,,,,,,,,\n`
    assert.deepEqual(
      (await collect(readOfac([textSource('sdn.csv', text)]))).map(({ id }) => id),
      ['ofac-31'],
    )
  })

  test('makes one entry of an entity on both lists', async () => {
    const sources = [
      textSource('sdn.csv', row(41, 'STAR WORKS', '-0-', 'EX1', '-0-')),
      textSource(
        'cons_prim.csv',
        row(41, 'STAR WORKS CO', '-0-', 'EX2', '-0-') + row(42, 'MOON WORKS', '-0-', 'EX2', '-0-'),
      ),
    ]
    const [both, one, ...more] = await collect(readOfac(sources))
    assert.deepEqual(both?.datasets, ['us_ofac_sdn', 'us_ofac_cons'])
    assert.deepEqual(both?.programs, ['EX1', 'EX2'])
    assert.deepEqual(both?.names, [
      { text: 'STAR WORKS', kind: 'name' },
      { text: 'STAR WORKS CO', kind: 'alias' },
    ])
    assert.deepEqual(one?.datasets, ['us_ofac_cons'])
    assert.deepEqual(more, [])
  })

  test('fails on what it does not know', async () => {
    const good = row(51, 'MOON, Ada', 'individual', 'EX1', '-0-')
    const read = (text: string, name = 'sdn.csv') => collect(readOfac([textSource(name, text)]))
    await assert.rejects(read(`${good}52,"X"\r\n`), { message: 'sdn.csv, line 2: has 2 fields, not 12' })
    await assert.rejects(read(good + row(52, 'X', 'robot', 'E', '-0-')), {
      message: 'sdn.csv, line 2: has an unknown type',
    })
    await assert.rejects(read(good + good.replace('51', 'x')), {
      message: 'sdn.csv, line 2: does not begin with the number of an entity',
    })
    await assert.rejects(read(good, 'list.csv'), /list\.csv: not a file name of OFAC's/)
    await assert.rejects(read('11,1,"aka","X",-0-', 'alt.csv'), /neither sdn\.csv nor cons_prim\.csv/)
  })
})

test('ofacPart knows the files by their names', () => {
  const parts = ['sdn.csv', '/a/b/SDN.CSV', 'cons_prim.csv', 'sdn_comments-2030.csv', 'cons_alt.csv', 'add-latest.csv']
  assert.deepEqual(parts.map(ofacPart), ['main', 'main', 'main', 'comments', 'alt', 'add'])
  assert.equal(ofacPart('address-book.csv'), undefined)
})

test('turnPersonName puts the last name last and a suffix behind it', () => {
  assert.equal(turnPersonName('AL MOON, Ada bint Sol'), 'Ada bint Sol AL MOON')
  assert.equal(turnPersonName('DE LA LUNE, Ada'), 'Ada DE LA LUNE')
  assert.equal(turnPersonName('MOON, Ada, Jr.'), 'Ada MOON Jr.')
  assert.equal(turnPersonName('MOON, JR., Ada'), 'Ada MOON JR.')
  assert.equal(turnPersonName('MOON'), 'MOON')
})

describe('remarks', () => {
  test('a half quoted alias and other remarks give nothing', () => {
    assert.deepEqual(readRemarks("a.k.a. 'cut of; Linked To: X 'Y'; nationality: Freedonian"), {
      births: [],
      countries: [],
      weakNames: [],
    })
    assert.deepEqual(readRemarks('Nationality of Registration Panama.').countries, ['pa'])
  })

  test('comments that do not fit are not glued to the last word', () => {
    assert.equal(joinRemarks('DOB 1962.', ['3; POB X.']), 'DOB 1962.;3; POB X.')
    assert.equal(joinRemarks('DOB 1962.', []), 'DOB 1962.')
  })
})

test('each list needs its own file of aliases', () => {
  assert.deepEqual(missingAliasFiles(['/a/sdn.csv', '/a/alt.csv', '/a/cons_prim.csv', '/a/cons_alt.csv']), [])
  assert.deepEqual(missingAliasFiles(['sdn.csv', 'sdn_alt.csv']), [])
  assert.deepEqual(missingAliasFiles(['sdn.csv', 'add.csv', 'sdn_comments.csv']), ['alt.csv'])
  assert.deepEqual(missingAliasFiles(['sdn.csv', 'alt.csv', 'cons_prim.csv']), ['cons_alt.csv'])
  assert.deepEqual(missingAliasFiles(['sdn.csv', 'cons_prim.csv', 'cons_alt.csv']), ['alt.csv'])
  assert.deepEqual(missingAliasFiles(['sdn.csv', 'cons_prim.csv']), ['alt.csv', 'cons_alt.csv'])
})
