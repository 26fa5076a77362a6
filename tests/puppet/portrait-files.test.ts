import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { findPortrait } from './portrait-files.ts'

test('the figure is always here', () => {
  assert.ok(existsSync(findPortrait('figure')))
})

test('the baseline is a file, or the error says how to get it', () => {
  try {
    assert.match(findPortrait('baseline'), /astronaut\.png$/)
  } catch (error) {
    assert.match(String(error), /OSTIARY_DATA/)
  }
})

test('any other name is a path', () => {
  assert.equal(findPortrait('some/face.jpg'), 'some/face.jpg')
})
