import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns } from './turns.ts'

test('work of one key runs one after the other in its order, work of other keys beside it', async () => {
  const inTurn = createTurns()
  const events: string[] = []
  const work = (name: string, ms: number) => async () => {
    events.push(`${name} starts`)
    await new Promise((resolve) => setTimeout(resolve, ms))
    events.push(`${name} ends`)
    return name
  }
  const done = await Promise.all([inTurn('a', work('a1', 30)), inTurn('a', work('a2', 1)), inTurn('b', work('b1', 1))])
  assert.deepEqual(done, ['a1', 'a2', 'b1'])
  assert.deepEqual(events, ['a1 starts', 'b1 starts', 'b1 ends', 'a1 ends', 'a2 starts', 'a2 ends'])
})

test('work that fails is reported to its caller and does not stop the next', async () => {
  const inTurn = createTurns()
  const failing = inTurn('a', () => Promise.reject(new Error('no')))
  const next = inTurn('a', async () => 'yes')
  await assert.rejects(failing, /no/)
  assert.equal(await next, 'yes')
})
