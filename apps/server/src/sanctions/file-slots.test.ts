import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFileSlots } from './file-slots.ts'

test('a sender has a limited number of slots, and other senders still get theirs', async () => {
  const take = createFileSlots({ perSender: 2, total: 3, waitMs: 1 })
  await take('a')
  await take('a')
  await assert.rejects(take('a'), { code: 'TOO_MANY_FILES', message: 'Too many files at once' })
  await take('b')
  await assert.rejects(take('c'), { code: 'TOO_MANY_FILES', message: 'The service is busy' })
})

test('a file that waits gets the slot that is freed', async () => {
  const take = createFileSlots({ perSender: 1, total: 2, waitMs: 60_000 })
  const free = await take('a')
  const waiting = take('a')
  free()
  assert.equal(typeof (await waiting), 'function')
})

test('freeing a slot twice frees one slot', async () => {
  const take = createFileSlots({ perSender: 2, total: 2, waitMs: 1 })
  const free = await take('a')
  await take('a')
  free()
  free()
  await take('a')
  await assert.rejects(take('a'), { code: 'TOO_MANY_FILES' })
})
