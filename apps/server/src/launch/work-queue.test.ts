import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWorkQueue } from './work-queue.ts'

test('whoever asks while the work is under way gets what comes of it, and the next one has it done anew', async () => {
  const queue = createWorkQueue<number>()
  let runs = 0
  const work = async () => {
    const run = ++runs
    await new Promise(setImmediate)
    return run
  }
  assert.deepEqual(await Promise.all([queue.join('a', work), queue.join('a', work), queue.join('b', work)]), [1, 1, 2])
  assert.equal(await queue.join('a', work), 3)
})

test('work that fails is told to all who waited, and is not remembered', async () => {
  const queue = createWorkQueue<number>()
  const fail = () => Promise.reject(new Error('no'))
  const both = await Promise.allSettled([queue.join('a', fail), queue.join('a', async () => 1)])
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(await queue.join('a', async () => 2), 2)
})
