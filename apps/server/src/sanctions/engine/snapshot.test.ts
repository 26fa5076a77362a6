import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { ListedEntity } from '../lists/listed.ts'
import { collect } from '../lists/testing/sources.ts'
import { createNames } from '../testing/random-names.ts'
import { createIndexBuilder } from './build.ts'
import type { NameIndex } from './name-index.ts'
import { prepareExpansions } from './prepare.ts'
import {
  BrokenSnapshot,
  checkRecords,
  INDEX_FORMAT,
  isUpToDate,
  openSnapshot,
  readFacts,
  readRecords,
  writeSnapshot,
} from './snapshot.ts'

const TAIL = 40
const FACTS = {
  dataset: 'vorlandek',
  version: '2026-01-01',
  title: 'Invented people',
  licence: 'none',
  kind: 'sanctions',
  createdAt: '2026-01-01T00:00:00.000Z',
  sources: [{ name: 'invented.csv', sha256: 'ab'.repeat(32) }],
}

const LAST_RELEASE_ARRAYS =
  `wordAt wordBytes wordRole wordTable skeletonAt skeletonBytes soundsAt sounds near1At near1 near1Tag near2At near2 near2Tag
  postAt post tagsAt tags pairBits nameAt nameWords nameNear nameEntity nameNumber nameScript nameNative birthAt births recordAt`.split(
    /\s+/,
  )

let folder = ''
let files = 0
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ostiary-snapshot-'))
})
after(() => rm(folder, { recursive: true }))

const newPath = () => join(folder, `${files++}.snapshot`)

async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}

function entitiesOf(count: number, seed: number): ListedEntity[] {
  const names = createNames(seed)
  return Array.from({ length: count }, (_, id) => ({
    ...names.entity(id),
    names: [
      { text: `Karvol${'abcdefghij'[id % 10]} Vorberg ${names.name()}`, kind: 'name' as const },
      { text: names.name(), kind: 'alias' as const },
    ],
    births: [
      { from: 19500101 + id * 10_000, to: 19501231 + id * 10_000, circa: id % 2 === 0 },
      { from: 19580403, to: 19580403, circa: false },
    ].slice(0, id % 3),
    countries: ['xx'],
  }))
}

async function write(entities: readonly ListedEntity[]): Promise<string> {
  const path = newPath()
  await writeSnapshot(path, each(entities), { ...FACTS, skipped: {} })
  return path
}

interface Part {
  at: number
  length: number
}

interface Parts {
  bytes: Buffer
  descriptionAt: number
  description: {
    format: number
    sections: { name: string; at: number; length: number }[]
    records: Part
    index: Part
    expansions: Part & { rule: number; sha256: string }
  }
}

async function partsOf(path: string): Promise<Parts> {
  const bytes = await readFile(path)
  const descriptionAt = bytes.length - TAIL - bytes.readUInt32LE(bytes.length - TAIL)
  return { bytes, descriptionAt, description: JSON.parse(bytes.toString('utf8', descriptionAt, bytes.length - TAIL)) }
}

/** A copy of the file with one bit flipped. */
async function flipped(bytes: Buffer, at: number): Promise<string> {
  const path = newPath()
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] as number) ^ 1
  await writeFile(path, copy)
  return path
}

async function withDescription({ bytes, descriptionAt }: Parts, description: unknown): Promise<string> {
  const path = newPath()
  const text = Buffer.from(JSON.stringify(description))
  const tail = Buffer.from(bytes.subarray(-TAIL))
  tail.writeUInt32LE(text.length, 0)
  createHash('sha256').update(text).digest().copy(tail, 4)
  await writeFile(path, Buffer.concat([bytes.subarray(0, descriptionAt), text, tail]))
  return path
}

const isBroken = (error: unknown) => error instanceof BrokenSnapshot
const checkAll = async (path: string) => {
  await openSnapshot(path)
  await checkRecords(path)
}

