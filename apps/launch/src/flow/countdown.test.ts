import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clockText, markOf, matters, secondsUntil, serverAheadMs } from './countdown.ts'

test('seconds are whole and never negative', () => {
  assert.equal(secondsUntil(10_000, 8_900), 2)
  assert.equal(secondsUntil(10_000, 10_000), 0)
  assert.equal(secondsUntil(10_000, 99_000), 0)
})

test('the countdown is shown in the last two minutes only', () => {
  assert.equal(matters(121), false)
  assert.equal(matters(120), true)
})

test('time is written in the digits of the language', () => {
  assert.equal(clockText(92, 'en'), '1:32')
  assert.equal(clockText(5, 'de'), '0:05')
  assert.equal(clockText(92, 'fa'), '۱:۳۲')
})

test('a device with a wrong clock counts by the server’s clock', () => {
  assert.equal(serverAheadMs('Thu, 01 Jan 2026 00:10:00 GMT', Date.UTC(2026, 0, 1)), 600_000)
  assert.equal(serverAheadMs(null, 0), null)
  assert.equal(serverAheadMs('soon', 0), null)
})

test('the remaining time is announced when it begins to matter and at one minute', () => {
  assert.deepEqual([900, 121, 120, 61, 60, 0].map(markOf), [
    null,
    null,
    'matters',
    'matters',
    'last_minute',
    'last_minute',
  ])
})
