import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ATTEMPT_OUTCOMES, type AttemptOutcome } from '@ostiary/contract'
import { type BreakerState, FAILURES_TO_OPEN, nextBreakerState, type Sign, signOf } from './breaker.ts'

const NOW = new Date('2026-11-15T12:00:00.000Z')
const later = (ms: number) => new Date(NOW.getTime() + ms)

const after = (state: BreakerState | undefined, sign: Sign, probe = false, now = NOW) =>
  nextBreakerState(state, { sign, probe, now })

function failing(times: number): BreakerState | undefined {
  let state: BreakerState | undefined
  for (let i = 0; i < times; i++) state = after(state, 'failing')
  return state
}

describe('signOf', () => {
  test('network failures and 5xx count against a receiver; any other answer shows that it is alive', () => {
    const expected: Record<AttemptOutcome, Sign> = {
      delivered: 'alive',
      rejected: 'alive',
      redirect: 'alive',
      gone: 'alive',
      failed: 'failing',
      timeout: 'failing',
      refused: 'failing',
      dns: 'failing',
      tls: 'failing',
      forbidden: 'none',
      sandbox: 'none',
      unsigned: 'none',
    }
    for (const outcome of ATTEMPT_OUTCOMES) assert.equal(signOf(outcome), expected[outcome], outcome)
  })
})

describe('nextBreakerState', () => {
  test('the fifth failure in a row opens the breaker for 15 seconds, the fourth does not', () => {
    assert.equal(FAILURES_TO_OPEN, 5)
    assert.deepEqual(failing(4), { failures: 4, openedTimes: 0, openUntil: NOW })
    assert.deepEqual(failing(5), { failures: 5, openedTimes: 1, openUntil: later(15_000) })
  })

  test('an answer in between starts the count again', () => {
    assert.equal(after(failing(4), 'alive'), undefined)
    assert.deepEqual(after(undefined, 'failing'), { failures: 1, openedTimes: 0, openUntil: NOW })
  })

  test('each failed probe doubles the pause, up to ten minutes', () => {
    let state = failing(5)
    const rests: number[] = []
    for (let i = 0; i < 8; i++) {
      state = after(state, 'failing', true)
      rests.push((state?.openUntil.getTime() ?? 0) - NOW.getTime())
    }
    assert.deepEqual(rests, [30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000, 600_000])
    for (let i = 0; i < 2_000; i++) state = after(state, 'failing', true)
    assert.deepEqual(state?.openUntil, later(600_000))
  })

  test('an answered probe closes the breaker, and so does an answer to an earlier attempt', () => {
    assert.equal(after(failing(5), 'alive', true), undefined)
    assert.equal(after(failing(5), 'alive', false), undefined)
  })

  test('earlier attempts that fail late do not make the pause longer', () => {
    assert.deepEqual(after(failing(5), 'failing', false, later(9_000)), failing(5))
  })

  test('after a probe that sent no request the next probe may go at once', () => {
    assert.deepEqual(after(failing(5), 'none', true, later(15_000)), {
      failures: 5,
      openedTimes: 1,
      openUntil: later(15_000),
    })
    assert.deepEqual(after(failing(3), 'none'), failing(3))
    assert.equal(after(undefined, 'none'), undefined)
    assert.equal(after(undefined, 'none', true), undefined)
    assert.equal(after(undefined, 'alive'), undefined)
  })
})