describe('what is written', () => {
  test('is read back as the same arrays, in shared memory', async () => {
    const entities = entitiesOf(300, 91)
    const { index } = await openSnapshot(await write(entities))
    const builder = createIndexBuilder()
    let at = 0
    for (const entity of entities) {
      builder.add(entity, at)
      at += Buffer.byteLength(JSON.stringify(entity))
    }
    const expected = builder.finish()
    assert.deepEqual(Object.keys(index).sort(), Object.keys(expected).sort())
    for (const name of Object.keys(expected) as (keyof NameIndex)[]) {
      assert.equal(index[name].constructor, expected[name].constructor, name)
      assert.deepEqual([...index[name]], [...expected[name]], name)
      assert.ok(index[name].buffer instanceof SharedArrayBuffer, name)
    }
  })

  test('has the expansions of frequent words, in shared memory', async () => {
    const entities = entitiesOf(300, 91)
    const { index, expansions } = await openSnapshot(await write(entities))
    const expected = prepareExpansions(index)
    assert.ok(expansions && expected.expansions.length > 0)
    for (const name of ['expansionAt', 'expansions'] as const) {
      assert.deepEqual([...expansions[name]], [...expected[name]], name)
      assert.ok(expansions[name].buffer instanceof SharedArrayBuffer, name)
    }
  })

  test('is a snapshot for the last release too, which reads these arrays and no other part', async () => {
    const { description } = await partsOf(await write(entitiesOf(30, 91)))
    assert.equal(description.format, 1)
    assert.deepEqual(
      description.sections.map(({ name }) => name),
      LAST_RELEASE_ARRAYS,
    )
    const [last] = description.sections.slice(-1)
    assert.ok(last && last.at + last.length * 8 <= description.index.length)
  })

  test('holds every entity unchanged, in order', async () => {
    const entities = entitiesOf(120, 92)
    assert.deepEqual(await collect(readRecords(await write(entities))), entities)
  })

  test('describes its source and its size', async () => {
    const entities = entitiesOf(30, 93)
    const path = newPath()
    const counts: number[] = []
    const facts = await writeSnapshot(path, each(entities), { ...FACTS, skipped: { 'a ship': 2 } }, (count) =>
      counts.push(count),
    )
    const { names, words, canaries, ...rest } = facts
    assert.deepEqual(rest, { ...FACTS, skipped: { 'a ship': 2 }, entries: 30, format: INDEX_FORMAT })
    assert.ok(names >= 30 && names <= 60 && words > 30, `${names} names, ${words} words`)
    assert.equal(canaries.length, 30)
    assert.deepEqual((await openSnapshot(path)).facts, facts)
    const { names: readNames, entries, version } = await readFacts(path)
    assert.deepEqual({ names: readNames, entries, version }, { names, entries: 30, version: FACTS.version })
    assert.deepEqual(
      counts,
      Array.from({ length: 30 }, (_, n) => n + 1),
    )
  })

  test('leaves out and counts entities without a comparable name', async () => {
    const entities = entitiesOf(3, 94)
    const nameless = { ...createNames(1).entity(9), names: [{ text: '!!!', kind: 'name' as const }] }
    const path = newPath()
    const facts = await writeSnapshot(path, each([nameless, ...entities, nameless]), { ...FACTS, skipped: {} })
    assert.equal(facts.entries, 3)
    assert.deepEqual(facts.skipped, { 'no comparable name': 2 })
    assert.deepEqual(await collect(readRecords(path)), entities)
  })

  test('may be an empty list', async () => {
    const path = await write([])
    await checkAll(path)
    assert.equal((await readFacts(path)).entries, 0)
    assert.deepEqual(await collect(readRecords(path)), [])
  })

  test('never replaces an existing file', async () => {
    const path = await write(entitiesOf(2, 95))
    await assert.rejects(writeSnapshot(path, each([]), { ...FACTS, skipped: {} }), { code: 'EEXIST' })
    assert.equal((await readFacts(path)).entries, 2)
  })

  test('fails when reading the list fails', async () => {
    async function* broken() {
      yield* entitiesOf(2, 96)
      throw new Error('line 3 is broken')
    }
    const path = newPath()
    await assert.rejects(writeSnapshot(path, broken(), { ...FACTS, skipped: {} }), /line 3/)
    await assert.rejects(openSnapshot(path), isBroken)
  })
})

describe('canaries', () => {
  for (const [count, stride] of [
    [1, 1],
    [99, 1],
    [100, 2],
    [198, 2],
    [199, 4],
    [1_000, 16],
  ] as const) {
    test(`of ${count} entities are every ${stride}th, starting with the first`, async () => {
      const entities = entitiesOf(count, 97)
      const { canaries } = await readFacts(await write(entities))
      const expected = entities.filter((_, at) => at % stride === 0)
      assert.deepEqual(
        canaries,
        expected.map(({ id, names }) => ({ name: names[0]?.text, entityId: id })),
      )
      assert.ok(canaries.length < 100)
    })
  }
})

