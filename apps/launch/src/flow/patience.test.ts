import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeviceError } from '@ostiary/device'
import { type Patience, patiently, waitMs } from './patience.ts'

function watched(signal = new AbortController().signal) {
  const seen: string[] = []
  const patience: Patience = {
    signal,
    wait: async (ms, ended) => {
      seen.push(`wait ${ms}`)
      ended.throwIfAborted()
    },
    onLost: () => seen.push('lost'),
    onBack: () => seen.push('back'),
  }
  return { seen, patience }
}

test('a call is repeated until it is answered, with longer and longer pauses', async () => {
  const { seen, patience } = watched()
  let calls = 0
  const answer = await patiently(async () => {
    calls++
    if (calls <= 3) throw new DeviceError(0, {})
    return 'answer'
  }, patience)
  assert.equal(answer, 'answer')
  assert.deepEqual(seen, ['lost', 'wait 1000', 'lost', 'wait 2000', 'lost', 'wait 4000', 'back'])
})

test('an answer that does not pass is thrown at once, and the connection counts as back', async () => {
  const { seen, patience } = watched()
  await assert.rejects(
    patiently(() => Promise.reject(new DeviceError(410, {})), patience),
    { status: 410 },
  )
  assert.deepEqual(seen, [])
  let calls = 0
  const lostThenRefused = () => Promise.reject(new DeviceError(calls++ === 0 ? 0 : 409, {}))
  await assert.rejects(patiently(lostThenRefused, patience), { status: 409 })
  assert.deepEqual(seen, ['lost', 'wait 1000', 'back'])
})

test('a user who leaves ends the waiting', async () => {
  const leaving = new AbortController()
  const { patience } = watched(leaving.signal)
  const call = () => {
    leaving.abort(new Error('left'))
    return Promise.reject(new DeviceError(0, {}))
  }
  await assert.rejects(patiently(call, patience), { status: 0 })
})

test('the service may ask for a longer pause, and no pause grows beyond ten seconds by itself', () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4, 9].map((failures) => waitMs(failures, undefined)),
    [1000, 2000, 4000, 8000, 10_000, 10_000],
  )
  assert.equal(waitMs(0, 30), 30_000)
  assert.equal(waitMs(3, 2), 8000)
})
