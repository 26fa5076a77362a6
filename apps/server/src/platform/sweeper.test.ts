import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from './cells.ts'
import { createLog } from './log.ts'
import { createSweeper, RUNS_AT_ONCE, type Sweeper } from './sweeper.ts'

const log = createLog('silent', { write: () => {} })
const cell = { name: 'main', db: {} } as Cell
const ended = (sweeper: Sweeper) =>
  new Promise<void>((resolve) => {
    const look = () => (sweeper.isBusy() ? setImmediate(look) : resolve())
    look()
  })
const duty = { isOn: () => true, askForHelp: () => {} }

test('a few items take one run, and another that finds nothing', async () => {
  let left = 20
  let [running, most, runs] = [0, 0, 0]
  const sweeper = createSweeper({
    ...{ cell, duty, log },
    async run() {
      runs++
      most = Math.max(most, ++running)
      const count = Math.min(left, 500)
      left -= count
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return count
    },
  })
  sweeper.sweep()
  assert.equal(sweeper.isBusy(), true)
  sweeper.sweep()
  await ended(sweeper)
  assert.deepEqual([left, runs, most], [0, 2, 1])
})

test('many items are taken by several runs at once, until a run finds few', async () => {
  let left = 5_010
  let [running, most] = [0, 0]
  const sweeper = createSweeper({
    ...{ cell, duty, log },
    async run() {
      most = Math.max(most, ++running)
      const count = Math.min(left, 500)
      left -= count
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return count
    },
  })
  sweeper.sweep()
  await ended(sweeper)
  assert.deepEqual([left, most], [0, RUNS_AT_ONCE])
})

test('after a failure it rests, and stopping waits for what is under way', async () => {
  let runs = 0
  const failing = createSweeper({
    ...{ cell, duty, log },
    async run() {
      runs++
      throw new Error('of one statement')
    },
  })
  failing.sweep()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(failing.isBusy(), true)
  failing.sweep()
  await failing.stop()
  assert.equal(runs, 1)

  const ended = Promise.withResolvers<number>()
  const slow = createSweeper({ ...{ cell, duty, log }, run: () => ended.promise })
  slow.sweep()
  let isStopped = false
  const stopping = slow.stop().then(() => {
    isStopped = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isStopped, false)
  ended.resolve(0)
  await stopping
})
