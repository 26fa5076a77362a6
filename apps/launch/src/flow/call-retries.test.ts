import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeviceError } from '@ostiary/device'
import { callWithRetries, type RetryOptions, waitMs } from './call-retries.ts'

function watched(signal = new AbortController().signal) {
  const seen: string[] = []
  const options: RetryOptions = {
    signal,
    wait: async (ms, ended) => {
      seen.push(`wait ${ms}`)
      ended.throwIfAborted()
    },
    onLost: () => seen.push('lost'),
    onBack: () => seen.push('back'),
  }
  return { seen, options }
}

test('a call is repeated until it is answered, with longer and longer pauses', async () => {
  const { seen, options } = watched()
  let calls = 0
  const answer = await callWithRetries(async () => {
    calls++
    if (calls <= 3) throw new DeviceError(0, {})
    return 'answer'
  }, options)
  assert.equal(answer, 'answer')
  assert.deepEqual(seen, ['lost', 'wait 1000', 'lost', 'wait 2000', 'lost', 'wait 4000', 'back'])
})

test('a lasting error is thrown at once, and the connection counts as back', async () => {
  const { seen, options } = watched()
  await assert.rejects(
    callWithRetries(() => Promise.reject(new DeviceError(410, {})), options),
    { status: 410 },
  )
  assert.deepEqual(seen, [])
  let calls = 0
  const lostThenRefused = () => Promise.reject(new DeviceError(calls++ === 0 ? 0 : 409, {}))
  await assert.rejects(callWithRetries(lostThenRefused, options), { status: 409 })
  assert.deepEqual(seen, ['lost', 'wait 1000', 'back'])
})

test('a user who leaves ends the waiting', async () => {
  const leaving = new AbortController()
  const { options } = watched(leaving.signal)
  const call = () => {
    leaving.abort(new Error('left'))
    return Promise.reject(new DeviceError(0, {}))
  }
  await assert.rejects(callWithRetries(call, options), { status: 0 })
})

test('the service may ask for a longer pause, and no pause grows beyond ten seconds by itself', () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4, 9].map((failures) => waitMs(failures, undefined)),
    [1000, 2000, 4000, 8000, 10_000, 10_000],
  )
  assert.equal(waitMs(0, 30), 30_000)
  assert.equal(waitMs(3, 2), 8000)
})
