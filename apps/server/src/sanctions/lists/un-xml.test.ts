import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newTally } from './source.ts'
import { collect, textSource } from './testing/sources.ts'
import { splitUnName } from './un-names.ts'
import { readUnXml } from './un-xml.ts'

const list = (inside: string, before = '') =>
  `<?xml version="1.0" encoding="UTF-8"?>${before}<CONSOLIDATED_LIST>\n<INDIVIDUALS>${inside}</INDIVIDUALS></CONSOLIDATED_LIST>`
const read = (text: string, tally = newTally()) => collect(readUnXml(textSource('un.xml', text), tally))

describe('readUnXml', () => {
  test('reads an individual', async () => {
    const entry = `<INDIVIDUAL><DATAID>71</DATAID><FIRST_NAME>Ada &amp;</FIRST_NAME><SECOND_NAME>Io</SECOND_NAME><THIRD_NAME>na</THIRD_NAME>
      <FOURTH_NAME><![CDATA[Moon]]></FOURTH_NAME><UN_LIST_TYPE>Tides</UN_LIST_TYPE><REFERENCE_NUMBER>TDi.001</REFERENCE_NUMBER>
      <NAME_ORIGINAL_SCRIPT>Ада
        Мун</NAME_ORIGINAL_SCRIPT><NATIONALITY><VALUE>Germany</VALUE><VALUE>na</VALUE></NATIONALITY>
      <LIST_TYPE><VALUE>UN List</VALUE></LIST_TYPE>
      <INDIVIDUAL_ALIAS><QUALITY>Good</QUALITY><ALIAS_NAME>Ada Sunn; Ada Sun</ALIAS_NAME><DATE_OF_BIRTH>1970-01-02</DATE_OF_BIRTH></INDIVIDUAL_ALIAS>
      <INDIVIDUAL_ALIAS><QUALITY>Low</QUALITY><ALIAS_NAME>Moonie</ALIAS_NAME></INDIVIDUAL_ALIAS>
      <INDIVIDUAL_ALIAS><QUALITY/><ALIAS_NAME/></INDIVIDUAL_ALIAS>
      <INDIVIDUAL_ADDRESS><COUNTRY>Freedonia</COUNTRY></INDIVIDUAL_ADDRESS>
      <INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>BETWEEN</TYPE_OF_DATE><FROM_YEAR>1958</FROM_YEAR><TO_YEAR>1962</TO_YEAR></INDIVIDUAL_DATE_OF_BIRTH>
      <INDIVIDUAL_PLACE_OF_BIRTH><COUNTRY>Cuba</COUNTRY></INDIVIDUAL_PLACE_OF_BIRTH></INDIVIDUAL>`
    assert.deepEqual(await read(list(entry)), [
      {
        id: 'un-71',
        schema: 'Person',
        names: [
          { text: 'Ada & Io Moon', kind: 'name' },
          { text: 'Ада Мун', kind: 'name' },
          { text: 'Ada Sunn', kind: 'alias' },
          { text: 'Ada Sun', kind: 'alias' },
          { text: 'Moonie', kind: 'weak' },
        ],
        births: [
          { from: 19580101, to: 19621231, circa: false },
          { from: 19700102, to: 19700102, circa: false },
        ],
        countries: ['de', 'freedonia'],
        topics: ['sanction'],
        programs: ['Tides', 'TDi.001'],
        sourceUrl: null,
        datasets: ['un_sc_sanctions'],
      },
    ])
  })

  test('reads an entity', async () => {
    const entry =
      '<ENTITY><DATAID>72</DATAID><FIRST_NAME>STAR WORKS (SW)</FIRST_NAME><ENTITY_ALIAS><QUALITY>f.k.a.</QUALITY><ALIAS_NAME>Old Star</ALIAS_NAME></ENTITY_ALIAS><ENTITY_ADDRESS><COUNTRY>Panama</COUNTRY></ENTITY_ADDRESS></ENTITY>'
    const [entity] = await read(list(entry))
    assert.equal(entity?.schema, 'Organization')
    assert.deepEqual(entity?.countries, ['pa'])
    assert.deepEqual(entity?.names, [
      { text: 'STAR WORKS (SW)', kind: 'name' },
      { text: 'STAR WORKS', kind: 'alias' },
      { text: 'Old Star', kind: 'alias' },
    ])
  })

  test('counts an entry without a name', async () => {
    const tally = newTally()
    assert.deepEqual(await read(list('<INDIVIDUAL><DATAID>73</DATAID><FIRST_NAME/></INDIVIDUAL>'), tally), [])
    assert.deepEqual(tally, { read: 1, skipped: { 'no name': 1 } })
  })

  test('refuses a document type, so that its entities are never expanded', async () => {
    const bomb = '<!DOCTYPE x [<!ENTITY a "Moon"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
    const entry = '<INDIVIDUAL><DATAID>74</DATAID><FIRST_NAME>&b;&f;</FIRST_NAME></INDIVIDUAL>'
    await assert.rejects(read(list(entry, bomb)), { message: 'un.xml, line 1: a document type is not allowed' })
    await assert.rejects(read(list(entry)), { message: /^un\.xml, line 2: is not valid XML \(undefined entity/ })
  })

  test('fails on what is not the list', async () => {
    await assert.rejects(read('<html><body/></html>'), {
      message: 'un.xml, line 1: the document is not a CONSOLIDATED_LIST',
    })
    await assert.rejects(read(''), /un\.xml, line 1: is not valid XML/)
    const whole = list('<INDIVIDUAL><DATAID>75</DATAID><FIRST_NAME>Ada</FIRST_NAME></INDIVIDUAL>')
    await assert.rejects(read(whole.slice(0, -30)), /un\.xml, line 2: is not valid XML/)
    await assert.rejects(read(list('\n<ENTITY><FIRST_NAME>Ada</FIRST_NAME></ENTITY>')), {
      message: 'un.xml, line 3: the entry has no DATAID',
    })
  })
})

test('splitUnName takes the spellings apart', () => {
  const split = (text: string) => splitUnName(text).map((part) => part.trim())
  assert.deepEqual(split('Ada Moon'), ['Ada Moon'])
  assert.deepEqual(split('Ada Moon; Ada Mun b) Ida Moon'), ['Ada Moon', 'Ada Mun', 'Ida Moon'])
  assert.deepEqual(split('Ada Moon (Ада Мун)'), ['Ada Moon', 'Ада Мун'])
  assert.deepEqual(split('Ada Moon (original script: Ада Мун)'), ['Ada Moon', 'Ада Мун'])
  assert.deepEqual(split('Ада Мун (Ada Moon; Ada Mun)'), ['Ада Мун', 'Ada Moon', 'Ada Mun'])
  assert.deepEqual(split('Ada Moon (birth name)'), ['Ada Moon (birth name)', 'Ada Moon'])
  assert.deepEqual(split('Star (East) Works'), ['Star (East) Works'])
})
