import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startVirtualTime } from './testing/virtual-time.ts'
import { waitUntil } from './wait.ts'

test('resolves at the time, or at once if it has passed', async () => {
  const time = startVirtualTime()
  const { signal } = new AbortController()
  const startMs = time.clock.monotonicMs()
  await time.pass(waitUntil(time.clock, startMs + 250.4, signal))
  assert.ok(time.clock.monotonicMs() >= startMs + 250.4 && time.clock.monotonicMs() < startMs + 252)
  await waitUntil(time.clock, startMs, signal)
  time.end()
})

test('a timer that fires early is set again', async () => {
  let [nowMs, looks] = [0, 0]
  const clock = {
    nowMs: () => nowMs,
    monotonicMs: () => {
      looks++
      return nowMs
    },
  }
  const waiting = waitUntil(clock, 5, new AbortController().signal).then(() => nowMs)
  nowMs = 4.5
  const before = looks
  while (looks < before + 2) await new Promise((resolve) => setTimeout(resolve, 1))
  nowMs = 5.5
  assert.equal(await waiting, 5.5)
})

test('an aborted wait rejects with the reason', async () => {
  const stop = new AbortController()
  const clock = { nowMs: () => 0, monotonicMs: () => 0 }
  const waiting = waitUntil(clock, 60_000, stop.signal)
  stop.abort(new Error('enough'))
  await assert.rejects(waiting, /enough/)
  await assert.rejects(waitUntil(clock, 0, stop.signal), /enough/)
})
