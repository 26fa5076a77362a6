import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { MUTED_MS_MAX, watchTrack } from './track-watch.ts'

class Track extends EventTarget {
  muted = false
  mute(muted: boolean) {
    this.muted = muted
    this.dispatchEvent(new Event(muted ? 'mute' : 'unmute'))
  }
}

function watched(isVisible: () => boolean = () => true) {
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout'] })
  const track = new Track()
  const ended = mock.fn()
  return { track, ended, watch: watchTrack(track, isVisible, ended) }
}

test('the end of a track is reported once', () => {
  const { track, ended } = watched()
  track.dispatchEvent(new Event('ended'))
  track.dispatchEvent(new Event('ended'))
  assert.equal(ended.mock.callCount(), 1)
})

test('a camera may be mute for a moment; a long mute counts as its end', () => {
  const { track, ended } = watched()
  track.mute(true)
  mock.timers.tick(MUTED_MS_MAX - 1)
  track.mute(false)
  mock.timers.tick(MUTED_MS_MAX)
  assert.equal(ended.mock.callCount(), 0)
  track.mute(true)
  mock.timers.tick(MUTED_MS_MAX)
  assert.equal(ended.mock.callCount(), 1)
})

test('while the page is hidden, a muted camera does not count as ended', () => {
  let visible = false
  const { track, ended } = watched(() => visible)
  track.mute(true)
  mock.timers.tick(3 * MUTED_MS_MAX)
  assert.equal(ended.mock.callCount(), 0)
  visible = true
  mock.timers.tick(MUTED_MS_MAX)
  assert.equal(ended.mock.callCount(), 1)
})

test('a camera that the page stopped is not reported as ended', () => {
  const { track, ended, watch } = watched()
  track.mute(true)
  watch.stop()
  mock.timers.tick(MUTED_MS_MAX)
  track.dispatchEvent(new Event('ended'))
  assert.equal(ended.mock.callCount(), 0)
})
