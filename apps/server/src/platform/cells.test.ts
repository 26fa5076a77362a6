import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCells, parseCellMap, singleCell } from './cells.ts'
import type { Db } from './db.ts'

const URLS = { a: 'postgres://h/a', b: 'postgres://h/b' }
const open = (name: string) => ({ forOwner: () => ({ name }) }) as unknown as Db

test('every bucket goes to the cell the map names', () => {
  const cells = createCells(
    parseCellMap(JSON.stringify({ cells: URLS, buckets: { '0-99': 'a', '100': 'b', '101-1023': 'a' } })),
    open,
  )
  for (let bucket = 0; bucket < 1024; bucket++)
    assert.deepEqual(cells.forBucket(bucket), { name: bucket === 100 ? 'b' : 'a' })
  assert.throws(() => cells.forBucket(1024), RangeError)
})

test('an id finds its cell by the bucket it carries', () => {
  const cells = createCells(
    parseCellMap(JSON.stringify({ cells: URLS, buckets: { '0-511': 'a', '512-1023': 'b' } })),
    open,
  )
  assert.deepEqual(cells.forId('019f1c2e-7a40-77fc-8f00-5d2b9c41e6aa'), { name: 'a' })
  assert.deepEqual(cells.forId('019f1c2e-7a40-7800-8f00-5d2b9c41e6aa'), { name: 'b' })
})

test('one database serves all buckets', () => {
  const map = singleCell('postgres://h/one')
  assert.equal(map.cellOfBucket.length, 1024)
  assert.deepEqual([...new Set(map.cellOfBucket)], ['main'])
})

test('a map with holes, overlaps or unknown cells is refused', () => {
  const refused: [object, RegExp][] = [
    [{ cells: URLS, buckets: { '0-1022': 'a' } }, /1 buckets have no cell/],
    [{ cells: URLS, buckets: { '0-1023': 'a', '5': 'b' } }, /bucket 5 is listed twice/],
    [{ cells: URLS, buckets: { '0-1023': 'c' } }, /unknown cell "c"/],
    [{ cells: URLS, buckets: { '0-1024': 'a' } }, /no range of buckets/],
    [{ cells: URLS, buckets: { '9-3': 'a' } }, /no range of buckets/],
    [{ cells: { a: 'mysql://h/a' }, buckets: { '0-1023': 'a' } }, /no PostgreSQL URL/],
    [{}, /1024 buckets have no cell/],
  ]
  for (const [map, message] of refused) assert.throws(() => parseCellMap(JSON.stringify(map)), message)
})

test('a cell behind a pooler names PostgreSQL itself beside it', () => {
  const pooled = { url: 'postgres://pooler/b', directUrl: 'postgres://h/b' }
  const { urls, directUrls } = parseCellMap(
    JSON.stringify({ cells: { a: 'postgres://h/a', b: pooled }, buckets: { '0-511': 'a', '512-1023': 'b' } }),
  )
  assert.deepEqual(
    [...urls],
    [
      ['a', 'postgres://h/a'],
      ['b', 'postgres://pooler/b'],
    ],
  )
  assert.deepEqual([...directUrls], [['b', 'postgres://h/b']])
  const wrong = { cells: { a: { ...pooled, directUrl: 'h/b' } }, buckets: { '0-1023': 'a' } }
  assert.throws(() => parseCellMap(JSON.stringify(wrong)), /the directUrl of cell "a" is no PostgreSQL URL/)
  assert.throws(
    () => parseCellMap(JSON.stringify({ cells: { a: {} }, buckets: { '0-1023': 'a' } })),
    /cell "a" has no PostgreSQL URL/,
  )
})
