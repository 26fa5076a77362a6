import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyedMutex } from './keyed-mutex.ts'

test('work with one key runs in order, one at a time, and work with other keys runs beside it', async () => {
  const withLock = createKeyedMutex()
  const events: string[] = []
  const work = (name: string, ms: number) => async () => {
    events.push(`${name} starts`)
    await new Promise((resolve) => setTimeout(resolve, ms))
    events.push(`${name} ends`)
    return name
  }
  const done = await Promise.all([
    withLock('a', work('a1', 30)),
    withLock('a', work('a2', 1)),
    withLock('b', work('b1', 1)),
  ])
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
