import assert from 'node:assert/strict'
import { test } from 'node:test'
import { areMoreThreadsFaster, threadsToTry } from './threads.ts'

test('more threads are tried if one is slow, there are enough cores, and memory can be shared', () => {
  assert.equal(threadsToTry(180, { sharesMemory: true, cores: 8 }), 4)
  assert.equal(threadsToTry(180, { sharesMemory: true, cores: 6 }), 3)
  assert.equal(threadsToTry(180, { sharesMemory: true, cores: 32 }), 4)
  assert.equal(threadsToTry(180, { sharesMemory: true, cores: 2 }), undefined)
  assert.equal(threadsToTry(60, { sharesMemory: true, cores: 8 }), undefined)
  assert.equal(threadsToTry(180, { sharesMemory: false, cores: 8 }), undefined)
})

test('more threads are kept only when they are clearly quicker', () => {
  assert.equal(areMoreThreadsFaster(180, 90), true)
  assert.equal(areMoreThreadsFaster(180, 150), false)
  assert.equal(areMoreThreadsFaster(180, 400), false)
})
