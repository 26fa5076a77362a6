import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyedMutex } from './keyed-mutex.ts'

test('work with one key runs in order, one at a time, and work with other keys runs beside it', async () => {
  const withLock = createKeyedMutex()
  const events: string[] = []
  const work = (name: string, until?: Promise<unknown>) => async () => {
    events.push(`${name} starts`)
    await until
    events.push(`${name} ends`)
    return name
  }
  const other = Promise.withResolvers<string>()
  const first = withLock('a', work('a1', other.promise))
  const second = withLock('a', work('a2'))
  other.resolve(await withLock('b', work('b1')))
  const done = [await first, await second, await other.promise]
  assert.deepEqual(done, ['a1', 'a2', 'b1'])
  assert.deepEqual(events, ['a1 starts', 'b1 starts', 'b1 ends', 'a1 ends', 'a2 starts', 'a2 ends'])
})

test('work that fails rejects for its caller only, and the next work runs', async () => {
  const withLock = createKeyedMutex()
  const failing = withLock('a', () => Promise.reject(new Error('no')))
  const next = withLock('a', async () => 'yes')
  await assert.rejects(failing, /no/)
  assert.equal(await next, 'yes')
})
