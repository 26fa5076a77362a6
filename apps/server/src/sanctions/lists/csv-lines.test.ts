import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readCsv, readTable, splitMulti } from './csv-lines.ts'
import { collect, textSource } from './testing/sources.ts'

const SAMPLE =
  '\ufeffid,name,note\r\n1,"Ünal, Żaneta","says ""hi""\r\nand goes"\r\n\r\n   \n2,日本 太郎, plain "quote" \n3,"",""\r4,"x" ,last'
const RECORDS = [
  { line: 1, fields: ['id', 'name', 'note'] },
  { line: 2, fields: ['1', 'Ünal, Żaneta', 'says "hi"\r\nand goes'] },
  { line: 6, fields: ['2', '日本 太郎', ' plain "quote" '] },
  { line: 7, fields: ['3', '', ''] },
  { line: 8, fields: ['4', 'x', 'last'] },
]

describe('readCsv', () => {
  test('gives the same records however the bytes are cut', async () => {
    for (const size of [1, 2, 3, 5, 64, 4096])
      assert.deepEqual(await collect(readCsv(textSource('a.csv', SAMPLE, size))), RECORDS, `pieces of ${size}`)
  })

  test('finds no record in an empty file', async () => {
    assert.deepEqual(await collect(readCsv(textSource('a.csv', ''))), [])
  })

  test('keeps an empty last field', async () => {
    assert.deepEqual(await collect(readCsv(textSource('a.csv', 'a,b\nc,'))), [
      { line: 1, fields: ['a', 'b'] },
      { line: 2, fields: ['c', ''] },
    ])
  })

  test('names the line of a slip', async () => {
    await assert.rejects(collect(readCsv(textSource('a.csv', 'a,b\n"c,d\ne,f\n'))), {
      message: 'a.csv, line 2: a quote is never closed',
    })
    await assert.rejects(collect(readCsv(textSource('a.csv', 'a,b\n"c"d,e\n'))), {
      message: 'a.csv, line 2: text follows a closing quote',
    })
    const latin1 = Buffer.from('a,b\nc,d\nM\u00fcller,e\n', 'latin1')
    for (const size of [3, 4096])
      await assert.rejects(collect(readCsv(textSource('a.csv', latin1, size))), {
        message: 'a.csv, line 3: is not UTF-8',
      })
    await assert.rejects(collect(readCsv(textSource('a.csv', Buffer.from('a\nb\xc3', 'latin1')))), {
      message: 'a.csv, line 2: is not UTF-8',
    })
  })
})

describe('readTable', () => {
  const read = (text: string) => collect(readTable(textSource('t.csv', text), () => {}))

  test('reads by header', async () => {
    const [row, ...more] = await read(' ID ,"Name"\n7,Ada\n')
    assert.deepEqual([row?.line, row?.get('id'), row?.get('name'), row?.get('other')], [2, '7', 'Ada', ''])
    assert.deepEqual(more, [])
  })

  test('refuses a wrong count of fields, a repeated column and no header', async () => {
    await assert.rejects(read('id,name\n\n7,Ada,x\n'), { message: 't.csv, line 3: has 3 fields, the header 2' })
    await assert.rejects(read('id,ID\n'), { message: 't.csv, line 1: names a column twice' })
    await assert.rejects(read('\n\n'), { message: 't.csv, line 1: there is no header' })
  })
})

test('splitMulti splits like CSV with semicolons, and leaves junk as it is', () => {
  assert.deepEqual(splitMulti('a;b'), ['a', 'b'])
  assert.deepEqual(splitMulti(''), [''])
  assert.deepEqual(splitMulti('""'), [''])
  assert.deepEqual(splitMulti('"a; b";c'), ['a; b', 'c'])
  assert.deepEqual(splitMulti('c;"Works ""Star""";d;'), ['c', 'Works "Star"', 'd', ''])
  assert.deepEqual(splitMulti('"open;b'), ['"open', 'b'])
  assert.deepEqual(splitMulti('Ada "Nib" Moon;"x"y'), ['Ada "Nib" Moon', '"x"y'])
})
