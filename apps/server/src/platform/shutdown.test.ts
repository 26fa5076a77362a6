import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runPhases } from '@ostiary/service-kit/shutdown'
import { systemClock } from './clock.ts'
import { createLog } from './log.ts'

function recorder() {
  const lines: { level: string; phase: string; msg: string }[] = []
  return { lines, log: createLog('info', { write: (line) => void lines.push(JSON.parse(line)) }) }
}

test('phases run one after the other, and a clean end is reported', async () => {
  const order: string[] = []
  const step = (name: string, ms: number) => ({
    name,
    deadlineMs: 60_000,
    run: () => new Promise((resolve) => setTimeout(() => resolve(order.push(name)), ms)),
  })
  assert.equal(await runPhases([step('requests', 20), step('database', 1)], recorder().log, systemClock), true)
  assert.deepEqual(order, ['requests', 'database'])
})

test('a phase that hangs or fails does not stop the next one, and the end is not clean', async () => {
  const { lines, log } = recorder()
  let reached = false
  const clean = await runPhases(
    [
      { name: 'hangs', deadlineMs: 20, run: () => new Promise(() => {}) },
      { name: 'fails', deadlineMs: 60_000, run: () => Promise.reject(new Error('secret text')) },
      {
        name: 'last',
        deadlineMs: 60_000,
        run: async () => {
          reached = true
        },
      },
    ],
    log,
    systemClock,
  )
  assert.equal(clean, false)
  assert.equal(reached, true)
  assert.deepEqual(
    lines.map(({ phase, msg }) => [phase, msg]),
    [
      ['hangs', 'shutdown phase missed its deadline'],
      ['fails', 'shutdown phase failed'],
      ['last', 'shutdown phase done'],
    ],
  )
  assert.ok(!JSON.stringify(lines).includes('secret text'))
})
