/** Virtual time: seconds of a capture take milliseconds of a test. Only tests import this. */
import { mock } from 'node:test'
import type { DeviceClock } from '@ostiary/device'

/** Longer than any chain of promises in a capture. */
const TURNS = 30

export interface VirtualTime {
  clock: DeviceClock
  sleep(ms: number): Promise<void>
  /** Advances time until the promise settles, and settles the same way. */
  pass<T>(until: Promise<T>, maxMs?: number): Promise<T>
  end(): void
}

interface Timer {
  dueMs: number
  run(): void
}

export function startVirtualTime(): VirtualTime {
  const timers = new Set<Timer>()
  let nowMs = 10_000
  const set = mock.method(globalThis, 'setTimeout', (run: () => void, ms = 0) => {
    const timer = { dueMs: nowMs + Math.max(1, ms), run }
    timers.add(timer)
    return timer
  })
  const clear = mock.method(globalThis, 'clearTimeout', (timer: Timer) => timers.delete(timer))

  function runNext(): void {
    const [next] = [...timers].sort((a, b) => a.dueMs - b.dueMs)
    if (!next) throw new Error('No timer is left, and the promise is still pending')
    timers.delete(next)
    nowMs = Math.max(nowMs, next.dueMs)
    next.run()
  }

  return {
    clock: { nowMs: () => 1_800_000_000_000 + nowMs, monotonicMs: () => nowMs },
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    async pass(until, maxMs = 120_000) {
      let settled = false
      const settle = () => {
        settled = true
      }
      until.then(settle, settle)
      const endMs = nowMs + maxMs
      for (;;) {
        for (let turn = 0; turn < TURNS; turn++) await undefined
        if (settled) return until
        if (nowMs > endMs) throw new Error(`The promise is still pending after ${maxMs} ms`)
        runNext()
      }
    },
    end() {
      set.mock.restore()
      clear.mock.restore()
    },
  }
}
