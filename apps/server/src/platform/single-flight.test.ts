import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSingleFlight } from './single-flight.ts'

/** Work that ends when the test says so, and the number of times it was started. */
function heldWork() {
  const started: PromiseWithResolvers<string>[] = []
  const work = () => {
    const one = Promise.withResolvers<string>()
    started.push(one)
    return one.promise
  }
  return { started, work }
}

test('callers of one key share the work that is under way, and other keys have their own', async () => {
  const flight = createSingleFlight<string>()
  const { started, work } = heldWork()
  const calls = [flight.run('a', work), flight.run('a', work), flight.run('b', work)]
  assert.equal(started.length, 2)
  started[0]?.resolve('one')
  started[1]?.resolve('two')
  assert.deepEqual(await Promise.all(calls), ['one', 'one', 'two'])
})

test('work that has ended is started again, also when it failed', async () => {
  const flight = createSingleFlight<string>()
  await assert.rejects(
    flight.run('a', async () => {
      throw new Error('away')
    }),
    /away/,
  )
  assert.equal(await flight.run('a', async () => 'first'), 'first')
  assert.equal(await flight.run('a', async () => 'second'), 'second')
})

test('a forgotten key starts new work at once, and the old work knows that it is no longer current', async () => {
  const flight = createSingleFlight<string>()
  const old = heldWork()
  const fresh = heldWork()
  let oldIsCurrent: (() => boolean) | undefined
  const first = flight.run('a', (isCurrent) => {
    oldIsCurrent = isCurrent
    return old.work()
  })
  assert.equal(oldIsCurrent?.(), true)
  flight.forget('a')
  assert.equal(oldIsCurrent?.(), false)
  const second = flight.run('a', fresh.work)
  old.started[0]?.resolve('old')
  assert.equal(await first, 'old')
  // The end of the old work does not remove the new one.
  const third = flight.run('a', fresh.work)
  assert.equal(fresh.started.length, 1)
  fresh.started[0]?.resolve('new')
  assert.deepEqual(await Promise.all([second, third]), ['new', 'new'])
})
