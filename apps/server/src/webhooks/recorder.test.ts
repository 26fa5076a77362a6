import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { systemClock } from '../platform/clock.ts'
import type { Db } from '../platform/db.ts'
import { createLog } from '../platform/log.ts'
import { createRecorder, type Ended } from './recorder.ts'

const [tenantId, deliveryId, endpointId] = [randomUUID(), randomUUID(), randomUUID()]
const counts = { attempts: 0, tries: 0, restarts: 0, failNext: 0 }
const claim = { tenantId, deliveryId, endpointId, livemode: false, hasOnce: false, ...counts }
const success = { outcome: 'delivered', status: 200, nextAttemptAt: undefined, dead: undefined } as const
const ENDED: Ended = { claim, attempt: 1, startedAt: new Date(), durationMs: 3, probe: false, ...success }

test('while attempts cannot be stored, a worker that stops waits between its tries', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let tries = 0
  let isAway = true
  const transaction = async () => {
    tries++
    await turn()
    if (isAway) throw new Error('away')
    return [[], []]
  }
  const log = createLog('silent')
  const recorder = createRecorder({ db: { transaction } as unknown as Db, clock: systemClock, log })
  recorder.add(ENDED)
  const drained = recorder.drain()
  for (let turns = 0; turns < 20; turns++) await turn()
  assert.equal(tries, 1)
  isAway = false
  t.mock.timers.tick(250)
  await drained
  assert.deepEqual([tries, recorder.backlog()], [2, 0])
})
