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

describe('readUnXml bounds what it holds', () => {
  const MEGABYTE = 1 << 20
  const START = '<CONSOLIDATED_LIST>\n<INDIVIDUALS>\n'
  const LISTED = '<INDIVIDUAL><DATAID>80</DATAID><FIRST_NAME>Ada</FIRST_NAME></INDIVIDUAL>\n'
  const TOO_LARGE = 'has more than 4194304 characters'

  /** A file that begins so and goes on for 64 MB, in pieces of this many characters. Counts what is read of it. */
  function endless(start: string, part: string, pieceChars = 65_536) {
    const piece = Buffer.from(part.repeat(Math.ceil(pieceChars / part.length)))
    const source = {
      name: 'un.xml',
      bytes: null,
      read: 0,
      async *open() {
        yield Buffer.from(start)
        for (; source.read < 64 * MEGABYTE; source.read += piece.length) yield piece
      },
    }
    return source
  }

  test('takes an element 50 deep and refuses the next, with its line', async () => {
    // The entry is the third one.
    const deep = (depth: number) =>
      list(
        `<INDIVIDUAL><DATAID>81</DATAID><FIRST_NAME>Ada</FIRST_NAME>\n${'<A>'.repeat(depth - 3)}${'</A>'.repeat(depth - 3)}</INDIVIDUAL>`,
      )
    assert.equal((await read(deep(50))).length, 1)
    await assert.rejects(read(deep(51)), { message: 'un.xml, line 3: elements are more than 50 deep' })
    const outside = endless(START, '<A>')
    await assert.rejects(collect(readUnXml(outside)), { message: 'un.xml, line 3: elements are more than 50 deep' })
    assert.ok(outside.read <= 65_538, String(outside.read))
  })

  for (const [what, start, part] of [
    ['attribute', '<INDIVIDUAL note="', 'x'],
    ['text', '<INDIVIDUAL><DATAID>82</DATAID><FIRST_NAME>', 'x'],
    ['CDATA section', '<INDIVIDUAL><DATAID>82</DATAID><FIRST_NAME><![CDATA[', 'x'],
    ['comment', '<INDIVIDUAL><!--', 'x'],
    ['number of elements', '<INDIVIDUAL>', '<A/>'],
  ] as const) {
    test(`refuses an entry with a huge ${what} and reads little more of the file`, async () => {
      const source = endless(`${START}${LISTED}${start}`, part)
      await assert.rejects(collect(readUnXml(source)), { message: `un.xml, line 4: the entry ${TOO_LARGE}` })
      assert.ok(source.read <= 5 * MEGABYTE, String(source.read))
    })
  }

  for (const [what, start, part] of [
    ['element name', '<', 'x'],
    ['attribute', '<A a="', 'x'],
    ['text', '', 'x'],
    ['comment', '<!--', 'x'],
    ['processing instruction', '<?a ', 'x'],
  ] as const) {
    test(`refuses a huge ${what} between the entries`, async () => {
      const source = endless(`${START}${LISTED.trim()}${start}`, part)
      await assert.rejects(collect(readUnXml(source)), {
        message: `un.xml, line 3: what stands between two entries ${TOO_LARGE}`,
      })
      assert.ok(source.read <= 5 * MEGABYTE, String(source.read))
    })
  }

  test('holds the bound within one large piece of a file as well', async () => {
    const source = endless(`${START}<INDIVIDUAL><FIRST_NAME>`, 'x', 16 * MEGABYTE)
    await assert.rejects(collect(readUnXml(source)), { message: `un.xml, line 3: the entry ${TOO_LARGE}` })
  })

  test('takes a large entry, and a large file of many entries', async () => {
    const large = `<INDIVIDUAL><DATAID>83</DATAID><FIRST_NAME>Ada</FIRST_NAME><COMMENTS1>${'x'.repeat(3 * MEGABYTE)}</COMMENTS1></INDIVIDUAL>`
    const source = textSource('un.xml', list(large.repeat(3)), 65_536)
    assert.equal((await collect(readUnXml(source))).length, 3)
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
