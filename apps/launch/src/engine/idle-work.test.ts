import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIdleWork } from './idle-work.ts'

function worker(t: { mock: typeof import('node:test').mock }, pieces: number) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const seen = { done: 0 }
  const idle = createIdleWork({
    idleMs: 400,
    async work() {
      if (seen.done === pieces) return false
      seen.done++
      return true
    },
  })
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { idle, seen, pass }
}

test('pieces are done one by one while nothing is asked', async (t) => {
  const { idle, seen, pass } = worker(t, 2)
  idle.more()
  await pass(399)
  assert.equal(seen.done, 0)
  await pass(1)
  assert.equal(seen.done, 1)
  await pass(400)
  assert.equal(seen.done, 2)
  await pass(10_000)
  assert.equal(seen.done, 2)
})

test('looks that follow each other leave no time for a piece', async (t) => {
  const { idle, seen, pass } = worker(t, 4)
  idle.more()
  for (let look = 0; look < 20; look++) {
    idle.asked()
    await pass(90)
    idle.more()
    await pass(600)
    idle.answered()
    await pass(150)
  }
  assert.equal(seen.done, 0)
  await pass(250)
  assert.equal(seen.done, 1)
})

test('a question that waits behind another one keeps the work away', async (t) => {
  const { idle, seen, pass } = worker(t, 1)
  idle.asked()
  idle.asked()
  idle.answered()
  await pass(1_000)
  assert.equal(seen.done, 0)
  idle.answered()
  await pass(400)
  assert.equal(seen.done, 1)
})
