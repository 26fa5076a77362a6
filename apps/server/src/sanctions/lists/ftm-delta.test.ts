import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { temporaryFolder } from '@ostiary/testkit/temporary-folder'
import { findDeltas, readFtmWithDeltas } from './ftm-delta.ts'
import { newTally } from './source.ts'
import { collect, textSource } from './testing/sources.ts'

const person = (id: string, name?: string) => ({ id, schema: 'Person', properties: name ? { name: [name] } : {} })
const change = (op: string, entity: object) => JSON.stringify({ op, entity })
const lines = (...texts: string[]) => texts.join('\n')
const BASE = lines(
  ...['a', 'b', 'c', 'd'].map((id) => JSON.stringify(person(id, id === 'd' ? undefined : `Old ${id}`))),
)

async function merged(...deltas: string[]) {
  const tally = newTally()
  const sources = deltas.map((text, index) => textSource(`${index}.delta.json`, text))
  const entities = await collect(readFtmWithDeltas(textSource('base', BASE), sources, tally))
  return { names: entities.map(({ id, names }) => `${id}: ${names[0]?.text}`), tally }
}

describe('readFtmWithDeltas', () => {
  test('without deltas gives the base', async () => {
    assert.deepEqual((await merged()).names, ['a: Old a', 'b: Old b', 'c: Old c'])
  })

  test('applies deltas in their order: changed in place, deleted gone, new ones last', async () => {
    const { names, tally } = await merged(
      lines(
        change('MOD', person('b', 'Mid b')),
        change('ADD', person('e', 'New e')),
        change('ADD', person('f', 'New f')),
      ),
      '',
      lines(change('MOD', person('b', 'New b')), change('DEL', { id: 'a' }), change('DEL', { id: 'f' })),
      lines(change('DEL', { id: 'zzz' }), change('MOD', person('d', 'Named d'))),
    )
    assert.deepEqual(names, ['b: New b', 'c: Old c', 'd: Named d', 'e: New e'])
    assert.equal(tally.read, 6)
  })

  test('an entity that comes back is there, one that loses its name is not', async () => {
    const { names } = await merged(
      change('DEL', { id: 'a' }),
      lines(change('ADD', person('a', 'Back a')), change('MOD', person('b'))),
    )
    assert.deepEqual(names, ['a: Back a', 'c: Old c'])
  })

  test('fails on a bad line', async () => {
    await assert.rejects(merged(lines(change('ADD', person('e', 'E')), '{"op"')), {
      message: '0.delta.json, line 2: is not valid JSON',
    })
    await assert.rejects(merged(change('MERGE', person('e', 'E'))), {
      message: '0.delta.json, line 1: has no operation ADD, MOD or DEL',
    })
    await assert.rejects(merged('{"op":"DEL"}'), { message: '0.delta.json, line 1: is not a change' })
  })
})

describe('findDeltas', () => {
  const dir = temporaryFolder('delta')
  const versions = ['20250101000000-aaa', '20250102000000-bbb', '20250103000000-ccc']
  for (const version of versions.slice(1)) {
    mkdirSync(join(dir, version))
    writeFileSync(join(dir, version, 'entities.delta.json'), '')
  }
  const writeIndex = (index: unknown) => writeFileSync(join(dir, 'delta.json'), JSON.stringify(index))
  const chain = (names: string[]) => ({
    versions: Object.fromEntries(names.map((name) => [name, 'https://x.example'])),
  })

  const laterThan = async (since: string) => (await findDeltas(dir, since)).map(({ name }) => name)
  const path = (version = '') => join(dir, version, 'entities.delta.json')

  test('gives what comes after a version', async () => {
    writeIndex(chain(versions))
    assert.deepEqual(await laterThan('20250101000000-aaa'), [path(versions[1]), path(versions[2])])
    assert.deepEqual(await laterThan('20250103000000-ccc'), [])
  })

  test('an index with the newest first, as OpenSanctions writes it, gives the same, oldest first', async () => {
    writeIndex(chain(versions.toReversed()))
    assert.deepEqual(await laterThan('20250101000000-aaa'), [path(versions[1]), path(versions[2])])
    assert.deepEqual(await laterThan('20250102000000-bbb'), [path(versions[2])])
    assert.deepEqual(await laterThan('20250103000000-ccc'), [])
  })

  test('a version in which nothing changed is not in the index; what comes after it is given all the same', async () => {
    writeIndex(chain(versions.toReversed()))
    assert.deepEqual(await laterThan('20250102120000-xyz'), [path(versions[2])])
    assert.deepEqual(await laterThan('20250104000000-xyz'), [])
    await assert.rejects(laterThan('20241231235959-xyz'), /the chain does not reach back to 20241231235959-xyz/)
    await assert.rejects(laterThan('latest'), /the chain does not reach back to latest/)
    writeIndex(chain([]))
    await assert.rejects(laterThan('20250102120000-xyz'), /the chain does not reach back/)
  })

  test('fails on a gap, a missing file, a strange version and a strange index', async () => {
    writeIndex(chain(versions))
    await assert.rejects(findDeltas(dir, '20240101000000-zzz'), /the chain does not reach back to 20240101000000-zzz/)
    writeIndex(chain([...versions, '20250104000000-ddd']))
    await assert.rejects(findDeltas(dir, '20250103000000-ccc'), { code: 'ENOENT' })
    writeIndex(chain(['20250101000000-aaa', '../../etc']))
    await assert.rejects(findDeltas(dir, '20250101000000-aaa'), /a version is not of the form/)
    writeIndex([])
    await assert.rejects(findDeltas(dir, '20250101000000-aaa'), /names no versions/)
  })
})
