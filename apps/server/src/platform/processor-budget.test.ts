import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createProcessorBudgets } from './processor-budget.ts'
import { createRateLimiter } from './rate-limit.ts'
import { createManualClock } from './testing/manual-clock.ts'

const clock = createManualClock()
const processorTimeOf = createProcessorBudgets({
  limiter: createRateLimiter(),
  addressLimiter: createRateLimiter(),
  clock,
})
const secondsToWait = (work: () => void) => {
  try {
    work()
    return 0
  } catch (error) {
    return (error as { extra: { retryAfterSeconds: number } }).extra.retryAfterSeconds
  }
}

describe('a budget of processor time', () => {
  test('is half a processor, with ten seconds of it saved up, and what is beyond is paid back first', () => {
    const time = processorTimeOf('node-search', { keyId: 'a', rateFactor: 1 })
    time.ask()
    time.spend(5_000)
    time.ask()
    // The call that was let in takes four seconds more than there is.
    time.spend(4_000)
    assert.equal(secondsToWait(time.ask), 8)
    clock.advance(7_999)
    assert.equal(secondsToWait(time.ask), 1)
    clock.advance(1)
    time.ask()
  })

  test('grows with the usage plan and the threads, and an unmetered key has none', () => {
    const waitOf = (rateFactor: number, processors?: number) => {
      const time = processorTimeOf('screening', { keyId: `${rateFactor} ${processors}`, rateFactor }, { processors })
      time.spend(600_000)
      return secondsToWait(time.ask)
    }
    assert.deepEqual(
      [waitOf(1, 1), waitOf(10, 1), waitOf(1, 4), waitOf(Number.POSITIVE_INFINITY, 1)],
      [1_140, 60, 240, 0],
    )
  })

  test('of one key, kind of work or network is not that of another', () => {
    processorTimeOf('node-search', { keyId: 'b', rateFactor: 1 }).spend(60_000)
    processorTimeOf('screening', { rateFactor: 1 }, { sender: '192.0.2.1' }).spend(600_000)
    assert.ok(secondsToWait(processorTimeOf('node-search', { keyId: 'b', rateFactor: 1 }).ask) > 0)
    processorTimeOf('node-search', { keyId: 'c', rateFactor: 1 }).ask()
    processorTimeOf('screening', { keyId: 'b', rateFactor: 1 }).ask()
    processorTimeOf('screening', { rateFactor: 1 }, { sender: '192.0.2.2' }).ask()
    assert.ok(secondsToWait(processorTimeOf('screening', { rateFactor: 1 }, { sender: '192.0.2.1' }).ask) > 0)
  })
})
