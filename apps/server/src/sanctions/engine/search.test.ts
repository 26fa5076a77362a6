import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedEntity } from '../lists/listed.ts'
import { type Name, readName } from '../names/tokens.ts'
import { createNames } from '../testing/random-names.ts'
import { createIndexBuilder } from './build.ts'
import { scoreNames } from './pair.ts'
import { prepareExpansions } from './prepare.ts'
import { createSearcher, type Hit } from './search.ts'

const THRESHOLDS = [0.3, 0.55, 0.65, 0.72, 0.8, 0.88, 0.95, 0.97, 0.99, 1]

/** Compares the query with every name of every entity. The index must give the same result. */
function bruteForce(entities: readonly Name[][], query: Name): Map<number, number> {
  return new Map(entities.map((names, at) => [at, Math.max(0, ...names.map((name) => scoreNames(query, name)))]))
}

function indexOf(entities: readonly ListedEntity[]) {
  const builder = createIndexBuilder()
  const kept = entities.filter((entity, at) => builder.add(entity, at))
  const index = builder.finish()
  return {
    index,
    // Some words are prepared, the others are not.
    searcher: createSearcher(index, { longList: 60, expansions: prepareExpansions(index, 40) }),
    names: kept.map((entity) => entity.names.map(({ text }) => readName(text))),
  }
}

for (const seed of [1, 2, 3, 4]) {
  test(`the index finds what comparing every name finds, no more and no less, at every threshold (seed ${seed})`, () => {
    const names = createNames(seed)
    // Enough names for frequent words to have long lists, which the search handles in another way.
    const entities = Array.from({ length: seed === 4 ? 2_000 : 300 }, (_, id) => names.entity(id))
    const { searcher, names: listed } = indexOf(entities)
    let found = 0
    for (let n = 0; n < (seed === 4 ? 40 : 120); n++) {
      const from = names.random.pick(names.random.pick(entities).names).text
      const text = n % 3 === 0 ? names.name() : n % 3 === 1 ? names.mutate(from) : names.mutate(names.mutate(from))
      const query = readName(text)
      const truth = bruteForce(listed, query)
      for (const threshold of THRESHOLDS) {
        const hits = new Map(searcher.search(query, threshold).map(({ entity, score }) => [entity, score]))
        const wanted = new Map([...truth].filter(([, score]) => score >= threshold && score > 0))
        assert.deepEqual(sorted(hits), sorted(wanted), `"${text}" at ${threshold}`)
        found += hits.size
      }
    }
    assert.ok(found > 1_000, `only ${found} hits: the test would not notice a search that finds nothing`)
  })
}

test('the search gives the same hits with and without prepared expansions, and after its cache has evicted words', () => {
  const names = createNames(8)
  const entities = Array.from({ length: 3_000 }, (_, id) => names.entity(id))
  const { index, searcher, names: listed } = indexOf(entities)
  const unprepared = createSearcher(index, { longList: 60, cachedWordsMax: 500 })
  let found = 0
  for (let n = 0; n < 600; n++) {
    const from = names.random.pick(names.random.pick(entities).names).text
    const query = readName(n % 2 === 0 ? names.mutate(from) : names.name())
    // Comparing every name takes most of the time of this test.
    const truth = n % 30 === 0 ? bruteForce(listed, query) : undefined
    for (const threshold of [0.7, 0.88123, 0.9]) {
      const hits = sortHits(searcher.search(query, threshold))
      assert.deepEqual(sortHits(unprepared.search(query, threshold)), hits)
      for (const { entity, name } of hits) assert.equal(index.nameEntity[name], entity)
      const wanted = truth && sorted(new Map([...truth].filter(([, score]) => score >= threshold)))
      if (wanted)
        assert.deepEqual(
          hits.map(({ entity, score }) => [entity, score]),
          wanted,
        )
      found += hits.length
    }
  }
  assert.ok(found > 1_000, `only ${found} hits`)
  assert.ok(searcher.counts.prepared > 100 && searcher.counts.computed > 100, JSON.stringify(searcher.counts))
  assert.ok(unprepared.counts.prepared === 0 && unprepared.counts.evicted > 100, JSON.stringify(unprepared.counts))
})

test('a search does not depend on the one before it', () => {
  const names = createNames(9)
  const { searcher } = indexOf(Array.from({ length: 300 }, (_, id) => names.entity(id)))
  const queries = Array.from({ length: 60 }, () => readName(names.name()))
  const alone = queries.map((query) => searcher.search(query, 0.6))
  for (const [at, query] of [...queries.entries()].reverse()) {
    searcher.search(readName(names.name()), 0.3)
    assert.deepEqual(sortHits(searcher.search(query, 0.6)), sortHits(alone[at] ?? []))
  }
})

test('a name without any full word finds nothing', () => {
  const { searcher } = indexOf([createNames(5).entity(1)])
  for (const text of ['', '   ', '.', 'J. K.', '!!!', '😀']) assert.deepEqual(searcher.search(readName(text), 0.1), [])
})

test('the search stays correct when its round counter overflows', () => {
  const names = createNames(6)
  const { searcher } = indexOf(Array.from({ length: 40 }, (_, id) => names.entity(id)))
  const query = readName('mohammed ali')
  const first = searcher.search(query, 0.3)
  assert.ok(first.length > 0)
  const other = readName('kuxili')
  for (let n = 0; n < 2 ** 17 + 10; n++) {
    if (n > 2 ** 17 - 10) assert.deepEqual(searcher.search(query, 0.3), first)
    else searcher.search(other, 0.95)
  }
})

const sorted = (hits: ReadonlyMap<number, number>) => [...hits].sort(([a], [b]) => a - b)
const sortHits = (hits: readonly Hit[]) => hits.toSorted((a, b) => a.entity - b.entity)
