import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { createPlayer, type Frame, type Player } from './player.ts'

const FPS = 10
/** Grey frames, so that a frame is known by its brightness in spite of the noise; brightness is the first two thirds. */
const grey = (level: number): Frame => new Uint8ClampedArray(6000).fill(level)
const levelOf = (frame: Frame) => Math.round(frame.subarray(0, 4000).reduce((sum, value) => sum + value, 0) / 4000)

const REEL = {
  rest: [grey(50), grey(55), grey(60)],
  empty: grey(10),
  twoFaces: grey(90),
  moves: new Map([['turn_left', [grey(200), grey(210), grey(220)]] as const]),
}

let nowMs = 0
let shown: Frame[] = []
let player: Player

beforeEach(() => {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  nowMs = 0
  shown = []
  player = createPlayer(REEL, { fps: FPS, seed: 1, now: () => nowMs, show: (frame) => shown.push(frame) })
})

afterEach(() => {
  player.stop()
  mock.timers.reset()
})

async function pass(ms: number): Promise<void> {
  for (let step = 0; step < ms; step += 10) {
    nowMs += 10
    mock.timers.tick(10)
    await Promise.resolve()
  }
}

test('at rest the face goes back and forth', async () => {
  await pass(600)
  assert.deepEqual(shown.map(levelOf), [50, 55, 60, 60, 55, 50, 50])
})

test('what is held is shown over and over, until something else is to be shown', async () => {
  await pass(150)
  const before = shown.length
  let isShown = false
  player.hold([grey(120), grey(140)], FPS / 2).then(() => {
    isShown = true
  })
  assert.ok(!isShown)
  await pass(600)
  assert.ok(isShown)
  assert.deepEqual(shown.slice(before).map(levelOf), [120, 120, 140, 140, 140, 140])
  player.show('empty')
  await pass(100)
  assert.equal(levelOf(shown.at(-1) as Frame), 10)
})

test('a thing is held before a camera that stood still', async () => {
  player.show('still')
  await pass(200)
  const before = shown.length
  player.hold([grey(120)], FPS)
  await pass(200)
  assert.deepEqual(shown.slice(before).map(levelOf), [120, 120])
})

test('no two frames are the same', async () => {
  await pass(1200)
  assert.equal(new Set(shown.map((frame) => frame.join())).size, shown.length)
})

test('a movement begins a human while after it was asked for, and is over when it says so', async () => {
  let isDone = false
  player.perform('turn_left').then(() => {
    isDone = true
  })
  await pass(300)
  assert.ok(shown.every((frame) => levelOf(frame) < 100))
  await pass(400)
  assert.ok(shown.some((frame) => levelOf(frame) >= 200))
  assert.ok(!isDone)
  await pass(500)
  assert.ok(isDone)
  assert.ok(levelOf(shown.at(-1) ?? grey(0)) < 100)
  assert.deepEqual(
    shown.map(levelOf).filter((level) => level > 100),
    [200, 210, 220],
  )
})

test('on a machine that stalls a movement leaves frames out rather than taking longer', async () => {
  const done = player.perform('turn_left')
  await pass(700)
  nowMs += 1000
  await pass(100)
  await done
  assert.ok(levelOf(shown.at(-1) ?? grey(0)) < 100)
})

test('in slow motion a movement begins later, takes longer, and shows each frame as often longer', async () => {
  player.slowDown(3)
  const done = player.perform('turn_left')
  await pass(1000)
  assert.ok(shown.every((frame) => levelOf(frame) < 100))
  await pass(2000)
  await done
  const moving = shown.map(levelOf).filter((level) => level > 100)
  assert.deepEqual(moving, [200, 200, 200, 210, 210, 210, 220, 220, 220])
  assert.equal(new Set(shown.map((frame) => frame.join())).size, shown.length, 'the noise is not slower')
})

test('back at normal speed a movement is as quick as before', async () => {
  player.slowDown(5)
  await pass(500)
  player.slowDown(1)
  const done = player.perform('turn_left')
  await pass(1100)
  await done
  assert.deepEqual(
    shown.map(levelOf).filter((level) => level > 100),
    [200, 210, 220],
  )
})

test('nobody is there when nobody is to be', async () => {
  player.show('empty')
  await pass(200)
  assert.equal(levelOf(shown.at(-1) ?? grey(0)), 10)
  player.show('rest')
  await pass(100)
  assert.ok(levelOf(shown.at(-1) ?? grey(0)) >= 50)
})

test('two people are there when two are to be', async () => {
  player.show('two-faces')
  await pass(200)
  assert.equal(levelOf(shown.at(-1) ?? grey(0)), 90)
})

test('of a still not a pixel changes, until it lives again', async () => {
  await pass(200)
  player.show('still')
  const before = shown.length
  await pass(500)
  assert.equal(shown.length, before)
  player.show('rest')
  await pass(200)
  assert.ok(shown.length > before)
})

test('a movement that was not drawn is refused', async () => {
  await assert.rejects(player.perform('blink'), /not made to blink/)
})

test('a camera that was stopped shows nothing more', async () => {
  player.stop()
  const before = shown.length
  await pass(500)
  assert.equal(shown.length, before)
})
