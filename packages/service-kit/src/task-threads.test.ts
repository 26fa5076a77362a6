import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTaskThreads } from './task-threads.ts'
import type { EchoTask } from './testing/echo-thread.ts'

const threads = createTaskThreads<EchoTask, number>(new URL('./testing/echo-thread.ts', import.meta.url), 2)
after(() => threads.stop())

const answer = (length: number) => threads.run({ does: 'answer', bytes: new Uint8Array(length) })

test('answers every task, also when there are more than threads', async () => {
  const lengths = Array.from({ length: 9 }, (_, n) => n)
  assert.deepEqual(await Promise.all(lengths.map(answer)), lengths)
})

test('moves a buffer to the thread without a copy', async () => {
  const bytes = new Uint8Array(5)
  const answered = threads.run({ does: 'answer', bytes }, [bytes.buffer])
  assert.equal(bytes.length, 0)
  assert.equal(await answered, 5)
})

test('passes on an error, and works on', async () => {
  await assert.rejects(threads.run({ does: 'fail' }), { message: 'bad bytes' })
  assert.equal(await answer(3), 3)
})

test('a thread that ends fails its own task only', async () => {
  const ended = threads.run({ does: 'end' })
  const others = Promise.all([answer(1), answer(2), answer(3)])
  await assert.rejects(ended, /exited/)
  assert.deepEqual(await others, [1, 2, 3])
  assert.deepEqual(await Promise.all([answer(4), answer(5), answer(6)]), [4, 5, 6])
})

test('stopping fails what is open, and takes nothing more', async () => {
  const own = createTaskThreads<EchoTask, number>(new URL('./testing/echo-thread.ts', import.meta.url), 1)
  const isFailed = assert.rejects(own.run({ does: 'hang' }), /Terminating/)
  await own.stop()
  await isFailed
  await assert.rejects(own.run({ does: 'answer' }), /stopping/)
})
