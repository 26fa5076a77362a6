import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AttemptOutcome, WEBHOOK_LIMITS } from '@ostiary/contract'
import { type AttemptResult, attemptResultOf, planNext, retryAfterMs } from './schedule.ts'

const NOW = new Date('2026-11-15T12:00:00.000Z')
const NEVER = Number.POSITIVE_INFINITY
const HOUR_MS = 3_600_000

function waitOf(tries: number, randomFraction: number, result: AttemptResult = { outcome: 'failed' }): number | string {
  const plan = planNext(result, { tries, now: NOW, purgeAtMs: NEVER, randomFraction: () => randomFraction })
  return plan.state === 'pending' ? plan.nextAttemptAt.getTime() - NOW.getTime() : JSON.stringify(plan)
}

describe('planNext', () => {
  test('ten attempts with the documented waits between them', () => {
    const waits = Array.from({ length: 10 }, (_, index) => waitOf(index + 1, 0.5))
    assert.deepEqual(waits, [
      5_000,
      30_000,
      120_000,
      600_000,
      1_800_000,
      3_600_000,
      7_200_000,
      14_400_000,
      28_800_000,
      '{"state":"dead","reason":"exhausted"}',
    ])
  })

  test('each wait is varied by a fifth either way', () => {
    assert.deepEqual([waitOf(1, 0), waitOf(1, 0.25), waitOf(1, 1)], [4_000, 4_500, 6_000])
    assert.deepEqual([waitOf(9, 0), waitOf(9, 1)], [23_040_000, 34_560_000])
  })

  test('a success ends the delivery, also at the tenth attempt', () => {
    const situation = { tries: 10, now: NOW, purgeAtMs: NEVER, randomFraction: () => 0 }
    assert.deepEqual(planNext({ outcome: 'delivered' }, situation), { state: 'delivered' })
  })

  test('410 and a forbidden URL end the delivery at once', () => {
    for (const outcome of ['gone', 'forbidden'] as const) {
      const plan = planNext({ outcome }, { tries: 1, now: NOW, purgeAtMs: NEVER, randomFraction: () => 0 })
      assert.deepEqual(plan, { state: 'dead', reason: outcome })
    }
  })

  test('every other outcome is tried again', () => {
    const others: AttemptOutcome[] = ['rejected', 'failed', 'redirect', 'timeout', 'refused', 'dns', 'tls', 'sandbox']
    for (const outcome of others) assert.equal(waitOf(1, 0.5, { outcome }), 5_000, outcome)
    assert.equal(
      waitOf(1, 0.5, { outcome: 'forbidden', isResolved: true }),
      5_000,
      'what a name resolves to may change',
    )
  })

  test('a receiver that asks for more time gets it, up to an hour, and never less than it asked for', () => {
    const asking = (ms: number): AttemptResult => ({ outcome: 'failed', status: 503, retryAfterMs: ms })
    assert.equal(waitOf(1, 0, asking(20_000)), 20_000)
    assert.equal(waitOf(1, 1, asking(1_000)), 6_000, 'ours is longer')
    assert.equal(waitOf(1, 0, asking(HOUR_MS)), HOUR_MS)
    assert.equal(waitOf(1, 0, asking(HOUR_MS + 1)), HOUR_MS)
    assert.equal(waitOf(8, 0.5, asking(HOUR_MS)), 14_400_000)
    assert.equal(waitOf(10, 0.5, asking(1_000)), '{"state":"dead","reason":"exhausted"}')
  })

  test('no attempt is planned after the data is purged', () => {
    const at = (purgeInMs: number) =>
      planNext(
        { outcome: 'failed' },
        { tries: 1, now: NOW, purgeAtMs: NOW.getTime() + purgeInMs, randomFraction: () => 0.5 },
      )
    assert.deepEqual(at(5_000), { state: 'dead', reason: 'retention' })
    assert.deepEqual(at(5_001), { state: 'pending', nextAttemptAt: new Date(NOW.getTime() + 5_000) })
  })

  test('the limits give ten attempts in about sixteen hours', () => {
    const seconds = WEBHOOK_LIMITS.retrySeconds.reduce<number>((sum, wait) => sum + wait, 0)
    assert.equal(WEBHOOK_LIMITS.retrySeconds.length + 1, 10)
    assert.ok(seconds > 15 * 3600 && seconds < 17 * 3600, `${seconds} s`)
  })
})

describe('attemptResultOf', () => {
  test('reads every kind of status', () => {
    const expected: [number, AttemptOutcome][] = [
      [200, 'delivered'],
      [204, 'delivered'],
      [299, 'delivered'],
      [300, 'redirect'],
      [302, 'redirect'],
      [304, 'redirect'],
      [308, 'redirect'],
      [400, 'rejected'],
      [404, 'rejected'],
      [409, 'rejected'],
      [410, 'gone'],
      [429, 'rejected'],
      [499, 'rejected'],
      [500, 'failed'],
      [503, 'failed'],
      [599, 'failed'],
    ]
    for (const [status, outcome] of expected)
      assert.equal(attemptResultOf(status, undefined, NOW).outcome, outcome, `${status}`)
  })

  test('Retry-After counts with 429 and 503 only', () => {
    for (const status of [429, 503]) assert.equal(attemptResultOf(status, '7', NOW).retryAfterMs, 7_000)
    for (const status of [200, 302, 400, 410, 500, 502]) {
      assert.equal(attemptResultOf(status, '7', NOW).retryAfterMs, undefined, `${status}`)
    }
  })
})

describe('retryAfterMs', () => {
  test('takes seconds and dates, and nothing else', () => {
    const cases: [string | undefined, number | undefined][] = [
      ['0', 0],
      ['120', 120_000],
      [' 5 ', 5_000],
      ['Sun, 15 Nov 2026 12:00:30 GMT', 30_000],
      ['Sun, 15 Nov 2026 11:59:59 GMT', undefined],
      ['Sunday', undefined],
      ['2026-11-15T12:00:30Z', undefined],
      ['-5', undefined],
      ['1.5', undefined],
      ['99999999999', undefined],
      ['soon', undefined],
      ['', undefined],
      [undefined, undefined],
    ]
    for (const [text, ms] of cases) assert.equal(retryAfterMs(text, NOW), ms, String(text))
  })
})
