import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDownloadQueue } from './download-queue.ts'

/** Tasks that end when the test says so. */
function tasks(most: number) {
  const queue = createDownloadQueue(most)
  const begun: string[] = []
  const ends = new Map<string, { resolve(): void; reject(error: Error): void }>()
  const add = (name: string) =>
    queue(() => {
      begun.push(name)
      return new Promise<void>((resolve, reject) => ends.set(name, { resolve, reject }))
    })
  return { add, begun, end: (name: string) => ends.get(name)?.resolve(), fail: (name: string) => ends.get(name) }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('at most three tasks run at a time, and the others follow in their order', async () => {
  const { add, begun, end } = tasks(3)
  const all = ['runtime', 'a', 'b', 'c', 'd'].map(add)
  await settled()
  assert.deepEqual(begun, ['runtime', 'a', 'b'])
  end('b')
  await settled()
  assert.deepEqual(begun, ['runtime', 'a', 'b', 'c'])
  end('runtime')
  await settled()
  for (const name of ['a', 'c', 'd']) end(name)
  await Promise.all(all)
  assert.deepEqual(begun, ['runtime', 'a', 'b', 'c', 'd'])
})

test('a task that fails gives its place to the next one', async () => {
  const { add, begun, end, fail } = tasks(1)
  const first = add('first')
  const second = add('second')
  await settled()
  assert.deepEqual(begun, ['first'])
  fail('first')?.reject(new Error('lost'))
  await assert.rejects(first, /lost/)
  await settled()
  assert.deepEqual(begun, ['first', 'second'])
  end('second')
  await second
  const third = add('third')
  await settled()
  assert.deepEqual(begun, ['first', 'second', 'third'])
  end('third')
  await third
})
