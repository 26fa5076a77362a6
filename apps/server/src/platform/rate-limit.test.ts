import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRateLimiter, networkOf } from './rate-limit.ts'

function countAllowed(
  limiter: ReturnType<typeof createRateLimiter>,
  key: string,
  perSecond: number,
  nowMs: number,
  tries: number,
): number {
  let allowed = 0
  for (let i = 0; i < tries; i++) if (limiter.take(key, perSecond, nowMs).allowed) allowed++
  return allowed
}

test('ten seconds of the rate may be used at once, then the rate applies', () => {
  for (const perSecond of [0.1, 1, 3, 7, 20, 200]) {
    const limiter = createRateLimiter()
    assert.equal(
      countAllowed(limiter, 'k', perSecond, 1_000, 5_000),
      Math.floor(perSecond * 10),
      `burst at ${perSecond}/s`,
    )
    const oneMoreAt = 1_000 + 1000 / perSecond
    assert.equal(countAllowed(limiter, 'k', perSecond, oneMoreAt - 0.01, 3), 0)
    assert.equal(countAllowed(limiter, 'k', perSecond, oneMoreAt, 3), 1)
  }
})

test('twice the rate is allowed for ten seconds, as documented', () => {
  const limiter = createRateLimiter()
  let refusedAt = 0
  for (let i = 0; refusedAt === 0; i++) if (!limiter.take('k', 20, i * 25).allowed) refusedAt = i * 25
  assert.ok(refusedAt >= 9_900 && refusedAt <= 10_100, `first refusal after ${refusedAt} ms`)
})

test('a refusal says how long to wait, and that wait is enough', () => {
  const limiter = createRateLimiter()
  countAllowed(limiter, 'k', 0.5, 0, 100)
  const verdict = limiter.take('k', 0.5, 0)
  assert.deepEqual(verdict, { allowed: false, remaining: 0, resetSeconds: 10, retryAfterSeconds: 2 })
  assert.equal(limiter.take('k', 0.5, 2_000).allowed, true)
})

test('callers have separate limits, and memory is bounded', () => {
  const limiter = createRateLimiter(100)
  for (let i = 0; i < 10_000; i++) assert.equal(limiter.take(`k${i}`, 1, 0).allowed, true)
  assert.ok(limiter.size() <= 100)
  limiter.take('later', 1, 60_000)
  assert.equal(limiter.size(), 1, 'callers who have paid back are forgotten')
})

test('an IPv6 caller is its /64, an IPv4 caller is its address', () => {
  const same = [
    '2001:db8:1:2::1',
    '2001:db8:1:2:ffff:ffff:ffff:ffff',
    '2001:0db8:0001:0002::',
    '2001:db8:1:2:3:4:5:6%eth0',
  ]
  assert.deepEqual([...new Set(same.map(networkOf))], ['2001:db8:1:2::/64'])
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
  assert.equal(networkOf('::ffff:192.0.2.1'), '192.0.2.1')
  assert.equal(networkOf('192.0.2.1'), '192.0.2.1')
})

test('asking for the wait counts as no request, and agrees with the refusal', () => {
  const limiter = createRateLimiter()
  for (let i = 0; i < 20; i++) {
    assert.equal(limiter.wait('k', 2, 0), 0)
    limiter.take('k', 2, 0)
  }
  assert.equal(limiter.wait('k', 2, 0), 1)
  assert.equal(limiter.wait('k', 2, 500), 0)
})
