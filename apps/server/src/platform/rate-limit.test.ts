import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networksOf } from './networks.ts'
import { createRateLimiter } from './rate-limit.ts'

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
  for (let i = 0; i < 100; i++) assert.equal(limiter.take(`k${i}`, 1, 0).allowed, true)
  for (let i = 0; i < 10_000; i++) limiter.take(`stranger${i}`, 1, 0)
  assert.equal(limiter.sizes().callers, 100)
  for (let i = 0; i < 4; i++) limiter.take(`later${i}`, 1, 60_000)
  assert.equal(limiter.sizes().callers, 100 - 32 + 4, 'callers who have paid back make room, 32 at a time')
})

test('a full table costs a new caller 32 looks, and a known one none', () => {
  const limiter = createRateLimiter(5_000)
  for (let i = 0; i < 5_000; i++) limiter.take(`k${i}`, 1, 0)
  assert.equal(limiter.sizes().lookedAt, 0)
  for (let i = 0; i < 1_000; i++) limiter.take(`stranger${i}`, 1, 0)
  assert.equal(limiter.sizes().lookedAt, 32 * 1_000)
  for (let i = 0; i < 1_000; i++) limiter.take(`k${i}`, 1, 0)
  assert.equal(limiter.sizes().lookedAt, 32 * 1_000)
})

test('strangers who fill the table reset nobody: a refused caller stays refused', () => {
  const limiter = createRateLimiter(1_000)
  assert.equal(limiter.take('victim', 1 / 60, 0, 60).allowed, true)
  assert.equal(limiter.take('victim', 1 / 60, 0, 60).allowed, false)
  for (let i = 0; i < 50_000; i++) limiter.take(`stranger${i}`, 1 / 60, 0, 60)
  assert.equal(limiter.take('victim', 1 / 60, 0, 60).allowed, false)
  assert.equal(limiter.wait('victim', 1 / 60, 0, 60), 60)
})

test('who comes to a full table shares one of 1,024 allowances, and is counted there', () => {
  const limiter = createRateLimiter(100)
  for (let i = 0; i < 100; i++) limiter.take(`k${i}`, 1 / 60, 0, 60)
  let allowed = 0
  for (let i = 0; i < 20_000; i++) if (limiter.take(`stranger${i}`, 1 / 60, 0, 60).allowed) allowed++
  assert.ok(allowed > 900 && allowed <= 1_024, `${allowed} let in`)
  assert.equal(limiter.sizes().overflowed, allowed)
  assert.equal(limiter.take('stranger0', 1 / 60, 0, 60).allowed, false)
  assert.equal(limiter.take('stranger0', 2, 0).allowed, true, 'another rate has slots of its own')
  const refused = Array.from({ length: 100 }, (_, i) => limiter.take(`stranger${i}`, 1 / 60, 59_000, 60).allowed)
  assert.ok(!refused.includes(true), 'the debt is not forgotten when there is room again')
})

test('entries that owe nothing are found behind others that owe for long', () => {
  const limiter = createRateLimiter(1_000)
  for (let i = 0; i < 500; i++) limiter.take(`long${i}`, 1 / 3600, 0, 3600)
  for (let i = 0; i < 500; i++) limiter.take(`short${i}`, 2, 0)
  for (let i = 0; i < 100; i++) limiter.take(`later${i}`, 2, 60_000)
  assert.ok(limiter.sizes().callers < 1_000, 'the short ones are forgotten')
  for (let i = 0; i < 500; i++) assert.equal(limiter.take(`long${i}`, 1 / 3600, 60_000, 3600).allowed, false)
})

test('a caller with several names is within the rate of all of them, or counted against none', () => {
  const limiter = createRateLimiter()
  const from = (address: string) => limiter.take(networksOf(address), 2, 0).allowed
  let allowed = 0
  for (let i = 0; i < 256; i++) if (from(`2001:db8:1:${i.toString(16)}::1`)) allowed++
  assert.equal(allowed, 22, '256 networks of one /56 have 1.1 times the 20 of one address')
  for (let i = 0x1000; i < 0x9000; i += 0x100) if (from(`2001:db8:1:${i.toString(16)}::1`)) allowed++
  assert.equal(allowed, 24, 'a /48 has 1.2 times')
  const other = Array.from({ length: 30 }, () => from('2001:db8:2:1::1')).filter(Boolean)
  assert.equal(
    other.length,
    20,
    'another /48 is not concerned, and a refused request counts against none of its networks',
  )
  assert.equal(limiter.wait(networksOf('2001:db8:1:9900::1'), 2, 0), 1)
})

test('what others have counted is counted here', () => {
  const limiter = createRateLimiter()
  limiter.raise('k', 9_500, 0)
  assert.equal(countAllowed(limiter, 'k', 2, 0, 5), 1)
  limiter.raise('k', 100, 0)
  assert.equal(countAllowed(limiter, 'k', 2, 0, 5), 0, 'it never lowers what is owed')
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
