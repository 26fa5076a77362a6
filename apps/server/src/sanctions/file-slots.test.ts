import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFileSlots, type FileSlotLimits } from './file-slots.ts'

/** Slots that are taken by senders of one tenant, unless another is named. */
function slots(limits: Omit<FileSlotLimits, 'perTenant'> & { perTenant?: number }) {
  const take = createFileSlots({ perTenant: 10, ...limits })
  return (sender: string, tenant = 'tenant') => take({ sender, tenant })
}

test('a sender has a limited number of slots, and other senders still get theirs', async () => {
  const take = slots({ perSender: 2, total: 3, waitMs: 1 })
  await take('a')
  await take('a')
  await assert.rejects(take('a'), { code: 'TOO_MANY_FILES', message: 'Too many files at once' })
  await take('b')
  await assert.rejects(take('c'), { code: 'TOO_MANY_FILES', message: 'The service is busy' })
})

test('a file that waits gets the slot that is freed', async () => {
  const take = slots({ perSender: 1, total: 2, waitMs: 60_000 })
  const free = await take('a')
  const waiting = take('a')
  free()
  assert.equal(typeof (await waiting), 'function')
})

test('freeing a slot twice frees one slot', async () => {
  const take = slots({ perSender: 2, total: 2, waitMs: 1 })
  const free = await take('a')
  await take('a')
  free()
  free()
  await take('a')
  await assert.rejects(take('a'), { code: 'TOO_MANY_FILES' })
})

test('the senders of one tenant do not take the slots of others', async () => {
  const take = slots({ perSender: 1, perTenant: 2, total: 4, waitMs: 1 })
  await take('a', 'one')
  const free = await take('b', 'one')
  await assert.rejects(take('c', 'one'), { code: 'TOO_MANY_FILES', message: 'Too many files at once' })
  await take('d', 'two')
  free()
  await take('c', 'one')
})
