import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CROWD_MS_MAX, createPresence, LOST_MS_MAX } from './presence.ts'

test('a face may be lost for a moment; after a longer time and three looks it counts as gone', () => {
  const presence = createPresence()
  assert.equal(presence.count(0, 0), undefined)
  assert.equal(presence.count(0, 100), undefined)
  assert.equal(presence.count(0, LOST_MS_MAX), undefined)
  assert.equal(presence.count(1, LOST_MS_MAX + 100), undefined)
  assert.equal(presence.count(0, LOST_MS_MAX + 200), undefined)
  assert.equal(presence.count(0, 2 * LOST_MS_MAX + 300), undefined, 'the second look')
  assert.equal(presence.count(0, 2 * LOST_MS_MAX + 400), -12)
})

test('a second face may appear for a moment; after a longer time it ends the try', () => {
  const presence = createPresence()
  assert.equal(presence.count(2, 0), undefined)
  assert.equal(presence.count(1, 100), undefined)
  assert.equal(presence.count(3, 200), undefined)
  assert.equal(presence.count(2, 200 + CROWD_MS_MAX), undefined)
  assert.equal(presence.count(2, 201 + CROWD_MS_MAX), -11)
})

test('a measured sample shows that the face is back, unless it is older than the last look', () => {
  const presence = createPresence()
  presence.count(0, 1000)
  presence.meet(1500)
  assert.equal(presence.count(0, 1100 + LOST_MS_MAX), undefined)
  presence.meet(1200)
  assert.equal(presence.count(0, 1200 + LOST_MS_MAX), undefined)
  assert.equal(presence.count(0, 1200 + 2 * LOST_MS_MAX), -12)
})

test('a measured sample says nothing about other faces', () => {
  const presence = createPresence()
  presence.count(2, 0)
  presence.meet(500)
  assert.equal(presence.count(2, CROWD_MS_MAX + 1), -11)
})
