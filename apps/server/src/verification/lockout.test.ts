import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { afterFailure, failuresExpireAt, type LockState, waitSecondsOf } from './lockout.ts'

const START = new Date('2026-11-15T12:00:00.000Z')
const at = (seconds: number) => new Date(START.getTime() + seconds * 1000)

/** Failures at these moments, in seconds. */
function failedAt(...moments: number[]): LockState {
  const state = moments.reduce<LockState | undefined>((before, moment) => afterFailure(before, at(moment)), undefined)
  assert.ok(state)
  return state
}

describe('failures', () => {
  test('the first four cause no wait', () => {
    for (let count = 1; count <= 4; count++) {
      const state = failedAt(...Array.from({ length: count }, (_, n) => n))
      assert.deepEqual([state.failures, waitSecondsOf(state, at(count))], [count, 0])
    }
  })

  test('from the fifth on each causes a wait: 30, 60, 300, 900 and then always 900 seconds', () => {
    const moments = [0, 1, 2, 3]
    for (const wait of [30, 60, 300, 900, 900]) {
      const moment = (moments.at(-1) ?? 0) + 900
      moments.push(moments.length === 4 ? 4 : moment)
      const state = failedAt(...moments)
      assert.equal(waitSecondsOf(state, at(moments.at(-1) ?? 0)), wait)
    }
  })

  test('a wider network begins to wait one failure later', () => {
    const wide = (count: number) =>
      Array.from({ length: count }, (_, n) => n).reduce<LockState | undefined>(
        (before, n) => afterFailure(before, at(n), 6),
        undefined,
      )
    const [fifth, sixth, seventh] = [wide(5), wide(6), wide(7)]
    assert.ok(fifth && sixth && seventh)
    assert.equal(waitSecondsOf(fifth, at(4)), 0)
    assert.equal(waitSecondsOf(sixth, at(5)), 30)
    assert.equal(waitSecondsOf(seventh, at(6)), 60)
  })

  test('a wait ends to the second, rounded up', () => {
    const state = failedAt(0, 1, 2, 3, 4)
    assert.equal(waitSecondsOf(state, at(33.5)), 1)
    assert.equal(waitSecondsOf(state, at(34)), 0)
    assert.equal(waitSecondsOf(state, at(500)), 0)
  })

  test('expire a quarter of an hour after the first one, or after the last wait', () => {
    assert.deepEqual(failuresExpireAt(failedAt(0, 100)), at(900))
    assert.deepEqual(failuresExpireAt(failedAt(0, 1, 2, 3, 4)), at(4 + 30 + 900))
    assert.deepEqual(afterFailure(failedAt(0, 1, 2, 3), at(900)), { failures: 1, since: at(900), lockedUntil: null })
    assert.equal(afterFailure(failedAt(0, 1, 2, 3), at(899)).failures, 5)
    assert.equal(afterFailure(failedAt(0, 1, 2, 3, 4), at(933)).failures, 6)
  })
})