describe('a damaged snapshot', () => {
  let parts: Parts
  before(async () => {
    parts = await partsOf(await write(entitiesOf(20, 98)))
  })

  test('is refused when any byte of its index is wrong', async () => {
    const { bytes, description } = parts
    const { at, length } = description.index
    for (let n = 0; n < 40; n++) {
      const path = await flipped(bytes, at + Math.floor(((length - 1) * n) / 39))
      await assert.rejects(openSnapshot(path), {
        name: 'BrokenSnapshot',
        message: 'The index does not match its checksum',
      })
    }
  })

  test('is refused when a byte of its records is wrong and the records are checked', async () => {
    const { bytes, description } = parts
    const { at, length } = description.records
    for (let n = 0; n < 20; n++) {
      const path = await flipped(bytes, at + Math.floor(((length - 1) * n) / 19))
      await assert.rejects(checkRecords(path), {
        name: 'BrokenSnapshot',
        message: 'The records do not match their checksum',
      })
      await openSnapshot(path) // the index is whole
    }
  })

  test('is refused when its end is wrong', async () => {
    const { bytes } = parts
    for (let back = 1; back <= 4; back++)
      await assert.rejects(openSnapshot(await flipped(bytes, bytes.length - back)), isBroken)
  })

  test('is refused when the description is no longer JSON', async () => {
    const { bytes, descriptionAt } = parts
    await assert.rejects(openSnapshot(await flipped(bytes, descriptionAt)), isBroken)
  })

  test('is refused when any byte of the description is wrong', async () => {
    const { bytes, descriptionAt } = parts
    for (let at = descriptionAt; at < bytes.length - TAIL; at += 3) {
      await assert.rejects(checkAll(await flipped(bytes, at)), isBroken, bytes.toString('utf8', at - 20, at + 10))
    }
  })

  test('is refused when it is cut off at any byte', async () => {
    const { bytes } = parts
    for (const length of [
      0,
      1,
      7,
      8,
      9,
      19,
      1_000,
      Math.floor(bytes.length / 2),
      bytes.length - TAIL,
      bytes.length - 1,
    ]) {
      const path = newPath()
      await writeFile(path, bytes)
      await truncate(path, length)
      for (const read of [openSnapshot, checkRecords, readFacts])
        await assert.rejects(read(path), isBroken, `${length} bytes`)
    }
  })

  test('is refused when its index or its records end too early', async () => {
    const { bytes, description } = parts
    const far = bytes.length * 2
    const index = await withDescription(parts, { ...description, index: { ...description.index, at: far } })
    await assert.rejects(openSnapshot(index), { name: 'BrokenSnapshot', message: 'The snapshot is cut off' })
    const records = await withDescription(parts, { ...description, records: { ...description.records, at: far } })
    await assert.rejects(checkRecords(records), { name: 'BrokenSnapshot', message: 'The snapshot is cut off' })
    await assert.rejects(collect(readRecords(records)), isBroken)
  })

  test('is refused when any byte of its prepared expansions is wrong', async () => {
    const { bytes, description } = parts
    const { at, length } = description.expansions
    for (let n = 0; n < 20; n++) {
      const path = await flipped(bytes, at + Math.floor(((length - 1) * n) / 19))
      await assert.rejects(openSnapshot(path), {
        name: 'BrokenSnapshot',
        message: 'The prepared expansions do not match their checksum',
      })
    }
  })

  test('of the last release has no prepared expansions and is read without them', async () => {
    const { expansions: _none, ...description } = parts.description
    const path = await withDescription(parts, description)
    assert.equal((await openSnapshot(path)).expansions, undefined)
    assert.equal(await isUpToDate(path), false)
    assert.equal(await isUpToDate(await withDescription(parts, parts.description)), true)
  })

  test('whose words were expanded by another rule is read without them', async () => {
    const { description } = parts
    const path = await withDescription(parts, {
      ...description,
      expansions: { ...description.expansions, rule: description.expansions.rule + 1 },
    })
    assert.equal((await openSnapshot(path)).expansions, undefined)
    assert.equal(await isUpToDate(path), false)
  })

  test('has the expansions of the rule whose number it states', async () => {
    const { rule, sha256 } = (await partsOf(await write(entitiesOf(2_000, 57)))).description.expansions
    // Other bytes mean that words stand for other words: count EXPANSIONS_RULE up, and note the new bytes here.
    assert.deepEqual([rule, sha256], [1, '4a332d3f23144382ff19b06faa4749ab78227a2011a9092f247d9ff23e67a9b6'])
  })

  test('of another format is refused, but its records can be read to rebuild the index', async () => {
    const path = await withDescription(parts, { ...parts.description, format: INDEX_FORMAT + 1 })
    await assert.rejects(openSnapshot(path), { name: 'BrokenSnapshot', message: /datasets rebuild/ })
    assert.equal((await readFacts(path)).format, INDEX_FORMAT + 1)
    assert.deepEqual(await collect(readRecords(path)), entitiesOf(20, 98))
  })

  test('that is whole is not refused', async () => {
    await checkAll(await withDescription(parts, parts.description))
  })

  test('that does not exist gives another error', async () => {
    await assert.rejects(openSnapshot(newPath()), { code: 'ENOENT' })
  })
})
