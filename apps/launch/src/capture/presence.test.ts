import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as codes from '@ostiary/contract/codes'
import { createPresence, EXTRA_FACE_MS_MAX, NO_FACE_MS_MAX } from './presence.ts'

test('a short time without a face is allowed; a longer time with at least three looks gives NO_FACE', () => {
  const presence = createPresence()
  assert.equal(presence.addLook(0, 0), undefined)
  assert.equal(presence.addLook(0, 100), undefined)
  assert.equal(presence.addLook(0, NO_FACE_MS_MAX), undefined)
  assert.equal(presence.addLook(1, NO_FACE_MS_MAX + 100), undefined)
  assert.equal(presence.addLook(0, NO_FACE_MS_MAX + 200), undefined)
  assert.equal(presence.addLook(0, 2 * NO_FACE_MS_MAX + 300), undefined, 'only the second look without a face')
  assert.equal(presence.addLook(0, 2 * NO_FACE_MS_MAX + 400), codes.NO_FACE)
})

test('a second face is allowed for a short time; a longer time gives MULTIPLE_FACES', () => {
  const presence = createPresence()
  assert.equal(presence.addLook(2, 0), undefined)
  assert.equal(presence.addLook(1, 100), undefined)
  assert.equal(presence.addLook(3, 200), undefined)
  assert.equal(presence.addLook(2, 200 + EXTRA_FACE_MS_MAX), undefined)
  assert.equal(presence.addLook(2, 201 + EXTRA_FACE_MS_MAX), codes.MULTIPLE_FACES)
})

test('a measured picture ends the time without a face, unless it is older than the last look', () => {
  const presence = createPresence()
  presence.addLook(0, 1000)
  presence.addMeasured(1500)
  assert.equal(presence.addLook(0, 1100 + NO_FACE_MS_MAX), undefined)
  presence.addMeasured(1200)
  assert.equal(presence.addLook(0, 1200 + NO_FACE_MS_MAX), undefined)
  assert.equal(presence.addLook(0, 1200 + 2 * NO_FACE_MS_MAX), codes.NO_FACE)
})

test('a measured picture does not end the time with a second face, because measuring counts no other faces', () => {
  const presence = createPresence()
  presence.addLook(2, 0)
  presence.addMeasured(500)
  assert.equal(presence.addLook(2, EXTRA_FACE_MS_MAX + 1), codes.MULTIPLE_FACES)
})
