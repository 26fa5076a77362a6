import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { createFreshFrames, FRAME_WAIT_MS, NoFreshFrameError } from './fresh-frames.ts'

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
afterEach(() => mock.timers.reset())

/** A video element that delivers a frame when the test says so. */
function announcing() {
  const callbacks = new Map<number, () => void>()
  let handles = 0
  return {
    currentTime: 0,
    requestVideoFrameCallback(callback: () => void) {
      callbacks.set(++handles, callback)
      return handles
    },
    cancelVideoFrameCallback: (handle: number) => void callbacks.delete(handle),
    present() {
      const due = [...callbacks.values()]
      callbacks.clear()
      this.currentTime += 0.033
      for (const callback of due) callback()
      return due.length
    },
  }
}

test('a picture is newer than the request for it', async () => {
  const video = announcing()
  const frames = createFreshFrames(video)
  let arrived = false
  const next = frames.next().then(() => {
    arrived = true
  })
  await Promise.resolve()
  assert.equal(arrived, false)
  video.present()
  await next
  assert.equal(arrived, true)
})

test('a camera without a new picture in time fails the request', async () => {
  const video = announcing()
  const next = createFreshFrames(video).next()
  mock.timers.tick(FRAME_WAIT_MS)
  await assert.rejects(next, NoFreshFrameError)
  assert.equal(video.present(), 0)
})

test('in a browser without frame callbacks, a frame is new when the video time has advanced', async () => {
  const video = { currentTime: 1 }
  const frames = createFreshFrames(video)
  await frames.next()
  const second = frames.next()
  video.currentTime = 1.04
  mock.timers.tick(10)
  await second
  const third = frames.next()
  mock.timers.tick(2 * FRAME_WAIT_MS)
  for (let i = 0; i < 60; i++) mock.timers.tick(8)
  await assert.rejects(third, NoFreshFrameError)
})
