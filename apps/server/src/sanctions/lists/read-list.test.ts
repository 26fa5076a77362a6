import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { detectFormat, type ListProgress, readList } from './read-list.ts'
import { collect, textSource } from './testing/sources.ts'

const person = (id: string, name: string) => JSON.stringify({ id, schema: 'Person', properties: { name: [name] } })

describe('readList', () => {
  test('reads files and tells how far it is', async () => {
    const dir = temporaryFolder('list')
    const path = join(dir, 'entities.ftm.json')
    writeFileSync(path, `${person('a', 'Ada Moon')}\n${person('b', '-')}\n`)
    const seen: ListProgress[] = []
    const entities = await collect(
      readList({ format: 'ftm', files: [path], onProgress: (progress) => seen.push(progress) }),
    )
    assert.deepEqual(
      entities.map(({ id }) => id),
      ['a'],
    )
    const { bytes } = seen.at(-1) ?? { bytes: 0 }
    assert.deepEqual(seen.at(-1), { bytes, totalBytes: bytes, entities: 1, read: 2, skipped: { 'no name': 1 } })
    assert.ok(bytes > 0)
  })

  test('counts the bytes of every file as they come, without a total where one is unknown', async () => {
    const seen: ListProgress[] = []
    const files = [
      textSource('a.json', person('a', 'Ada Moon')),
      { ...textSource('b.json', person('b', 'Eva Sunn')), bytes: null },
    ]
    await collect(readList({ format: 'ftm', files, onProgress: (progress) => seen.push(progress) }))
    assert.ok(seen.every(({ bytes }, index) => bytes >= (seen[index - 1]?.bytes ?? 0)))
    assert.deepEqual([seen.at(-1)?.entities, seen.at(-1)?.totalBytes], [2, null])
  })

  test('applies deltas that come with their base', async () => {
    const delta = textSource('v2/entities.delta.json', `{"op":"MOD","entity":${person('a', 'Ida Moon')}}`)
    const base = textSource('entities.ftm.json', person('a', 'Ada Moon'))
    const [entity] = await collect(readList({ format: 'ftm', files: [base, delta] }))
    assert.equal(entity?.names[0]?.text, 'Ida Moon')
    await assert.rejects(collect(readList({ format: 'ftm', files: [delta] })), /exactly one entities\.ftm\.json/)
  })

  test('refuses a published list with nothing in it; a tenant may have one', async () => {
    await assert.rejects(collect(readList({ format: 'ftm', files: [textSource('a', '')] })), {
      message: 'The list has no entries (format ftm)',
    })
    assert.deepEqual(await collect(readList({ format: 'custom-csv', files: [textSource('a', 'name\n')] })), [])
  })
})

test('detectFormat', () => {
  const detect = (text: string, ...names: string[]) => detectFormat(names, Buffer.from(text))
  assert.equal(detect('\ufeff\n{"id":', 'x.bin'), 'ftm')
  assert.equal(detect('<?xml version="1.0"?>\n<CONSOLIDATED_LIST a="b">', 'x.xml'), 'un-xml')
  assert.equal(detect('<html>', 'x.xml'), null)
  assert.equal(
    detect('"id","schema","name","aliases","birth_date","countries","sanctions","dataset"\r\n', 'x'),
    'simple-csv',
  )
  assert.equal(detect('Id, Name ,DOB\n1,', 'own.csv'), 'custom-csv')
  assert.equal(detect('36,"X",-0- ,"E"', 'lists/sdn.csv', 'alt.csv', 'add.csv'), 'ofac')
  assert.equal(detect('ID,Name,Type,Program\n36', 'sdn-2030.csv'), 'ofac')
  assert.equal(detect('36,1,"aka"', 'alt.csv'), null)
  assert.equal(detect('36,"X"', 'sdn.csv', 'readme.txt'), null)
  assert.equal(detect('', 'x.csv'), null)
})
