import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedMap } from './bounded-map.ts'

test('a full map deletes its oldest entry for a new one', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('c', 3)
  assert.deepEqual(
    [...map],
    [
      ['b', 2],
      ['c', 3],
    ],
  )
})

test('an entry that is set again becomes the newest, and no other entry is deleted', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('a', 3)
  assert.deepEqual([...map.keys()], ['b', 'a'])
  map.set('c', 4)
  assert.deepEqual([...map.keys()], ['a', 'c'])
})

test('touch returns the value and makes it the newest, and get does not', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1).set('b', 2)
  assert.equal(map.get('a'), 1)
  assert.deepEqual([...map.keys()], ['a', 'b'])
  assert.equal(map.touch('a'), 1)
  assert.deepEqual([...map.keys()], ['b', 'a'])
  assert.equal(map.touch('unknown'), undefined)
  assert.equal(map.size, 2)
})
